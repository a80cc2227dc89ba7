"""The label-private learner is private in the labels, and not in the examples."""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from audit import Verdict, audit_privacy
from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from learners.concepts import ConjunctionClass, IntervalClass, PointClass
from learners.generic.labels import LabelPrivateLearner, ReplacedRecords, net_size

SIGNIFICANCE = 1e-7


def law_by_hand(concepts, database, *, epsilon, first):
    """Return the law, computed by hand.

    For each labelling of the given x's, a concept with this labelling gets a weight from its errors on
    the other records.
    """
    kept = {}
    for concept in concepts.listed_concepts():
        pattern = tuple(concepts.label(concept, x) for x, _ in database[:first])
        kept.setdefault(pattern, concept)
    errors = {
        concept: sum(concepts.label(concept, x) != y for x, y in database[first:])
        for concept in kept.values()
    }
    total = sum(math.exp(-epsilon * error / 2) for error in errors.values())
    return {concept: math.exp(-epsilon * error / 2) / total for concept, error in errors.items()}


@pytest.mark.parametrize("concepts", [PointClass(2), IntervalClass(3), ConjunctionClass(2)])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.75, 1.0])
def test_the_law_is_that_of_the_construction(concepts, share):
    rng = np.random.default_rng(22)
    learner = LabelPrivateLearner(epsilon=0.9, concepts=concepts, share=share)
    domain = concepts.listed_domain()
    for size in (1, 4, 9):
        places, labels = rng.integers(len(domain), size=size), rng.integers(2, size=size)
        database = [(domain[p], y) for p, y in zip(places.tolist(), labels.tolist(), strict=True)]
        law = learner.distribution(database)
        expected = law_by_hand(concepts, database, epsilon=0.9, first=math.floor(size * share))
        assert {name: law.pmf(name) for name in law.outcomes} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("concepts", [PointClass(1), IntervalClass(1)])
def test_labels_are_protected_as_claimed(concepts):
    learner = LabelPrivateLearner(epsilon=1.0, concepts=concepts, share=0.5, size=3)
    result = audit_privacy(learner, budget=20_000)
    assert learner.relation is Relation.REPLACE_LABEL
    assert result.verdict is Verdict.PROVED
    assert 0.5 < result.epsilon_lower <= 1.0
    assert audit_privacy(learner, PureDP(0.5), budget=1_000).verdict is Verdict.REFUTED


@pytest.mark.parametrize("make", [LabelPrivateLearner, ReplacedRecords])
def test_examples_are_not_protected_and_the_witness_shows_it(make):
    result = audit_privacy(make(epsilon=1.0, share=0.5, size=2), relation=Relation.REPLACE_ONE, budget=20_000)
    assert result.verdict is Verdict.REFUTED
    assert result.epsilon_lower == math.inf
    witness = result.witness
    (left, _), (right, _) = witness.left[0], witness.right[0]
    assert left != right  # the x of the first record, whose label the learner does not read
    assert witness.left[1:] == witness.right[1:]
    assert (witness.p > 0.1) != (witness.q > 0.1)
    assert min(witness.p, witness.q) == 0.0


def test_the_flawed_entry_suggests_a_pair_that_reveals_an_example():
    ((left, right),) = ReplacedRecords().suggested_pairs()
    laws = [set(ReplacedRecords().distribution(it).outcomes) for it in (left, right)]
    assert Relation.REPLACE_ONE.are_neighbours(left, right)
    assert not Relation.REPLACE_LABEL.are_neighbours(left, right)
    assert laws[1] - laws[0]


def test_runs_follow_the_law():
    learner, rng = LabelPrivateLearner(epsilon=2.0, share=0.5), np.random.default_rng(23)
    database = [(0, 1), (2, 0), (2, 1), (3, 0)]
    for outputs in (learner.sample(database, 20_000, rng), [learner(database, rng) for _ in range(2_000)]):
        law, seen = learner.distribution(database), Counter(outputs)
        expected = len(outputs) * np.array([law.pmf(name) for name in law.outcomes])
        assert stats.chisquare([seen[name] for name in law.outcomes], expected).pvalue > SIGNIFICANCE
        assert sum(seen.values()) == sum(seen[name] for name in law.outcomes)


def bound(size, vc, alpha):
    ways = sum(math.comb(2 * size, k) for k in range(vc + 1))
    return 2 * ways**2 * 2.0 ** (-size * alpha / 2)


@pytest.mark.parametrize("vc", [0, 1, 3])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
@pytest.mark.parametrize("beta", [0.01, 0.3])
def test_the_net_is_the_smallest_that_the_double_sample_bound_allows(vc, alpha, beta):
    size = net_size(vc, alpha=alpha, beta=beta)
    assert size >= 8 / alpha
    assert bound(size, vc, alpha) <= beta
    assert size == math.ceil(8 / alpha) or bound(size - 1, vc, alpha) > beta


def test_the_net_grows_with_the_vc_dimension_and_not_with_the_domain():
    sizes = [LabelPrivateLearner(concepts=IntervalClass(d)).unlabelled_size for d in (2, 4, 8)]
    assert len(set(sizes)) == 1
    grown = [net_size(v, alpha=0.1, beta=0.1) for v in (1, 2, 4, 8)]
    assert all(left < right < 3 * left for left, right in pairwise(grown))  # v·ln(1/α)/α


def test_a_sample_is_a_net_of_points_with_the_exact_probability():
    """Concepts i and j agree on samples without i and j.

    With k points of mass 1/k, they differ by 2/k > α.
    """
    alpha, beta, k = 0.1, 0.1, 19
    size = net_size(1, alpha=alpha, beta=beta)
    missed = k * (k - 1) / 2 * (1 - 2 / k) ** size  # an upper bound, by the union bound over all pairs
    assert missed < beta


@pytest.mark.parametrize("concepts", [PointClass(3), IntervalClass(4)])
def test_at_the_sample_size_the_error_is_at_most_alpha(concepts):
    learner = LabelPrivateLearner(concepts=concepts, alpha=0.3, beta=0.1)
    rng, draws = np.random.default_rng(24), 25
    for problem in learner.problems():
        failed = []
        for _ in range(draws):
            database = problem.draw(rng)
            law = learner.distribution(database)
            errors = problem.errors(law.outcomes, database)
            failed.append(np.exp(law.log_probabilities)[errors > 0.3].sum())
        # Hoeffding, false alarm probability 1e-7. The slack is large for 25 draws, but failures are far rarer
        # than β.
        assert np.mean(failed) <= 0.1 + math.sqrt(math.log(1e7) / (2 * draws)), problem.name


def test_the_default_split_matches_the_sample_size():
    learner = LabelPrivateLearner()
    database = [(0, 1)] * learner.sample_size()
    kept = learner.sample_size() - learner.labelled_size
    assert kept == learner.unlabelled_size
    changed = [(1, 0), *database[1:]]
    assert set(learner.distribution(database).outcomes) != set(learner.distribution(changed).outcomes)
    later = [*database[:kept], (1, 0), *database[kept + 1 :]]
    assert set(learner.distribution(database).outcomes) == set(learner.distribution(later).outcomes)


@pytest.mark.parametrize("record", [(0, 2), (7, 0), (0,), "ab", 3])
def test_an_invalid_record_is_refused_at_every_place(record):
    for database in ([record, (0, 1), (0, 1)], [(0, 1), (0, 1), record]):
        with pytest.raises((InvalidValue, InvalidKind)) as caught:
            LabelPrivateLearner(share=0.5).distribution(database)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keywords", [{"epsilon": -1}, {"alpha": 1.0}, {"beta": 0}, {"share": 1.5}])
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises(InvalidValue):
        LabelPrivateLearner(**keywords)


def test_a_share_that_empties_a_part_has_no_sample_size():
    for share in (0.0, 1.0):
        with pytest.raises(InvalidValue, match="for a utility claim"):
            _ = LabelPrivateLearner(share=share).sample_size()
