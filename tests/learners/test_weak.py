"""SQ dimension, and the weak learner against adversaries."""

import itertools

import numpy as np
import pytest

from audit.errors import InvalidValue
from learners.by_queries.weak import (
    Agreement,
    GenericWeakLearner,
    correlations,
    labelled,
    masked_parity_sq_dimension,
    parity_sq_dimension,
    sq_dimension,
)
from learners.concepts import (
    ConjunctionClass,
    ExplicitClass,
    IntervalClass,
    MaskedParityClass,
    ParityClass,
    PointClass,
)
from learners.findings import findings
from mechanisms.queries import AdversarialOracle


def by_all_subsets(concepts, weights):
    """Return the largest n with n concepts of correlations at most 1/n³.

    The correlations are pairwise. Every subset is tried.
    """
    signs = [
        [1 if concepts.label(c, x) == concepts.labels[1] else -1 for x in concepts.domain]
        for c in concepts.concepts
    ]
    best = 1
    for n in range(2, len(signs) + 1):
        for some in itertools.combinations(signs, n):
            pairs = itertools.combinations(some, 2)
            if all(
                abs(sum(w * a * b for w, a, b in zip(weights, f, g, strict=True))) <= 1 / n**3 + 1e-12
                for f, g in pairs
            ):
                best = n
                break
    return best


@pytest.mark.parametrize("seed", range(6))
def test_the_sq_dimension_matches_brute_force(seed):
    rng = np.random.default_rng(seed)
    concepts = ExplicitClass(range(16), rng.integers(0, 2, (9, 16)))
    weights = rng.dirichlet(np.full(16, 20.0))
    assert sq_dimension(concepts, weights) == by_all_subsets(concepts, weights)


@pytest.mark.parametrize(
    "concepts", [PointClass(3), IntervalClass(3), ConjunctionClass(3), MaskedParityClass(2)]
)
def test_the_sq_dimension_of_a_known_class_matches_brute_force(concepts):
    count = len(concepts.listed_domain())
    assert sq_dimension(concepts) == by_all_subsets(concepts, [1 / count] * count)


def test_the_closed_forms_match_the_search():
    assert [sq_dimension(ParityClass(d)) for d in (1, 3, 6)] == [parity_sq_dimension(d) for d in (1, 3, 6)]
    for d in (2, 4):
        concepts = MaskedParityClass(d)
        unshown = np.array([2.0 * (point[-1] == 0) for point in concepts.domain]) / len(concepts.domain)
        assert sq_dimension(concepts) == masked_parity_sq_dimension(d)
        assert sq_dimension(concepts, unshown) == masked_parity_sq_dimension(d, shown=False)


def test_2d_masked_parities_of_a_hadamard_matrix_are_not_correlated_at_d_8():
    concepts = MaskedParityClass(8)
    rows = [tuple((i & j).bit_count() % 2 for j in range(8)) for i in range(8)]
    chosen = [concepts.concepts.index((row, a)) for row in rows for a in (0, 1)]
    table = concepts.table()[chosen]
    signs = np.where(table, 1, -1)
    assert np.array_equal(signs @ signs.T, len(concepts.domain) * np.eye(masked_parity_sq_dimension(8)))


@pytest.mark.parametrize(
    "concepts", [ParityClass(3), IntervalClass(4), PointClass(4), ConjunctionClass(4), MaskedParityClass(4)]
)
def test_the_weak_learner_keeps_its_bound_in_one_round_with_every_oracle(concepts):
    learner = GenericWeakLearner(concepts)
    assert len(learner.alternatives) <= sq_dimension(concepts)
    offsets = np.random.default_rng(0).choice([-1.0, 1.0], (3, len(learner.alternatives)))
    for target in concepts.concepts:
        population = labelled(concepts, target)
        for adversary in ("towards-zero", "alternating", *map(list, offsets)):
            oracle = AdversarialOracle(population, adversary)
            assert learner.error(learner.learn(oracle), population) <= learner.alpha
            assert oracle.rounds == 1


def test_an_answer_of_an_agreement_is_a_correlation():
    concepts, places = IntervalClass(3), range(9)
    related = correlations(concepts)
    for target in places:
        population = labelled(concepts, target)
        means = [population.weights @ Agreement(concepts, c).many(population.points) for c in places]
        assert means == pytest.approx(related[target].tolist())


def test_a_class_too_large_to_search_is_refused():
    with pytest.raises(InvalidValue, match="at most 64"):
        sq_dimension(ParityClass(7))


def test_weak_learning_needs_one_round_and_masked_parity_has_one_hard_distribution():
    rows = findings()["K11 §5.3, weak learning"]().tables[0].rows
    assert all(
        queries <= n and rounds == 1 and worst <= bound for _, _, n, queries, rounds, _, worst, bound in rows
    )
    uniform, hidden = findings()["K11 §5.3, distribution-free"]().tables[0].rows
    assert uniform[1:] == (8, 32, 32)
    assert hidden[1:] == (16, 2, 32)
