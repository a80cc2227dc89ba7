"""The time limit bounds the whole audit after loading."""

import time

import pytest

from audit import PureDP, Verdict, audit_privacy

CLAIM = PureDP(1.0)


def slow(seconds, *, first=0.0, scale=0.05):
    """Return a leaking mechanism whose calls take time, the first call more."""
    waited = []

    def release(database, rng):
        if not waited:
            waited.append(True)
            time.sleep(first)
        time.sleep(seconds)
        return sum(database) + rng.laplace(scale=scale)

    return release


@pytest.mark.parametrize(("seconds", "limit"), [(0.002, 2.0), (0.005, 1.5)])
def test_an_audit_that_is_still_confirming_or_shrinking_ends_at_its_time_limit(seconds, limit):
    """At most limit/seconds calls are made before the limit.

    A call takes at least `seconds`. The refutation takes about 140 calls, the confirmation 400, shrinking
    thousands. A batch that has begun may finish after the limit.
    """
    result = audit_privacy(slow(seconds), CLAIM, records=[0, 1, 2, 3], size=(1, 6), time_limit=limit)
    assert result.samples <= limit / seconds + 100
    assert result.verdict in {Verdict.REFUTED, Verdict.INCONCLUSIVE}


def test_a_crossing_without_time_for_confirmation_is_inconclusive_and_shows_its_witness():
    """The refutation fits into the time limit, the confirmation does not.

    The refutation takes 140 calls of 10 ms, and the confirmation 400.
    """
    result = audit_privacy(slow(0.01), CLAIM, pairs=[([0], [1])], time_limit=3.0)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "`time_limit`" in result.reason
    assert result.witness is not None
    assert not result.witness.confirmed


def test_a_first_call_that_loads_counts_neither_against_the_limit_nor_in_the_estimate():
    told = []
    mechanism = slow(0.0, first=2.2, scale=1.0)
    result = audit_privacy(
        mechanism, CLAIM, pairs=[([0], [1])], time_limit=1.8, budget=3_000, progress=told.append
    )
    assert result.samples > 100  # if the time of the first call counted, only a few runs would be made
