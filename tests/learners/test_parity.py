"""Algorithm A: its law, its draws, its linear systems, and bad input."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from audit import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.laws.law_check import law_log_e_value
from audit.relations import Relation
from learners import ParityLearner
from learners.parity import BitExamples, hard_problems
from learners.parity.spaces import law_is_feasible, space_law
from learners.parity.systems import BitSystem

LIMIT = math.log(1e7)  # the e-value bounds the false alarm probability by 1e-7


def written_out(database, *, dimension, p, q):
    """Return the law of A by K11 §4, in exact fractions.

    Every r is tried on every subset of the sample.
    """
    p, q = Fraction(p), Fraction(q)
    law = dict.fromkeys(["⊥", *product((0, 1), repeat=dimension)], Fraction(0))
    law["⊥"] += q
    places = range(len(database))
    for taken in (set(c) for k in range(len(database) + 1) for c in combinations(places, k)):
        mass = (1 - q) * math.prod(p if i in taken else 1 - p for i in places)
        agree = [
            r
            for r in product((0, 1), repeat=dimension)
            if all(sum(map(int.__mul__, r, database[i][0])) % 2 == database[i][1] for i in taken)
        ]
        for r in agree:
            law[r] += mass / len(agree)
        if not agree:
            law["⊥"] += mass
    return law


def random_database(rng, *, dimension, size, consistent=False):
    points = rng.integers(0, 2, (size, dimension)).tolist()
    target = rng.integers(0, 2, dimension).tolist()
    labels = [sum(map(int.__mul__, target, x)) % 2 if consistent else int(rng.integers(2)) for x in points]
    return [(tuple(x), y) for x, y in zip(points, labels, strict=True)]


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("consistent", [False, True])
@pytest.mark.parametrize(("dimension", "size"), [(1, 0), (1, 4), (2, 5), (3, 6), (4, 7)])
def test_the_law_matches_the_enumerated_algorithm(dimension, size, consistent, tight):
    rng = np.random.default_rng(dimension * 100 + size)
    epsilon = 1.0
    p, q = (math.tanh(0.5), (1 - math.tanh(0.5)) / (3 - math.tanh(0.5))) if tight else (0.25, 0.5)
    learner = ParityLearner(dimension, epsilon, tight=tight)
    for _ in range(3):
        database = random_database(rng, dimension=dimension, size=size, consistent=consistent)
        law = learner.distribution(database)
        expected = written_out(database, dimension=dimension, p=p, q=q)
        assert {answer: law.pmf(answer) for answer in expected} == pytest.approx(
            {answer: float(mass) for answer, mass in expected.items()}, rel=1e-13, abs=1e-15
        )
        assert len(law.outcomes) == 2**dimension + 1


def test_repeated_examples_are_taken_independently():
    database = [((1, 0), 1)] * 5 + [((1, 0), 0)]
    law = ParityLearner(2, 2.0).distribution(database)
    expected = written_out(database, dimension=2, p=Fraction(1, 2), q=Fraction(1, 2))
    assert all(law.pmf(answer) == pytest.approx(float(mass), rel=1e-14) for answer, mass in expected.items())


def rank(rows):
    """Return the rank over GF(2), by row elimination."""
    rows, found = [int("".join(map(str, row)), 2) for row in rows], 0
    while rows:
        pivot = rows.pop()
        if pivot:
            found += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return found


@pytest.mark.parametrize(("dimension", "size"), [(1, 1), (3, 5), (6, 8), (16, 40), (70, 90), (256, 300)])
def test_solving_gives_the_solutions_and_no_others(dimension, size):
    rng = np.random.default_rng(dimension)
    outcomes = set()
    for round_ in range(12):
        spanned = rng.integers(0, 2, (size, dimension)) * (rng.random(dimension) < rng.choice([0.3, 1.0]))
        labels = spanned @ rng.integers(0, 2, dimension) % 2
        if round_ % 2:
            labels = rng.integers(0, 2, size)
        chosen = rng.random(size) < rng.choice([0.2, 0.9])
        system = BitSystem.of(BitExamples(spanned.astype(bool), labels.astype(bool)))
        space = system.solve(sum(1 << int(i) for i in np.flatnonzero(chosen)))
        left, right = spanned[chosen], labels[chosen]
        solvable = rank(left.tolist()) == rank(np.column_stack([left, right]).tolist())
        outcomes.add(solvable)
        assert (space is not None) == solvable
        if space is not None:
            directions = [d for d in space.directions if d]
            as_bits = [[d >> j & 1 for j in range(dimension)] for d in directions]
            assert rank(as_bits) == len(directions) == dimension - rank(left.tolist())
            for _ in range(3):
                r = space.member(int.from_bytes(rng.bytes(40), "little"))
                assert (left @ [r >> j & 1 for j in range(dimension)] % 2 == right).all()
    assert outcomes == {True, False}


def test_machine_words_and_python_integers_give_the_same_solutions():
    rng = np.random.default_rng(8)
    for dimension, size in ((3, 5), (20, 64), (63, 30)):
        system = BitSystem.of(
            BitExamples(rng.random((size, dimension)) < 0.5, rng.random(size) < rng.choice([0.0, 0.1]))
        )
        masks = [
            int.from_bytes(rng.bytes(8), "little") & int.from_bytes(rng.bytes(8), "little") for _ in range(50)
        ]
        masks = [mask % (1 << size) for mask in masks]
        coins = rng.random((50, dimension)) < 0.5
        solutions, solvable = system.solve_words(np.array(masks, dtype=np.uint64), coins)
        for i, mask in enumerate(masks):
            space = system.solve(mask)
            assert solvable[i] == (space is not None)
            if space is not None:
                assert space.member(sum(1 << int(j) for j in np.flatnonzero(coins[i]))) == int(solutions[i])


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize(("dimension", "size"), [(1, 2), (3, 6), (2, 90), (5, 200)])
def test_draws_follow_the_law(dimension, size, tight):
    """Systems of up to 64 examples use machine words, larger ones Python integers."""
    rng = np.random.default_rng(12)
    learner = ParityLearner(dimension, 1.0 if size < 10 else 0.05, tight=tight)
    database = random_database(rng, dimension=dimension, size=size)
    law = learner.distribution(database)
    assert law_log_e_value(law, learner.sample(database, 20_000, rng)) < LIMIT
    assert law_log_e_value(law, [learner(database, rng) for _ in range(500)]) < LIMIT
    # power: the test detects the difference
    other = ParityLearner(dimension, 2 * learner.epsilon, tight=tight)
    assert law_log_e_value(law, other.sample(database, 20_000, rng)) > LIMIT


def test_runs_use_the_same_coins_on_neighbours():
    learner = ParityLearner(3, 1.0)
    for size in (10, 80):
        database = random_database(np.random.default_rng(size), dimension=3, size=size, consistent=True)
        other = [(database[0][0], 1 - database[0][1]), *database[1:]]
        one, two = (learner.sample(z, 3_000, np.random.default_rng(1)) for z in (database, other))
        same = sum(a == b for a, b in zip(one, two, strict=True)) / 3_000
        assert same > 1 - 0.25 * 0.5 - 0.05  # answers differ only if the example was taken
        assert one == learner.sample(
            BitExamples(np.array([x for x, _ in database], bool), np.array([y for _, y in database], bool)),
            3_000,
            np.random.default_rng(1),
        )


def test_inconsistent_samples_are_valid_and_mostly_give_a_refusal():
    database = [((0, 0), 1)] * 200
    law = ParityLearner(2, 1.0).distribution(database)
    assert law.pmf("⊥") == pytest.approx(0.5 + 0.5 * (1 - 0.75**200), rel=1e-12)
    assert set(ParityLearner(2, 1.0).sample(database, 500, np.random.default_rng(0))) == {"⊥"}


def test_the_success_bound_holds_on_a_point_just_above_alpha():
    """Without a refusal, A fails with probability exactly (1 − p·a)^n / 2.

    Here d = 1 and Pr[x = 1] = a > alpha.
    """
    learner = ParityLearner(1, 1.0, alpha=0.2, beta=0.75)
    n, a = learner.sample_size(), 0.202
    failure = 0.5 + 0.5 * 0.5 * (1 - 0.25 * a) ** n
    by_law = sum(
        math.comb(n, m) * a**m * (1 - a) ** (n - m) * (1 - learner.distribution([((1,), 1)] * m).pmf((1,)))
        for m in range(n + 1)
    )
    assert by_law == pytest.approx(failure, rel=1e-10)
    assert failure <= 0.75
    rates = learner.rates
    assert 0.5 + 0.5 * rates.bad(n, dimension=1, alpha=0.2) <= 0.75
    assert 0.5 + 0.5 * rates.bad(n - 1, dimension=1, alpha=0.2) > 0.75


def test_laws_are_offered_only_if_they_take_seconds():
    assert all(law_is_feasible(d, n) for d, n in ((1, 10**9), (3, 1_000), (6, 10**6), (8, 20)))
    assert not any(law_is_feasible(d, n) for d, n in ((7, 100), (8, 30), (13, 1)))
    assert ParityLearner(20, 1.0).distribution([((0,) * 20, 0)]) is None
    spaces = space_law(BitExamples(np.eye(3, dtype=bool), np.ones(3, dtype=bool)), inclusion=0.5)
    assert sorted(space.bit_count() for space in spaces) == [1, 2, 2, 2, 4, 4, 4, 8]
    assert sum(spaces.values()) == 1.0


def test_large_systems_learn_the_target():
    for dimension, size in ((64, 4_000), (256, 20_000)):
        problem = hard_problems(dimension, alpha=0.1, size=size)[0]
        rng = np.random.default_rng(2)
        answers = ParityLearner(dimension, 1.0).sample(problem.draw(rng), 40, rng)
        # p·n is far above d, so every run that passes finds the target. All 40 fail to pass with probability
        # 2^-40.
        assert set(answers) == {"⊥", problem.target}


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: ParityLearner(0, 1.0), InvalidValue, "The `dimension` of `ParityLearner` must be a whole"),
        (lambda: ParityLearner(2, 0.0), InvalidValue, "The `epsilon` of `ParityLearner` must be a finite"),
        (
            lambda: ParityLearner(2, 2.01),
            InvalidValue,
            "The `epsilon` of `ParityLearner` must be ≤ 2 for p =",
        ),
        (lambda: ParityLearner(2, 1.0, alpha=0.5), InvalidValue, "The `alpha` of `ParityLearner` must be"),
        (lambda: ParityLearner(2, 1.0, beta=0.5), InvalidValue, "The `beta` of one run must be above its"),
    ],
)
def test_bad_parameters_get_one_line(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("database", "kind"),
    [
        ([((0, 1), 2)], InvalidValue),
        ([((0, 1), "1")], InvalidValue),
        ([((0, 1), 0), ((0, 1, 1), 0)], InvalidValue),
        ([((0, 2), 0)], InvalidValue),
        ([((0, 0.5), 0)], InvalidValue),
        ([((0, math.nan), 0)], InvalidValue),
        ([((0, 1), None)], InvalidValue),
        ([("01", 0)], InvalidValue),
        ([(0, 1, 1)], InvalidKind),
        ([3], InvalidKind),
    ],
)
def test_bad_examples_get_one_line(database, kind):
    for call in (
        lambda: ParityLearner()(database, np.random.default_rng(0)),
        lambda: ParityLearner().sample(database, 2, np.random.default_rng(0)),
    ):
        with pytest.raises(kind, match=r"of `ParityLearner` must be .*\(x, y\), x 2 bits and y a bit; got "):
            call()


def test_numpy_integers_and_booleans_are_valid_bits():
    learner = ParityLearner(2, 1.0)
    plain = learner.distribution([((0, 1), 1), ((1, 1), 0)])
    for database in (
        [(np.array([0, 1]), np.int64(1)), (np.array([1, 1]), np.int64(0))],
        [((False, True), True), ((True, True), False)],
        [([0.0, 1.0], 1.0), ([1.0, 1.0], 0.0)],
    ):
        assert learner.distribution(database) == plain


def test_the_subject_says_what_it_claims():
    learner = ParityLearner(dimension=2, epsilon=1.0)
    assert learner.claim == PureDP(1.0)
    assert learner.relation is Relation.REPLACE_ONE
    assert learner.parameters["dimension"] == 2
