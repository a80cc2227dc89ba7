"""Neighbouring samples with a large loss for learners of parities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learners.parity.examples import BitExamples

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["telling_pairs"]


def telling_pairs(
    dimension: int, size: int, *, places: tuple[int, ...] = (0,)
) -> list[tuple[BitExamples, BitExamples]]:
    """Return samples that differ in the label of one example.

    Parameters
    ----------
    dimension
        d, the length of x.
    size
        n, the number of examples.
    places
        The indices of the examples whose label is flipped. Kind (ii) gives one pair for each index. Kinds (i)
        and (iii) use only the first index.

    Notes
    -----
    (i) All x but one are 0, with label 0. Only the remaining example reveals a bit of r. So the loss is
    exactly A's largest loss, ln((1 + p)/(1 − p)).

    (ii) Uniform x are labelled by a parity, and one label is flipped. "⊥" becomes more likely by a factor of
    up to 1 + p.

    (iii) Uniform x have random labels. Hardly any choice of examples agrees with a parity.

    Examples
    --------
    >>> alone, consistent, random = telling_pairs(3, 5)
    >>> list(alone[0])[:2], list(alone[1])[:2]
    ([((1, 0, 0), 1), ((0, 0, 0), 0)], [((1, 0, 0), 0), ((0, 0, 0), 0)])
    """
    rng = np.random.default_rng(0)
    points = rng.integers(0, 2, (size, dimension)).astype(np.bool_)
    zeros = np.zeros((size, dimension), dtype=np.bool_)
    zeros[places[0], 0] = True
    parity = points @ rng.integers(0, 2, dimension) % 2 == 1
    coins = rng.integers(0, 2, size).astype(np.bool_)
    return [
        _turned(zeros, zeros[:, 0], places[0]),
        *(_turned(points, parity, place) for place in places),
        _turned(points, coins, places[0]),
    ]


def _turned(
    points: NDArray[np.bool_], labels: NDArray[np.bool_], place: int
) -> tuple[BitExamples, BitExamples]:
    other = labels.copy()
    other[place] = not other[place]
    return BitExamples(points, labels), BitExamples(points, other)
