"""The proofs and the stated sizes hold for α ≥ 1/2 (BNS Definitions 3 and 6)."""

import math

import numpy as np
import pytest

from audit.errors import InvalidValue
from learners import (
    GenericLearner,
    GenericSanitizer,
    HashedPointLearner,
    IntervalLearner,
    LabelPrivateLearner,
    PointLearner,
    PointSanitizer,
    PureIntervalLearner,
    PurePointLearner,
)

KINDS = [PurePointLearner, PureIntervalLearner, IntervalLearner]
OTHERS = [HashedPointLearner, LabelPrivateLearner, PointSanitizer, GenericSanitizer]


def failing(learner, problem):
    """Return the probability of an error above alpha over sample and run."""
    samples = problem.distribution()
    total = 0.0
    for sample in samples.support():
        law = learner.distribution(sample)
        bad = [output for output in law.support() if problem.error(output, sample) > learner.alpha]
        total += samples.pmf(sample) * math.fsum(map(law.pmf, bad))
    return total


@pytest.mark.parametrize("alpha", [0.6, 0.95])
@pytest.mark.parametrize("kind", KINDS)
def test_at_the_stated_size_the_failure_probability_is_at_most_beta(kind, alpha):
    learner = kind(dimension=4, alpha=alpha)
    two = [each for each in learner.problems() if each.distribution]
    assert len(two) >= 3
    assert max(failing(learner, each) for each in two) <= learner.beta


def test_on_a_fifth_of_the_size_the_same_learner_fails():
    learner = PurePointLearner(dimension=4, alpha=0.6)
    few = [type(p)(p.name, p.source, p.target, learner.sample_size() // 5) for p in learner.problems()]
    assert max(failing(learner, each) for each in few if each.distribution) > learner.beta


@pytest.mark.parametrize("alpha", [0.7, 0.999])
@pytest.mark.parametrize(
    "kind", [*KINDS, HashedPointLearner, LabelPrivateLearner, PointSanitizer, GenericSanitizer]
)
def test_problems_are_found_and_varied_for_every_alpha_below_1(kind, alpha):
    made, rng = kind(alpha=alpha), np.random.default_rng(0)
    for problem in made.problems():
        assert len(made.vary(problem, rng).draw(rng)) >= made.sample_size()


def test_a_larger_alpha_needs_fewer_examples():
    sizes = [PointLearner(dimension=64, alpha=alpha).sample_size() for alpha in (0.4, 0.6, 0.9)]
    assert sizes == sorted(sizes, reverse=True)


def test_an_alpha_of_one_half_is_refused_if_the_definition_excludes_it():
    with pytest.raises(InvalidValue, match="`alpha` of `GenericLearner` must be"):
        GenericLearner(alpha=0.5)
    with pytest.raises(InvalidValue, match="`alpha` of `PointLearner` must be"):
        PointLearner(dimension=64, alpha=1.0)
