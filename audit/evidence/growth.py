"""Rank events by an estimate of the growth of a bet on them."""

import numpy as np

from audit.distributions.law import Flags, Floats

#: Larger: the wealth is spread over more events. Approximate maximum number of events bet on at once.
MOST_EVENTS = 48
#: Events among the best at one of these multiples of the claimed ε are kept. Bounds need multiples above 1.
_SCALES = (0.5, 0.75, 0.9, 1.0, 1.15, 1.5, 2.0, 3.0, 5.0)
#: Indices into `_SCALES`, nearest to the claim first.
NEAREST_LEVELS = [3, 4, 2, 5, 1, 6, 0, 7, 8]


def growth_rate(p: Floats, q: Floats, epsilon: float | Floats, delta: float) -> Floats:
    """Return an estimate of the best log growth per pair of runs, to rank events."""
    ratio = np.exp(np.minimum(epsilon, 300.0))  # so that its square is finite
    excess = p - ratio * q - delta
    spread = p * (1 - p) + ratio**2 * q * (1 - q)
    return np.asarray(0.5 * excess * np.abs(excess) / (spread + excess**2))


def levels_of(epsilon: float) -> Floats:
    """Return the values of ε, around the claimed one, at which events are ranked."""
    scales = np.array(_SCALES) * (epsilon if epsilon > 0 else 0.05)
    return np.concatenate([[epsilon], scales]) if epsilon == 0 else scales


def best_events(promise: Floats) -> Flags:
    """Return which events have the largest growth at some level of ε."""
    kept = np.zeros(promise.shape[1], dtype=bool)
    if promise.shape[1] <= MOST_EVENTS:
        return ~kept
    each = max(2, MOST_EVENTS // len(promise))
    kept[np.argsort(-promise, axis=1, kind="stable")[:, :each]] = True
    return kept
