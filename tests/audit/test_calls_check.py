"""Outputs of `sample` and of calls are compared if nothing else shows a difference."""

import numpy as np
import pytest
from scipy.stats import binom

from audit import ApproximateDP, PureDP, Verdict, audit_privacy
from audit.sampling import Sampler
from audit.subject.subject import adapt
from audit.verdict.calls_check import CallsCheck
from audit.verdict.terms import Terms


class NoisySum:
    """The sum of three bits with Laplace noise.

    The scale is 1 in `sample` and may differ in a call.
    """

    claim = PureDP(1.0)
    relation = "replace-one"
    records = (0, 1)
    size = 3

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, database, rng):
        return sum(database) + self.scale * rng.laplace()

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(size=size)


class CappedBits(NoisySum):
    """Randomized response to each bit.

    `sample` gives rows of an array, a call gives a list of bools.
    """

    def __call__(self, database, rng):
        return [bool(bit ^ (rng.random() < 0.3)) for bit in database]

    def sample(self, database, size, rng):
        return (np.asarray(database) ^ (rng.random((size, 3)) < 0.3)).astype(float)


class MeanOfTenths(NoisySum):
    """A mean of tenths, whose last bits depend on the order of the additions."""

    def __call__(self, database, rng):
        return 0.1 + 0.2 + 0.3 * (rng.random() < 0.5)

    def sample(self, database, size, rng):
        return 0.3 * (rng.random(size) < 0.5) + 0.3


def audited(subject, *, budget=20_000, **options):
    return audit_privacy(subject, budget=budget, seed=0, **options)


def test_a_call_with_a_quarter_of_the_noise_of_sample_is_an_error_that_names_an_output():
    # Power: 150 of 150 audits noticed the difference, so the power is above 0.95 with confidence 99.9 %. With
    # half of the noise 119 of 150 audits noticed it.
    result = audited(NoisySum(0.25))
    assert result.verdict is Verdict.ERROR
    assert "`sample` and single calls disagree: on [" in result.reason
    assert "the output is" in result.reason
    assert len(result.reason) < 300


@pytest.mark.parametrize(
    "subject", [NoisySum(1.0), CappedBits(1.0), MeanOfTenths(1.0)], ids=lambda s: type(s).__name__
)
def test_a_call_with_the_law_of_sample_matches_it_in_any_container(subject):
    result = audit_privacy(subject, budget=8_000, seed=0)
    assert result.verdict is Verdict.NOT_REFUTED
    assert any("beyond 200 on each database" in line for line in result.not_tested)
    assert result.samples == 8_000 + 2 * 2 * 200


def test_a_refutation_rests_on_calls_already():
    class Leaking(NoisySum):
        def sample(self, database, size, rng):
            return np.full(size, float(sum(database)))

    # Calls keep the claim. Bets on `sample` would refute the claim at once.
    assert audited(Leaking(1.0), budget=4_000).verdict is not Verdict.REFUTED
    assert audited(NoisySum(1.0), claim=PureDP(0.1)).verdict is Verdict.REFUTED


def test_a_call_that_changes_its_database_is_compared_on_copies():
    class Sorting(NoisySum):
        def __call__(self, database, rng):
            database.sort()
            return super().__call__(database, rng)

        def sample(self, database, size, rng):
            return super().sample(database, size, rng)

    assert audited(Sorting(1.0)).verdict is Verdict.NOT_REFUTED
    assert audited(Sorting(0.25)).verdict is Verdict.ERROR


def test_a_small_budget_compares_fewer_calls_and_says_how_many():
    result = audit_privacy(NoisySum(1.0), claim=ApproximateDP(1.0, 0.1), budget=2_000, seed=0)
    assert any("beyond 50 on each database" in line for line in result.not_tested)


def test_samples_of_one_law_differ_no_more_often_than_the_significance():
    # There are 20 comparisons at significance 0.1. False alarm: Pr[Bin(20, 0.1) ≥ 13] < 1e-8. Power: a check
    # that wrongly placed its bets after it drew the batch raised an alarm in 56 of 60 comparisons; at a rate
    # of 0.9, 20 comparisons then raise 13 alarms or more with probability 0.9996.
    terms = Terms(epsilon=1.0, delta=0.0, significance=0.1, budget=8_000)
    alarms = 0
    for seed in range(20):
        with Sampler(adapt(NoisySum(1.0)), seed=seed) as sampler:
            alarms += bool(CallsCheck(sampler, terms).disagreement(([0, 0, 0], [0, 0, 1])))
    assert binom.sf(12, 20, 0.1) < 1e-8
    assert alarms < 13
