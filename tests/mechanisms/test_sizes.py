"""`sample_size(alpha=, beta=)` works in the same way on every subject."""

import math
from dataclasses import replace

import pytest

from audit.errors import InvalidKind, InvalidValue
from learners import MaskedParityLearner, PointLearner, PointSanitizer, PurePointLearner, SanitizingLearner
from mechanisms import ChoosingMechanism, LaplaceMean, PrivateQueryAnswers
from mechanisms.local import LaplaceAverage, SignAverage

ASKED = {"alpha": 0.2, "beta": 0.03}


@pytest.mark.parametrize("kind", [PurePointLearner, ChoosingMechanism, PointSanitizer])
def test_the_size_equals_that_of_a_subject_made_with_this_accuracy(kind):
    assert kind().sample_size(**ASKED) == kind(**ASKED).sample_size() != kind().sample_size()
    assert kind(**ASKED).sample_size(alpha=kind().alpha, beta=kind().beta) == kind().sample_size()


def test_the_size_does_not_depend_on_the_size_the_subject_has():
    large = ChoosingMechanism(size=10**6)
    assert large.sample_size() == ChoosingMechanism().sample_size()
    assert large.sample_size(**ASKED) == ChoosingMechanism().sample_size(**ASKED)


def test_the_mean_of_enough_values_is_within_alpha_but_for_beta():
    """B Theorem 3: (b/εn)·ln(1/β) ≤ α."""
    mean = LaplaceMean(epsilon=0.5, upper=3.0, size=7)
    assert mean.sample_size(**ASKED) == math.ceil(3.0 / 0.5 / 0.2 * math.log(1 / 0.03)) == 106
    assert mean.sample_size() == 7
    assert mean.sample_size(beta=mean.beta**2) == 14


def test_the_size_for_query_answers_follows_from_their_tolerance():
    """By Hoeffding's inequality one answer needs 2·ln(2/β)/(τ·tanh(ε/2))² entries.

    M answers need M chunks.
    """
    kept = 0.2 * math.tanh(0.5)
    assert SignAverage().sample_size(**ASKED) == math.ceil(2.0 * math.log(2.0 / 0.03) / kept**2)
    answers = PrivateQueryAnswers(chunk=1)
    assert answers.utility_claim is None
    needed = answers.sample_size(**ASKED)
    asked = [replace(query, tau=0.2) for query in answers.queries]
    assert needed == PrivateQueryAnswers(queries=tuple(asked), beta=0.03).size > 2


def test_a_learner_by_sanitizing_uses_the_size_of_its_sanitizer():
    learner = SanitizingLearner(alpha=0.2, beta=0.05)
    again = SanitizingLearner(sanitizer=learner.sanitizer)
    assert (
        again.sample_size(alpha=0.125)
        == learner.sample_size(alpha=0.125)
        == SanitizingLearner().sample_size()
    )
    with pytest.raises(InvalidValue, match=r"`alpha` of `SanitizingLearner` must be"):
        learner.sample_size(alpha=0.4)


def test_an_exact_learner_needs_the_same_size_for_every_alpha():
    learner = MaskedParityLearner()
    assert learner.sample_size(alpha=0.0) == learner.sample_size() < learner.sample_size(beta=0.01)


def test_an_invalid_accuracy_is_refused_in_one_line():
    with pytest.raises(InvalidValue, match=r"`beta` of `PointLearner` must be .* got 2"):
        PointLearner().sample_size(beta=2)
    with pytest.raises(InvalidKind, match=r"`tolerance` of `SignAverage` must be .* got 'x'"):
        SignAverage().sample_size(alpha="x")
    with pytest.raises(InvalidValue, match=r"needs an `alpha`, as it has no `tolerance`"):
        LaplaceAverage().sample_size()
