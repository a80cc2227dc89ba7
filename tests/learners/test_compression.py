"""The compression learner is private over all rounds.

A shorter target needs fewer examples.
"""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from audit import Verdict, audit_privacy
from audit.catalogue import load_catalogue
from audit.errors import InvalidKind, InvalidValue
from learners.by_queries.chunks import INSUFFICIENT
from learners.concepts import ConjunctionClass, ExplicitClass
from learners.finite.problems import LearningProblem
from learners.generic.compression import CompressionLearner, hold_out_size

SIGNIFICANCE = 1e-7
NESTED = ExplicitClass("uv", [[0, 0], [0, 1], [1, 1]])
NAMES = {0: (0, 0), 1: (0, 1), 2: (1, 1)}
SMALL = {"concepts": NESTED, "bits": int, "first_round": 2, "caps": (0, 1, 2)}


def laplace_cdf(x):
    return 1 - math.exp(-x) / 2 if x >= 0 else math.exp(x) / 2


def law_by_hand(database, *, epsilon, alpha):
    """Return the law of two rounds.

    Round 1 learns a 0-bit hypothesis from record 0 and tests it on record 1. Round 2 learns at most 1 bit
    from records 2 and 3 and tests it on records 4 and 5.
    """

    def errors(name, part):
        return sum(NAMES[name]["uv".index(x)] != y for x, y in part)

    law, going = Counter(), 1.0
    for learn, test, bits in ((database[:1], database[1:2], 0), (database[2:4], database[4:6], 1)):
        if len(learn) + len(test) < {0: 2, 1: 4}[bits]:
            break
        weights = {name: math.exp(-epsilon * errors(name, learn) / 2) for name in range(bits + 1)}
        passed = 0.0
        for name, weight in weights.items():
            gap = 2 * alpha / 3 - errors(name, test) / len(test)
            chance = weight / sum(weights.values()) * laplace_cdf(gap * epsilon * len(test))
            law[name] += going * chance
            passed += chance
        going *= 1 - passed
    law[INSUFFICIENT] = going
    return law


@pytest.mark.parametrize("size", [1, 2, 5, 6, 8])
def test_the_law_is_that_of_the_rounds(size):
    learner, rng = CompressionLearner(epsilon=0.8, alpha=0.3, **SMALL), np.random.default_rng(25)
    for _ in range(20):
        database = [("uv"[x], int(y)) for x, y in rng.integers(2, size=(size, 2)).tolist()]
        law, expected = learner.distribution(database), law_by_hand(database, epsilon=0.8, alpha=0.3)
        for name in (0, 1, 2, INSUFFICIENT):
            assert law.pmf(name) == pytest.approx(expected[name], abs=1e-12)


@pytest.mark.parametrize("draw", ["sample", "call"])
def test_runs_follow_the_law(draw):
    learner, rng = CompressionLearner(epsilon=2.0, **SMALL), np.random.default_rng(26)
    database = [("u", 1), ("v", 1), ("v", 1), ("u", 0), ("v", 1), ("u", 1)]
    runs = 20_000 if draw == "sample" else 4_000
    outputs = (
        learner.sample(database, runs, rng)
        if draw == "sample"
        else [learner(database, rng) for _ in range(runs)]
    )
    law, seen = law_by_hand(database, epsilon=2.0, alpha=0.2), Counter(outputs)
    names = [name for name in law if law[name] > 0]
    expected = runs * np.array([law[name] for name in names])
    assert stats.chisquare([seen[name] for name in names], expected).pvalue > SIGNIFICANCE
    other = law_by_hand(database, epsilon=3.0, alpha=0.2)
    excess = (((runs * np.array([other[name] for name in names])) - expected) ** 2 / expected).sum()
    degrees = len(names) - 1
    assert stats.ncx2.sf(stats.chi2.isf(SIGNIFICANCE, degrees), degrees, excess) > 0.99


def test_a_round_that_passes_almost_surely_gives_no_negative_probability():
    # One hypothesis fits all records, so its measured error is 2·alpha/3 below the limit, a distance of
    # thousands of noise scales.
    learner = CompressionLearner(concepts=ConjunctionClass(6), alpha=0.2, beta=0.1)
    for problem in learner.problems():
        law = learner.distribution(problem.draw(np.random.default_rng(0)))
        assert float(np.exp(law.log_probabilities).sum()) == pytest.approx(1.0, rel=1e-12)


def test_the_entry_with_a_proved_epsilon_has_two_rounds():
    [entry] = [entry for entry in load_catalogue() if entry.name == CompressionLearner.name]
    learner = entry.factory()
    assert (learner.epsilon, len(learner.rounds(learner.size))) == (1.0, 2)


def test_a_round_that_used_its_records_twice_would_be_refuted():
    class Reusing(CompressionLearner):
        """A flawed learner that tests on the records it learned from."""

        def rounds(self, size):
            return [it._replace(middle=it.start) for it in super().rounds(size)]

        def _learned(self, it, database):
            return super()._learned(it._replace(middle=it.stop), database)

    # a record then affects both steps: the loss is up to 2ε
    learner = Reusing(epsilon=1.0, size=2, concepts=NESTED, bits=int, first_round=2, caps=(2,))
    result = audit_privacy(learner, budget=20_000)
    assert result.verdict is Verdict.REFUTED
    assert 1.0 < result.epsilon_lower <= 2.0


def test_rounds_double_in_size_and_allow_longer_hypotheses():
    learner = CompressionLearner(concepts=ConjunctionClass(8))
    rounds = learner.rounds(learner.sample_size())
    lengths = [it.stop - it.start for it in rounds]
    assert all(right == 2 * left for left, right in pairwise(lengths))
    assert all(it.start == before.stop for before, it in pairwise(rounds))
    assert [it.bits for it in rounds] == sorted(it.bits for it in rounds)
    assert rounds[-1].bits == 8
    assert all(it.start < it.middle < it.stop for it in rounds)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("beta", [0.01, 0.3])
def test_each_round_has_the_records_that_its_guarantee_needs(epsilon, beta):
    learner = CompressionLearner(concepts=ConjunctionClass(6), epsilon=epsilon, beta=beta)
    for count, it in enumerate(learner.rounds(8 * learner.sample_size()), start=1):
        each = beta / 2 ** (count + 1)
        # The test fails if the mean over the sample is off by α/6 (Hoeffding) or the noise exceeds α/6.
        sampling = 2 * math.exp(-2 * it.tested * (0.2 / 6) ** 2)
        noise = math.exp(-epsilon * it.tested * 0.2 / 6)
        assert sampling <= each / 2 * (1 + 1e-9)
        assert noise <= each / 2 * (1 + 1e-9)
        # The learning fails with at most the probability at the end of K11 Theorem 3.4, for (α/3, β_t).
        admitted = sum(math.comb(6, ones) for ones in range(it.bits + 1))
        n, a = it.middle - it.start, 0.2 / 3
        assert admitted * (2 * math.exp(-2 * n * a**2 / 9) + math.exp(-epsilon * n * a / 6)) <= each


def test_a_concise_target_needs_fewer_examples_than_a_long_one():
    learner = CompressionLearner(concepts=ConjunctionClass(8))
    sizes = [learner.size_for(bits) for bits in range(9)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 3 * sizes[0]


def evidence(failed, *, beta):
    """Return an e-value against a failure probability of at most beta."""
    return np.prod(1 + (failed / beta - 1) / 2)


@pytest.mark.parametrize(("target", "bits"), [((0, 0, 0), 0), ((0, 1, 0), 1), ((1, 1, 1), 3)])
def test_it_stops_at_the_round_of_the_target_with_a_good_hypothesis(target, bits):
    """The product of 1 + (F/β − 1)/2 over the samples stays below 1e7.

    F is the failure probability given the sample. If its mean is at most β = 0.1, the product exceeds 1e7
    with probability at most 1e-7 (Markov).

    Power: the product exceeds 1e7 if F = 1 for 36 of 100 samples. If half of all samples have F = 1, this has
    probability 99.8 %.
    """
    learner = CompressionLearner(alpha=0.3)
    hypotheses, rng = learner.hypotheses, np.random.default_rng(27)
    row = hypotheses.table.row(hypotheses.index(target))
    law = np.stack([~row, row], axis=1) / 8
    problem = LearningProblem("uniform", hypotheses, law, examples=learner.size_for(bits))
    failed = []
    for _ in range(100):
        found = learner.distribution(problem.draw(rng))
        good = problem.errors(found.outcomes, None) <= 0.3
        failed.append(1.0 - np.exp(found.log_probabilities)[good].sum())
    assert learner.beta == 0.1
    assert evidence(np.array(failed), beta=0.1) < 1e7
    assert evidence(np.repeat([1.0, 0.0], [36, 64]), beta=0.1) >= 1e7
    assert stats.binom.sf(35, 100, 0.5) > 0.998


def test_a_bad_hypothesis_does_not_pass():
    learner = CompressionLearner(alpha=0.2)
    # every label contradicts the only hypothesis that the first round allows
    database = [((1, 1, 1), 0)] * learner.size_for(0)
    assert learner.distribution(database).pmf(INSUFFICIENT) > 1 - learner.beta / 4


def test_the_hold_out_size_follows_from_hoeffding_and_the_laplace_tail():
    assert hold_out_size(alpha=0.1, beta=0.05, epsilon=1.0) == 877  # 200·ln 80 = 876.4
    assert hold_out_size(alpha=0.1, beta=0.05, epsilon=0.01) == 7378  # 2000·ln 40 = 7377.8


@pytest.mark.parametrize("record", [("u", 2), ("w", 1), ("u",), 4])
def test_an_invalid_record_is_refused_even_if_no_round_reads_it(record):
    with pytest.raises((InvalidValue, InvalidKind)):
        CompressionLearner(**SMALL).distribution([record])


@pytest.mark.parametrize(
    "keywords", [{"alpha": 0.7}, {"beta": 0.5}, {"epsilon": 0}, {"first_round": 1}, {"caps": ()}]
)
def test_parameters_out_of_range_are_refused(keywords):
    with pytest.raises(InvalidValue):
        CompressionLearner(**keywords)
