"""The largest distance from a simulated law to the true law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from audit.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["events", "product_of_laws", "statistical_distance", "tilted", "worst_distance", "worst_values"]

_MOST_OUTCOMES = 16


def statistical_distance(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    """Return half the L1 distance of two laws on the same outcomes.

    Examples
    --------
    >>> statistical_distance(np.array([0.5, 0.5]), np.array([0.75, 0.25]))
    0.25
    """
    return float(np.abs(left - right).sum()) / 2.0


def tilted(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights divided by their sum.

    Examples
    --------
    >>> tilted(np.array([1.0, 3.0]))
    array([0.25, 0.75])
    """
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def events(outcomes: int) -> NDArray[np.float64]:
    """Return all events on this many outcomes, as rows of zeros and ones.

    Examples
    --------
    >>> events(2)
    array([[0., 0.],
           [1., 0.],
           [0., 1.],
           [1., 1.]])
    """
    if outcomes > _MOST_OUTCOMES:
        raise InvalidValue(f"Events are listed for at most {_MOST_OUTCOMES} outcomes; got {outcomes}.")
    bits = np.arange(2**outcomes)[:, None] >> np.arange(outcomes) & 1
    chosen: NDArray[np.float64] = bits.astype(np.float64)
    return chosen


def worst_values(
    values: NDArray[np.float64], *, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the greatest mean of `values` under weights between two bounds.

    Parameters
    ----------
    values
        Of shape (cases, outcomes).
    low, high
        Bounds of the unnormalised weights, of shape (outcomes,).

    Guarantee
    ---------
    Exact. For weights w and values v, Σ w·v/Σ w rises with weights of values above it, and falls with weights
    of values below it. So the best weights are `high` on some outcomes of largest value and `low` on the
    rest. Every such split is tried.

    Examples
    --------
    >>> worst_values(np.array([[1.0, 0.0]]), low=np.array([0.25, 0.25]), high=np.array([0.75, 0.75]))
    array([0.75])
    """
    order = np.argsort(-values, axis=1, kind="stable")
    ranked, least, most = np.take_along_axis(values, order, axis=1), low[order], high[order]
    splits = [
        np.concatenate([most[:, :count], least[:, count:]], axis=1) for count in range(values.shape[1] + 1)
    ]
    best = np.full(len(values), -np.inf)
    for weights in splits:
        total = weights.sum(axis=1)
        mean = np.divide((weights * ranked).sum(axis=1), total, out=best.copy(), where=total > 0.0)
        best = np.maximum(best, mean)
    return best


def worst_distance(
    truth: NDArray[np.float64], *, low: NDArray[np.float64], high: NDArray[np.float64]
) -> float:
    """Return the greatest statistical distance from `truth` to weights within bounds.

    Examples
    --------
    >>> worst_distance(np.array([0.5, 0.5]), low=np.array([0.25, 0.25]), high=np.array([0.75, 0.75]))
    0.25
    """
    chosen = events(len(truth))
    return float((worst_values(chosen, low=low, high=high) - chosen @ truth).max())


def product_of_laws(laws: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the joint law of independent outcomes.

    The last outcome varies fastest.

    Examples
    --------
    >>> product_of_laws([np.array([0.5, 0.5]), np.array([1.0])])
    array([0.5, 0.5])
    """
    joint = np.ones(1)
    for law in laws:
        joint = np.outer(joint, law).ravel()
    return joint
