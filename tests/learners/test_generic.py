"""The generic private learner: its law, its sizes, and errata."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import stats

from audit import Verdict, audit_privacy
from audit.errors import AuditError, InvalidKind, InvalidValue
from learners.concepts import ConjunctionClass, ExplicitClass, IntervalClass, PointClass
from learners.findings import findings
from learners.finite.hypotheses import Hypotheses, sauer_bound
from learners.finite.tables import TruthTable
from learners.generic.agnostic import GenericLearner, VCLearner, failure_bound, generic_size, printed_size
from learners.generic.compression import CompressionLearner

RUNS = 20_000
SIGNIFICANCE = 1e-7


def law_by_hand(concepts, database, *, epsilon):
    """Return the softmax of −ε·errors/2, by plain loops."""
    errors = [
        sum(concepts.label(concept, x) != y for x, y in database) for concept in concepts.listed_concepts()
    ]
    weights = [math.exp(-epsilon * error / 2) for error in errors]
    return [weight / sum(weights) for weight in weights]


def worst_loss_by_hand(concepts, *, epsilon, size):
    records = [(x, y) for x in concepts.listed_domain() for y in concepts.labels]
    worst = 0.0
    for database in product(records, repeat=size):
        law = np.log(law_by_hand(concepts, database, epsilon=epsilon))
        # the law depends only on the multiset, so changing the first record covers all cases
        for other in records:
            changed = np.log(law_by_hand(concepts, (other, *database[1:]), epsilon=epsilon))
            worst = max(worst, float(np.abs(law - changed).max()))
    return worst


@pytest.mark.parametrize("concepts", [PointClass(2), IntervalClass(3), ConjunctionClass(2)])
def test_the_law_is_the_softmax_of_the_errors_on_every_sample(concepts):
    rng = np.random.default_rng(1)
    domain = concepts.listed_domain()
    for size in (0, 1, 7, 30):
        places = rng.integers(len(domain), size=size).tolist()
        database = [
            (domain[place], int(label))
            for place, label in zip(places, rng.integers(2, size=size), strict=True)
        ]
        law = GenericLearner(epsilon=0.7, concepts=concepts).distribution(database)
        expected = law_by_hand(concepts, database, epsilon=0.7)
        found = [law.pmf(concept) for concept in concepts.listed_concepts()]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("points", [1, 7, 8, 9, 100])
def test_a_packed_table_counts_errors_as_a_plain_one_does(points):
    rng = np.random.default_rng(points)
    table = rng.random((50, points)) < 0.5
    x, y = rng.integers(points, size=400), rng.integers(2, size=400)
    found = Hypotheses.of_rows(table, domain=range(points)).errors(
        list(zip(x.tolist(), y.tolist(), strict=True))
    )
    assert found.tolist() == (table[:, x] != (y == 1)).sum(axis=1).tolist()


@pytest.mark.parametrize(("concepts", "epsilon"), [(PointClass(2), 0.5), (IntervalClass(2), 2.0)])
def test_the_audit_proves_the_claim_and_finds_the_loss_computed_by_hand(concepts, epsilon):
    result = audit_privacy(GenericLearner(epsilon=epsilon, concepts=concepts, size=2), budget=20_000)
    assert result.verdict is Verdict.PROVED
    assert result.epsilon_lower == pytest.approx(worst_loss_by_hand(concepts, epsilon=epsilon, size=2))
    assert epsilon / 2 < result.epsilon_lower <= epsilon


def test_a_learner_without_the_factor_two_is_refuted():
    result = audit_privacy(
        GenericLearner(epsilon=2.0, size=2), GenericLearner(epsilon=1.0).claim, budget=20_000
    )
    assert result.verdict is Verdict.REFUTED


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_follow_the_law(draw):
    learner, rng = GenericLearner(epsilon=2.0), np.random.default_rng(2)
    database = [(0, 1), (1, 1), (1, 0), (2, 0)]
    runs = RUNS if draw == "sample" else RUNS // 4
    outputs = (
        learner.sample(database, runs, rng)
        if draw == "sample"
        else [learner(database, rng) for _ in range(runs)]
    )
    seen = Counter(outputs)
    expected = np.array(law_by_hand(PointClass(2), database, epsilon=2.0))
    assert stats.chisquare([seen[k] for k in range(4)], runs * expected).pvalue > SIGNIFICANCE
    # power: the law at ε = 2.4 would be detected
    wrong = np.array(law_by_hand(PointClass(2), database, epsilon=2.4))
    excess = runs * ((wrong - expected) ** 2 / expected).sum()
    assert stats.ncx2.sf(stats.chi2.isf(SIGNIFICANCE, 3), 3, excess) > 0.9


@pytest.mark.parametrize(
    ("source", "hypotheses", "alpha", "beta", "epsilon", "size"),
    [
        ("K08", 10, 0.5, 0.1, 0.5, 85),  # (ln 10 + ln 20)·16 = 84.77
        ("K11", 10, 0.5, 0.1, 0.5, 111),  # 6·(ln 10 + ln 10)·4 = 110.52
        ("ours", 10, 0.5, 0.1, 0.5, 137),  # 6·(ln 10 + ln 30)·4 = 136.89
        ("K08", 1000, 0.1, 0.05, 0.2, 2120),  # (ln 1000 + ln 40)·200 = 2119.3
        ("ours", 1000, 0.1, 0.05, 1.0, 6602),  # 6·(ln 1000 + ln 60)·100 = 6601.3
    ],
)
def test_sizes_match_the_formulas(source, hypotheses, alpha, beta, epsilon, size):
    numbers = {"alpha": alpha, "beta": beta, "epsilon": epsilon}
    if source == "ours":
        assert generic_size(hypotheses, **numbers) == size
    else:
        assert printed_size(hypotheses, source=source, **numbers) == size


@pytest.mark.parametrize("hypotheses", [1, 2, 10, 10**6])
def test_the_bound_of_the_proof_holds_at_our_size_and_fails_at_the_printed_one(hypotheses):
    for alpha, epsilon, beta in product((0.01, 0.1, 0.45), (0.05, 0.5, 5.0), (0.001, 0.1, 0.45)):
        ours = generic_size(hypotheses, alpha=alpha, beta=beta, epsilon=epsilon)
        assert failure_bound(hypotheses, alpha=alpha, epsilon=epsilon, size=ours) <= beta
        printed = 6 * math.log(hypotheses / beta) * max(1 / epsilon / alpha, alpha**-2)
        if epsilon <= alpha:  # E3: the second term alone is β
            second = hypotheses * math.exp(-epsilon * printed * alpha / 6)
            assert second == pytest.approx(beta, rel=1e-9)
            assert hypotheses * 2 * math.exp(-2 * printed * alpha**2 / 9) > 0.0
            bound = failure_bound(hypotheses, alpha=alpha, epsilon=epsilon, size=printed)
            assert bound >= beta * (1 - 1e-12)


def test_e3_has_the_numbers_of_the_errata():
    finding = findings()["E3"]()
    assert finding.found == pytest.approx(0.140, abs=5e-4)
    first = 10 * 2 * math.exp(-2 * 111 * 0.25 / 9)
    second = 10 * math.exp(-0.5 * 111 * 0.5 / 6)
    assert (round(first, 3), round(second, 3)) == (0.042, 0.098)
    assert finding.found == pytest.approx(first + second)
    two = next(row for row in finding.tables[0].rows if row[0] == 2)
    assert two[5] == pytest.approx(0.467, abs=1e-3)  # |H| = 2, β = 0.4, ε > α: the condition fails too
    fine = next(row for row in finding.tables[0].rows if row[:3] == (10, 0.1, 1.0))
    assert fine[5] == pytest.approx(0.043, abs=5e-4)  # ε > α: the condition can hold
    assert all(row[7] <= row[3] for row in finding.tables[0].rows)


def test_e4_the_proof_fails_for_a_nonzero_opt_and_the_statement_holds():
    finding = findings()["E4"]()
    assert finding.found == 1.0
    assert finding.claimed < 0.06
    assert all(row[2] == 0.0 for row in finding.tables[0].rows)
    for epsilon, n, _, _, printed, ours in finding.tables[0].rows:
        assert printed == pytest.approx(math.exp(-epsilon * 0.1 * n / 4) + math.exp(-n * 0.01 / 2))
        assert ours == pytest.approx(2 * math.exp(-2 * n * 0.01 / 9) + math.exp(-epsilon * 0.1 * n / 6))


def failures(learner, problem, *, draws, seed):
    """Return the probability of an error above α, averaged over fresh samples."""
    rng = np.random.default_rng(seed)
    bad = problem.risks - problem.optimum > learner.alpha
    masses = [
        np.exp(learner.distribution(problem.draw(rng)).log_probabilities)[bad].sum() for _ in range(draws)
    ]
    return float(np.mean(masses))


@pytest.mark.parametrize("concepts", [PointClass(3), IntervalClass(3)])
def test_at_the_sample_size_the_excess_error_rarely_exceeds_alpha(concepts):
    learner = GenericLearner(concepts=concepts, alpha=0.2, beta=0.1)
    draws = 100
    # Hoeffding: if the failure probability is β, the mean exceeds β + slack with probability at most 1e-7
    slack = math.sqrt(math.log(1e7) / (2 * draws))
    for problem in learner.problems():
        assert failures(learner, problem, draws=draws, seed=3) <= 0.1 + slack, problem.name


def test_problems_are_hard_for_small_samples():
    learner = GenericLearner(concepts=PointClass(3), alpha=0.1, beta=0.1)
    few = [type(it)(it.name, it.hypotheses, it.law, examples=5) for it in learner.problems()]
    assert max(failures(learner, problem, draws=50, seed=4) for problem in few) > 0.5


def test_a_problem_knows_its_excess_error_exactly():
    learner = GenericLearner(concepts=PointClass(2), alpha=0.1)
    noisy = next(it for it in learner.problems() if "flipped" in it.name)
    # uniform on four points, labels of the point 0 flipped with probability 0.4: OPT = 0.4
    assert noisy.optimum == pytest.approx(0.4)
    assert noisy.error(0, None) == pytest.approx(0.0)
    # wrong on two points: the error is 0.6 there instead of 0.4
    assert noisy.error(1, None) == pytest.approx(2 / 4 * 0.2)
    assert noisy.error("no concept", None) == 1.0
    assert noisy.errors([0, 1, "?"], None).tolist() == [noisy.error(it, None) for it in (0, 1, "?")]


def test_the_vc_version_keeps_one_concept_per_labelling_and_the_same_optimum():
    rng = np.random.default_rng(5)
    table = rng.random((40, 5)) < 0.5
    table = np.concatenate([table, table[::-1]])
    every = ExplicitClass(range(5), table)
    learner = VCLearner(concepts=every)
    kept = learner.hypotheses
    assert len(kept.names) == len({tuple(row) for row in table.tolist()})
    assert {tuple(row) for row in kept.table.rows().tolist()} == {tuple(row) for row in table.tolist()}
    database = [(int(x), int(y)) for x, y in rng.integers(2, size=(30, 2))]
    assert kept.errors(database).min() == Hypotheses.of(every).errors(database).min()
    assert learner.sample_size() < GenericLearner(concepts=every).sample_size()


@pytest.mark.parametrize("concepts", [PointClass(3), IntervalClass(3), ConjunctionClass(3)])
def test_sauers_bound_covers_the_labellings(concepts):
    learner = VCLearner(concepts=concepts)
    assert len(learner.hypotheses.names) <= learner.sauer_bound
    vc, points = concepts.vc_dimension(), len(concepts.listed_domain())
    assert learner.sauer_bound == sum(math.comb(points, size) for size in range(vc + 1))


def test_sauers_bound_is_met_by_all_sets_up_to_a_size():
    table = [[int(k in chosen) for k in range(5)] for chosen in ((), (0,), (1,), (2,), (3,), (4,))]
    learner = VCLearner(concepts=ExplicitClass(range(5), table))
    assert len(learner.hypotheses.names) == learner.sauer_bound == sauer_bound(points=5, vc_dimension=1) == 6


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 0.5}, "alpha"),
        ({"beta": 0.5}, "beta"),
        ({"beta": -0.1}, "beta"),
        ({"alpha": math.nan}, "alpha"),
    ],
)
def test_parameters_out_of_range_are_refused_in_one_line(keywords, what):
    with pytest.raises(InvalidValue, match=f"The `{what}` of `GenericLearner` must be") as caught:
        GenericLearner(**keywords)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("record", [(0, 2), (0, "1"), (9, 1), (0,), 7, (0, [1])])
def test_an_invalid_record_is_refused(record):
    with pytest.raises((InvalidValue, InvalidKind)) as caught:
        GenericLearner().distribution([(1, 1), record])
    assert "\n" not in str(caught.value)


def test_a_sample_below_the_size_gets_a_private_answer():
    learner = GenericLearner(size=(0, 2))
    assert set(learner.sample([], 100, np.random.default_rng(6))) == {0, 1, 2, 3}
    assert audit_privacy(learner, budget=20_000).verdict is Verdict.PROVED


def test_a_million_hypotheses_have_a_law_that_sums_to_one():
    rng = np.random.default_rng(7)
    packed = rng.integers(256, size=(13, 1_000_000), dtype=np.uint8)
    classes = Hypotheses(range(100), range(1_000_000), TruthTable(packed, 100))
    x, y = rng.integers(100, size=10_000), rng.integers(2, size=10_000)
    logs = (
        GenericLearner(concepts=classes)
        .distribution(list(zip(x.tolist(), y.tolist(), strict=True)))
        .log_probabilities
    )
    assert float(np.logaddexp.reduce(logs)) == pytest.approx(0.0, abs=1e-9)
    first, *others = ((classes.table.row(place)[x] != y).sum() for place in (0, 499_999, 999_999))
    for place, errors in zip((499_999, 999_999), others, strict=True):
        assert logs[place] - logs[0] == pytest.approx(-(errors - first) / 2)


def test_each_bit_of_length_halves_the_weight_and_privacy_holds():
    learner = GenericLearner(epsilon=1.0, bits=lambda point: point)
    law = learner.distribution([(3, 1), (0, 0)])
    weights = [math.exp(-errors / 2) / 2**point for point, errors in enumerate((2, 1, 1, 0))]
    assert [law.pmf(k) for k in range(4)] == pytest.approx([w / sum(weights) for w in weights], rel=1e-12)
    assert audit_privacy(learner, budget=20_000).verdict is Verdict.PROVED
    # 1 + 1/2 + 1/4 + 1/8 > 1: the weights are divided by Kraft's sum
    nats = (3 + math.log2(1.875)) * math.log(2) + math.log(30)
    assert learner.sample_size() == math.ceil(6 * max(nats / 0.1, (math.log(4) + math.log(30)) / 0.01))


def test_the_size_by_description_length_bounds_the_failure_of_the_exact_law():
    learner = GenericLearner(epsilon=0.05, alpha=0.3, beta=0.1, bits=lambda point: 1 + 2 * point)
    n = learner.size_for(1)
    assert n < learner.sample_size()
    # The hypothesis "point 0" never errs, and the others err on a share alpha of the sample. With more errors
    # they would be chosen less often.
    share = math.ceil(0.3 * n)
    law = learner.distribution([(0, 1)] * share + [(1, 0)] * (n - share))
    assert 1 - law.pmf(0) <= 0.1


def test_a_custom_score_sets_the_law_and_claims_no_accuracy():
    learner = GenericLearner(epsilon=2.0, score=lambda database, of: -of.errors(database) / 2)
    law = learner.distribution([(3, 1), (3, 1)])
    assert law.pmf(3) / law.pmf(0) == pytest.approx(math.e)
    assert learner.utility_claim is None
    with pytest.raises(InvalidValue, match="must be 4 finite numbers"):
        GenericLearner(score=lambda database, of: [0.0]).distribution([])


@pytest.mark.parametrize("bits", [lambda _: -1, lambda _: 0.5, 7])
@pytest.mark.parametrize("build", [GenericLearner, CompressionLearner])
def test_invalid_lengths_are_refused_in_one_line(build, bits):
    with pytest.raises(AuditError, match=f"The `bits` of `{build.__name__}`") as caught:
        _ = build(bits=bits).lengths
    assert "\n" not in str(caught.value)
