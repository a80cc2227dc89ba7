"""Published classes of faults, and controls that only look like them.

Faulty mechanisms are refuted at significance 1e-6 within the stated runs. Controls meet their claim, and each
is refuted with probability at most 1e-6. They get 4,000 runs, more than all faults but one need.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from audit import ApproximateDP, PureDP, Verdict, audit_privacy
from audit.self_audit.subjects.limits import best_log_growth

KEEP = math.exp(-1.0)


def two_sided_geometric(rng, epsilon=1.0):
    p = -math.expm1(-epsilon)
    return int(rng.geometric(p)) - int(rng.geometric(p))


def frequency_noise_on_counts(database, rng):
    """Return counts with noise of scale 2/n, right only for frequencies."""
    ones = sum(database)
    return np.array([len(database) - ones, ones]) + rng.laplace(scale=2 / len(database), size=2)


def sensitivity_of_one_bound(database, rng):
    """Return a sum of squares of records in [−1, 3] with noise for [−1, 1]."""
    return sum(min(max(x, -1.0), 3.0) ** 2 for x in database) + rng.laplace(scale=1.0)


def scale_from_the_data(database, rng):
    return sum(database) + rng.laplace(scale=max(database) - min(database))


def wrapping_sum(database, rng):
    total = 0
    for x in database:
        total = (total + x + 128) % 256 - 128
    return total + two_sided_geometric(rng, 1 / 100)


def saturating_sum(database, rng):
    total = 0
    for x in database:
        total = min(total + x, 127)
    return total + two_sided_geometric(rng, 1 / 100)


def one_draw_for_two_cells(database, rng):
    ones, noise = sum(database), two_sided_geometric(rng, 0.5)
    return len(database) - ones + noise, ones + noise


def noise_on_the_threshold_alone(database, rng):
    threshold = 1 + rng.laplace()
    return tuple(database.count(category) >= threshold for category in range(4))


def keys_from_the_data(database, rng):
    return tuple((key, database.count(key) + rng.laplace()) for key in sorted(set(database)))


def nan_becomes_zero(database, rng):
    total = sum(min(max(x, 0.0), 1.0) if x == x else x for x in database)
    return (0.0 if math.isnan(total) else total) + rng.laplace()


def releases_from(cut):
    """Return a mechanism that releases every noisy key count of at least `cut`.

    Its δ is Pr[1 + noise ≥ cut].
    """

    def release(database, rng):
        noisy = ((key, database.count(key) + two_sided_geometric(rng)) for key in sorted(set(database)))
        return tuple((key, value) for key, value in noisy if value >= cut)

    return release


def histogram(database, rng):
    return np.bincount(database, minlength=3) + rng.laplace(size=3)


def randomized_label(database, rng):
    """Return the features unchanged, with each label kept with probability e/(e + 2).

    This is private if neighbours differ in one label.
    """
    e = math.e
    flip = lambda label: (label + rng.integers(1, 3)) % 3  # noqa: E731
    return tuple((x, label if rng.random() < e / (e + 2) else int(flip(label))) for x, label in database)


@dataclass(frozen=True)
class Case:
    mechanism: Any
    pair: tuple[Any, Any]
    relation: str
    claim: Any
    runs: int
    event: tuple[float, float] = (1.0, 0.0)  # p and q of an event that shows the fault


PURE = PureDP(1.0)
RELEASE = ApproximateDP(1.0, KEEP**5 / (1 + KEEP))  # δ is exact for a cut of 6
ABOVE_MIDDLE = (1 - math.exp(-2.5) / 2, math.exp(-2.5) / 2)
FAULTY = {
    "frequency noise on counts": Case(
        frequency_noise_on_counts, ([0] * 10, [1] + [0] * 9), "replace-one", PURE, 2_000, ABOVE_MIDDLE
    ),
    "sensitivity of one bound": Case(
        sensitivity_of_one_bound,
        ([0.0, 1.0, 1.0], [3.0, 1.0, 1.0]),
        "replace-one",
        PURE,
        2_000,
        (1 - math.exp(-4.5) / 2, math.exp(-4.5) / 2),
    ),
    "scale from the data": Case(
        scale_from_the_data, ([5.0, 5.0, 5.0], [5.0, 5.0, 9.0]), "replace-one", PURE, 2_000
    ),
    "wrapping sum": Case(
        wrapping_sum,
        ([100, 27], [100, 27, 1]),
        "add-or-remove-one",
        PURE,
        2_800,
        (1 - math.exp(-1.27) / 2, math.exp(-1.27) / 2),
    ),
    "one draw for two cells": Case(
        one_draw_for_two_cells, ([0, 0, 1], [0, 1, 1]), "replace-one", PURE, 2_000
    ),
    "noise on the threshold alone": Case(
        noise_on_the_threshold_alone, ([0], [1]), "replace-one", PURE, 2_000, (0.5, 0.0)
    ),
    "keys from the data": Case(keys_from_the_data, (["a"], ["a", "b"]), "add-or-remove-one", PURE, 2_000),
    "NaN becomes zero": Case(
        nan_becomes_zero, ([1.0] * 20, [math.nan] + [1.0] * 19), "replace-one", PURE, 2_000
    ),
    "a cut one too low": Case(
        releases_from(5), ([], ["k"]), "add-or-remove-one", RELEASE, 30_000, (KEEP**4 / (1 + KEEP), 0.0)
    ),
}
CONTROLS = {
    "histogram": Case(histogram, ([0, 1, 2], [0, 1, 2, 2]), "add-or-remove-one", PURE, 4_000),
    "saturating sum": Case(saturating_sum, ([], [100]), "add-or-remove-one", PURE, 4_000),
    "release above 5": Case(releases_from(6), ([], ["k"]), "add-or-remove-one", RELEASE, 4_000),
    "randomized label": Case(
        randomized_label, ([("x", 0), ("y", 2)], [("x", 1), ("y", 2)]), "replace-label", PURE, 4_000
    ),
}


def audit(case, **options):
    return audit_privacy(
        case.mechanism, case.claim, relation=case.relation, pairs=[case.pair], budget=case.runs, **options
    )


@pytest.mark.parametrize("name", FAULTY)
def test_a_published_fault_is_refuted_and_its_witness_confirmed(name):
    case = FAULTY[name]
    result = audit(case)
    assert result.verdict is Verdict.REFUTED
    assert result.samples_to_refutation <= case.runs
    assert result.witness.confirmed
    assert result.epsilon_lower > case.claim.epsilon


@pytest.mark.parametrize("name", FAULTY)
def test_the_runs_allowed_are_near_the_limit_of_any_auditor(name):
    """Each case may use at most 60,000 runs, and at most 2,000 plus 2.5 times its limit.

    The limit is the runs that the best auditor needs if it bets on the event of the case.
    """
    case = FAULTY[name]
    growth = best_log_growth(*case.event, case.claim.epsilon, case.claim.delta)
    assert case.runs <= min(60_000, 2_000 + 2.5 * 2 * math.log(1e6) / growth)


@pytest.mark.parametrize("name", CONTROLS)
def test_a_control_is_not_refuted(name):
    result = audit(CONTROLS[name])
    assert result.verdict is Verdict.NOT_REFUTED
    assert result.epsilon_lower <= 1.0


def test_low_bits_reveal_the_count_only_if_floats_are_attacked():
    """Inverse-CDF Laplace is private as real numbers and leaks as floats (Mironov, 2012)."""

    def textbook(database, rng):
        sign = 1.0 if rng.random() < 0.5 else -1.0
        return len(database) + sign * math.log(1.0 - rng.random())

    case = Case(textbook, ([], [1]), "add-or-remove-one", PURE, 4_000)
    assert audit(case).verdict is Verdict.NOT_REFUTED
    found = audit(case, numerics="float")
    assert found.verdict is Verdict.REFUTED
    assert "bit" in found.witness.event.words()
