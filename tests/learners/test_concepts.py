"""Labels of the concept classes, and VC dimensions by brute force."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from audit.errors import InvalidKind, InvalidValue
from learners.concepts import (
    ConjunctionClass,
    ExampleDistribution,
    ExplicitClass,
    IntervalClass,
    LabelClass,
    MaskedParityClass,
    ParityClass,
    PointClass,
    dichotomies,
)


def masked(concept, point):
    """Return the label of a point (x, i, b) by K11 §5.3, for d = 2.

    Here i is one bit.
    """
    (r, a), (x, i, b) = concept, (point[:2], point[2], point[3])
    return (-1) ** r[i] if b == 1 else (-1) ** (sum(u * v for u, v in zip(r, x, strict=True)) + a)


DEFINITIONS = {
    ParityClass(3): lambda r, x: sum(u * v for u, v in zip(r, x, strict=True)) % 2,
    ConjunctionClass(3): lambda s, x: int(all(x[i] for i in range(3) if s[i])),
    MaskedParityClass(2): masked,
    PointClass(3): lambda j, x: int(x == j),
    IntervalClass(3): lambda j, x: int(x < j),
    LabelClass(ParityClass(2)): lambda r, xy: (sum(u * v for u, v in zip(r, xy[0], strict=True)) % 2) ^ xy[1],
}
SIZES = {
    ParityClass: (8, 8),
    ConjunctionClass: (8, 8),
    MaskedParityClass: (8, 16),
    PointClass: (8, 8),
    IntervalClass: (9, 8),
    LabelClass: (4, 8),
}
CLASSES = pytest.mark.parametrize("concepts", DEFINITIONS, ids=lambda c: type(c).__name__)


def brute_vc(table):
    """Return the largest k for which some k columns show all 2^k patterns."""
    best = 0
    for k in range(1, table.shape[1] + 1):
        if any(
            len({tuple(row) for row in table[:, c].tolist()}) == 2**k
            for c in combinations(range(table.shape[1]), k)
        ):
            best = k
    return best


@CLASSES
def test_a_class_labels_as_its_definition_does(concepts):
    define = DEFINITIONS[concepts]
    expected = [[define(c, x) for x in concepts.domain] for c in concepts.concepts]
    assert [[concepts.label(c, x) for x in concepts.domain] for c in concepts.concepts] == expected
    signs = [[concepts.labels.index(label) for label in row] for row in expected]
    assert concepts.table().astype(int).tolist() == signs
    some = list(concepts.domain)[1::3]
    assert concepts.table(some).astype(int).tolist() == [row[1::3] for row in signs]


@CLASSES
def test_members_are_distinct_and_counted(concepts):
    assert (concepts.size, len(concepts.domain)) == SIZES[type(concepts)]
    assert len(set(concepts.concepts)) == concepts.size
    assert all(concepts.concepts.index(c) == i for i, c in enumerate(concepts.concepts))


@CLASSES
def test_the_vc_dimension_matches_the_truth_table(concepts):
    assert concepts.vc_dimension() == brute_vc(concepts.table())
    assert ExplicitClass(concepts.domain, concepts.table()).vc_dimension() == concepts.vc_dimension()


def test_the_vc_dimension_of_random_tables_is_that_of_brute_force():
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(150):
        rows, columns = rng.integers(1, 24), rng.integers(1, 8)
        table = rng.random((rows, columns)) < rng.choice([0.2, 0.5])
        found = ExplicitClass(range(columns), table).vc_dimension()
        assert found == brute_vc(table)
        seen.add(found)
    assert seen >= {0, 1, 2, 3}


def test_dichotomies_keep_one_concept_of_each_kind_within_sauers_bound():
    intervals = IntervalClass(4)
    kept = dichotomies(intervals, [3, 9])
    assert list(kept.concepts) == [0, 4, 10]
    assert kept.table().astype(int).tolist() == [[0, 0], [1, 0], [1, 1]]
    parity = ParityClass(4)
    points = [(1, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0)]
    kept = dichotomies(parity, points)
    sauer = sum(math.comb(3, k) for k in range(kept.vc_dimension() + 1))
    assert (kept.size, kept.vc_dimension(), sauer) == (4, 2, 7)
    assert all(kept.label(c, x) == parity.label(c, x) for c in kept.concepts for x in points)


def test_c_label_errs_where_the_concept_errs():
    wrong = LabelClass(IntervalClass(2))
    assert [wrong.label(2, (x, y)) for x, y in product(range(4), (0, 1))] == [1, 0, 1, 0, 0, 1, 0, 1]


def test_classes_too_large_to_list_still_label():
    points, intervals, parity = PointClass(64), IntervalClass(64), ParityClass(64)
    assert points.size == 2**64
    assert intervals.size == 2**64 + 1
    assert intervals.says(2**64, [0, 2**64 - 1]).tolist() == [True, True]
    assert intervals.says(2**64 - 1, [2**64 - 2, 2**64 - 1]).tolist() == [True, False]
    assert parity.label((1,) * 64, (1,) * 63 + (0,)) == 1
    assert (points.vc_dimension(), parity.vc_dimension()) == (1, 64)
    assert parity.concepts[2**63] == (1,) + (0,) * 63
    for concepts in (points, parity):
        with pytest.raises(InvalidValue, match=r"^The .* must have at most 4194304 members"):
            concepts.table()


def test_errors_are_those_of_exact_arithmetic():
    parity = ParityClass(3)
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, (8, 2)).tolist()
    total = sum(map(sum, counts))
    examples = [(x, y) for x in parity.domain for y in (0, 1)]
    masses = [Fraction(counts[i // 2][i % 2], total) for i in range(16)]
    distribution = ExampleDistribution(examples, [float(mass) for mass in masses])
    for r, found in zip(parity.concepts, distribution.errors(parity).tolist(), strict=True):
        true = sum(
            mass
            for (x, y), mass in zip(examples, masses, strict=True)
            if sum(u * v for u, v in zip(r, x, strict=True)) % 2 != y
        )
        assert found == pytest.approx(float(true), rel=1e-15)
        assert distribution.error(lambda x, r=r: parity.label(r, x)) == found
        assert distribution.concept_error(parity, r) == found


def test_noise_flips_labels_at_its_rate():
    clean = ExampleDistribution.realizable(PointClass(1), 1, [0.25, 0.75])
    noisy = clean.noisy(0.1, labels=(0, 1))
    assert dict(zip(noisy.examples, noisy.probabilities, strict=True)) == pytest.approx(
        {(0, 0): 0.225, (0, 1): 0.025, (1, 1): 0.675, (1, 0): 0.075}
    )
    assert noisy.errors(PointClass(1)).tolist() == pytest.approx([0.9, 0.1])


def test_draws_follow_the_distribution():
    masses = [0.5, 0.3, 0.0, 0.2]
    distribution = ExampleDistribution.realizable(IntervalClass(2), 2, masses)
    drawn = distribution.draw(20_000, np.random.default_rng(3))
    counts = [sum(x == k for x, _ in drawn) for k in range(4)]
    assert counts[2] == 0
    assert all(y == (x < 2) for x, y in drawn)
    # six standard deviations: false alarm probability below 1e-8
    for count, mass in zip(counts, masses, strict=True):
        assert abs(count - 20_000 * mass) <= 6 * math.sqrt(20_000 * mass * (1 - mass))


_TABLE = "The `table` of `ExplicitClass` must be rows, all as long, of booleans or of 0 and 1; got"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ParityClass(0), "The `dimension` of `ParityClass` must be a whole number ≥ 1"),
        (
            lambda: MaskedParityClass(6),
            "The `dimension` of `MaskedParityClass` must be a power of two; got 6.",
        ),
        (lambda: ParityClass(2).label((0, 1), (0, 2)), "A point of `ParityClass` must be 2 bits"),
        (lambda: ParityClass(2).label((0, 1), (0, 1, 1)), "A point of `ParityClass` must be 2 bits"),
        (lambda: PointClass(3).label(0, 8), "A point of `PointClass` must be a whole number from 0 to 2^3"),
        (
            lambda: PointClass(3).says(0, [True]),
            "A point of `PointClass` must be a whole number from 0 to 2^3",
        ),
        (lambda: PointClass(1).split([(0, 2)]), "A label of `PointClass` must be 0 or 1; got 2."),
        (
            lambda: MaskedParityClass(2).split([((0,) * 4, 0)]),
            "A label of `MaskedParityClass` must be 1 or -1",
        ),
        (lambda: ExplicitClass("ab", [[0, 1, 1]]), "The `table` of `ExplicitClass` must have shape"),
        (
            lambda: ExplicitClass("uv", [[0, 2], [0.5, -1]]),
            _TABLE + " 2",
        ),
        (lambda: ExplicitClass("uv", [[0, 0.5]]), _TABLE + " 0.5"),
        (lambda: ExplicitClass("uv", [[0, float("nan")]]), _TABLE + " nan"),
        (lambda: ExplicitClass("uv", [["0", "1"]]), _TABLE),
        (lambda: ExplicitClass("uv", [[0, 1], [1]]), _TABLE),
        (
            lambda: ExplicitClass("uu", [[0, 1]]),
            "The `domain` of `ExplicitClass` must be distinct; got 'u' twice",
        ),
        (
            lambda: ExplicitClass([1, 2, 1], [[0, 1, 1]]),
            "The `domain` of `ExplicitClass` must be distinct; got 1 twice",
        ),
        (
            lambda: ExplicitClass("uv", [[0, 1], [1, 1]], concepts="cc").says("c", "u"),
            "The `concepts` of `ExplicitClass` must be distinct; got 'c' twice",
        ),
        (lambda: ExplicitClass("ab", [[0, 1]]).label(0, "c"), "A point of `ExplicitClass` must be one of"),
        (
            lambda: ExampleDistribution([(0, 0)], [0.9]),
            "The `probabilities` of `ExampleDistribution` must sum",
        ),
        (
            lambda: ExampleDistribution([(0, 0)], [0.5, 0.5]),
            "The `probabilities` of `ExampleDistribution` must be 1",
        ),
    ],
)
def test_bad_input_gets_one_line(make, message):
    with pytest.raises(InvalidValue) as caught:
        make()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_anything_but_a_list_of_pairs_is_refused():
    with pytest.raises(InvalidKind, match=r"must be a list of \(x, y\)"):
        PointClass(1).split([0, 1])
