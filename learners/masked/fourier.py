"""Means of statistical queries about MASKED-PARITY (K11 equation (7)).

The mean E[g] on the concept c_{r,a} is a constant C_g, plus a part that depends on r alone, plus (−1)^a times
a part that depends on r. One Walsh transform gives the last part for all 2^d words r.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from learners.masked.words import bit, signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Parts", "Pointwise", "Split", "split", "walsh"]


class Pointwise(Protocol):
    """A query whose value can be computed at every record."""

    @property
    def dimension(self) -> int:
        """The length d of the words x."""

    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values at the records ((x, i, b), y).

        Words x are given as numbers.
        """


class Parts(NamedTuple):
    """The mean of a query on c_{r,a}, split as in K11 equation (7).

    Parameters
    ----------
    constant
        C_g, the same for all concepts.
    masked
        ⟨f⁰_g, c⁰_{r,0}⟩, added if a = 0 and subtracted if a = 1.
    shown
        ⟨f¹_g, c¹_r⟩, the part that depends on r alone.

    Examples
    --------
    >>> Parts(0.25, -0.25, 0.0).expectation(1), Parts(0.25, -0.25, 0.0).blind
    (0.5, 0.25)
    """

    constant: Any
    masked: Any
    shown: Any

    @property
    def blind(self) -> Any:
        """The part of the mean that does not depend on `a`."""
        return self.constant + self.shown

    def expectation(self, a: Any) -> Any:
        """Return the mean over uniform examples of the concept with this `a`."""
        return self.blind + signs(a) * self.masked


def walsh(values: Any) -> NDArray[np.float64]:
    """Return the Walsh coefficients of a function, one for every word r.

    They are E_x[f(x)·(−1)^⟨r, x⟩] with x uniform.

    Parameters
    ----------
    values
        f on the words 0 … 2^d − 1, shape (2^d,).

    Examples
    --------
    >>> walsh(np.array([1.0, 1.0, 1.0, -1.0])).tolist()
    [0.5, 0.5, 0.5, -0.5]
    """
    table = np.array(values, dtype=np.float64)
    step = 1
    while step < len(table):
        pairs = table.reshape(-1, 2, step)
        table = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return np.asarray(table / len(table))


@dataclass(frozen=True, eq=False)
class Split:
    """The three parts of a query's mean, on every concept.

    Parameters
    ----------
    constant
        C_g, the part that does not depend on the concept.
    masked
        ⟨f⁰_g, c⁰_{r,0}⟩ for every r, shape (2^d,).
    bits
        The weight of (−1)^{r_j} in ⟨f¹_g, c¹⟩ for every j, shape (d,).

    Examples
    --------
    >>> from learners.masked.queries import MaskQuery
    >>> split(MaskQuery(2, 3)).masked.tolist()
    [0.0, 0.0, 0.0, -0.25]
    """

    constant: float
    masked: NDArray[np.float64]
    bits: NDArray[np.float64]

    def parts(self, r: Any) -> Parts:
        """Return the three parts of the query's mean at a word r, or at many words."""
        words, dimension = np.asarray(r), len(self.bits)
        shown = signs(bit(words[..., None], np.arange(dimension), dimension=dimension)) * self.bits
        return Parts(self.constant, self.masked[words], shown.sum(axis=-1))


@lru_cache(maxsize=64)
def split(query: Pointwise) -> Split:
    """Return the parts of a query's mean, from all points.

    Examples
    --------
    >>> from learners.masked.queries import BitQuery
    >>> split(BitQuery(2, 0)).bits.tolist()
    [-0.125, 0.0]
    """
    dimension = query.dimension
    x = np.arange(2**dimension)
    constant, masked, bits = 0.0, np.zeros(2**dimension), np.zeros(dimension)
    for place in range(dimension):
        for b in (0, 1):
            plus, minus = (np.broadcast_to(query.on(x, place, b, y), x.shape) for y in (1, -1))
            constant += float((plus + minus).mean()) / 2
            if b:
                bits[place] = float((plus - minus).mean()) / 2
            else:
                masked += (plus - minus) / 2
    parts = 2 * dimension
    return Split(constant / parts, walsh(masked) / parts, bits / parts)
