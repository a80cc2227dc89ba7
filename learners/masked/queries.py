"""The statistical queries about MASKED-PARITY, with values and means."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from learners.concepts.bits import bit_matrix
from learners.finite.listed import spread
from learners.masked.fourier import Parts, split
from learners.masked.words import bit, numbers, parity, signs
from mechanisms.queries import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["BentQuery", "BitQuery", "MaskQuery", "MaskedQuery", "ParityQuery", "bent"]


@dataclass(frozen=True)
class MaskedQuery(ABC):
    """A query g about a record ((x, i, b), y), where x has d bits and y = ±1.

    A subclass must define `on`. It may define `parts` in closed form. The default `parts` uses a Walsh
    transform of the whole domain, which is possible for d up to about 16.

    Examples
    --------
    >>> query = BitQuery(2, 0)
    >>> query(((1, 1, 0, 1), -1)), query.many([((1, 1, 1, 1), -1)]).tolist()
    (1.0, [0.0])
    """

    dimension: int
    low: ClassVar[float] = 0.0
    boolean: ClassVar[bool] = True

    @abstractmethod
    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values at the records ((x, i, b), y).

        Words x are given as numbers.
        """

    def parts(self, r: int) -> Parts:
        """Return the parts of the mean on the concepts c_{r,0} and c_{r,1}."""
        return split(self).parts(r)

    def __call__(self, record: Any) -> float:
        """Return the value at one record."""
        return float(self.many([record])[0])

    def many(self, records: Sequence[Any]) -> NDArray[np.float64]:
        """Return the values at many records, of shape (n,)."""
        return spread(self._each, records)

    def _each(self, records: Sequence[Any]) -> NDArray[np.float64]:
        length = self.dimension + self.dimension.bit_length()
        points = bit_matrix([point for point, _ in records], length=length, owner=type(self).__name__)
        x, i = numbers(points[:, : self.dimension]), numbers(points[:, self.dimension : -1])
        labels = np.array([label for _, label in records])
        values = self.on(x, i, points[:, -1].astype(np.int64), labels)
        return np.broadcast_to(values, len(records)).astype(np.float64)

    def asked(self, tau: float) -> StatisticalQuery:
        """Return the query with a tolerance."""
        return StatisticalQuery(self, tau, low=self.low, boolean=self.boolean, vectorised=self.many)


@dataclass(frozen=True)
class BitQuery(MaskedQuery):
    """The query for bit j of r (K11 §5.3.1, step 1).

    It is (i = j) ∧ (b = 1) ∧ (y = −1). Its mean is r_j/(2d).

    Examples
    --------
    >>> BitQuery(2, 1).parts(1).expectation(0), BitQuery(2, 1).parts(2).expectation(0)
    (0.25, 0.0)
    """

    place: int

    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values."""
        del x
        return np.asarray((np.asarray(i) == self.place) & (np.asarray(b) == 1) & (np.asarray(y) == -1), float)

    def parts(self, r: int) -> Parts:
        """Return the parts of the mean, (1/4d, 0, −(−1)^{r_j}/4d)."""
        share = 0.25 / self.dimension
        return Parts(share, 0.0, -share * signs(bit(r, self.place, dimension=self.dimension)))


@dataclass(frozen=True)
class MaskQuery(MaskedQuery):
    """The query for `a`, given a guess of r (K11 §5.3.1, step 2).

    It is (b = 0) ∧ (y ≠ (−1)^⟨word, x⟩). Its mean is a/2 if `word` is r.

    Examples
    --------
    >>> MaskQuery(2, 3).parts(3).expectation(1), MaskQuery(2, 3).parts(1).expectation(1)
    (0.5, 0.25)
    """

    word: int

    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values."""
        del i
        return np.asarray((np.asarray(b) == 0) & (np.asarray(y) != signs(parity(x, self.word))), float)

    def parts(self, r: int) -> Parts:
        """Return the parts of the mean.

        They are (1/4, −1/4, 0) if r is `word`, else (1/4, 0, 0).
        """
        return Parts(0.25, -0.25 if r == self.word else 0.0, 0.0)


@dataclass(frozen=True)
class ParityQuery(MaskedQuery):
    """The query for the parity of `word`.

    It is y·(−1)^⟨word, x⟩ if b = 0, else 0. Its mean is (−1)^a/2 if r is `word`, else 0.

    Examples
    --------
    >>> ParityQuery(2, 1).parts(1).expectation(1)
    -0.5
    """

    word: int
    low: ClassVar[float] = -1.0
    boolean: ClassVar[bool] = False

    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values."""
        del i
        return np.asarray(np.where(np.asarray(b) == 0, y * signs(parity(x, self.word)), 0), float)

    def parts(self, r: int) -> Parts:
        """Return the parts of the mean.

        They are (0, 1/2, 0) if r is `word`, else (0, 0, 0).
        """
        return Parts(0.0, 0.5 if r == self.word else 0.0, 0.0)


@dataclass(frozen=True)
class BentQuery(MaskedQuery):
    """The query for `a` that needs no guess of r.

    It is y·h(x) if b = 0, else 1, where h(x) = (−1)^⟨first half of x, second half of x⟩.

    Guarantee
    ---------
    Let ĥ(r) be the Walsh coefficient of h at r. E[g] = 1/2 + (−1)^a·ĥ(r)/2 and |ĥ(r)| = 2^(−d/2) for *every*
    r (Parseval with equality). Once r is known, the answer determines a. The query does not use r, so it can
    be asked before r is known (`learners.masked.BentLearner`).

    Examples
    --------
    >>> BentQuery(4).parts(9).expectation(0), BentQuery(4).parts(9).expectation(1)
    (0.625, 0.375)
    """

    low: ClassVar[float] = -1.0

    def on(self, x: Any, i: Any, b: Any, y: Any) -> NDArray[np.float64]:
        """Return the values."""
        del i
        return np.asarray(np.where(np.asarray(b) == 0, y * bent(x, dimension=self.dimension), 1), float)

    def parts(self, r: int) -> Parts:
        """Return the parts of the mean, (1/2, ĥ(r)/2, 0) with ĥ(r) = 2^(−d/2)·h(r)."""
        coefficient = float(bent(r, dimension=self.dimension)) * 2.0 ** (-self.dimension / 2)
        return Parts(0.5, coefficient / 2.0, 0.0)


def bent(x: Any, *, dimension: int) -> Any:
    """Return the bent function (−1)^⟨first half, second half⟩ of words.

    Words are given as numbers. The function is its own Walsh transform up to the factor 2^(−d/2). In
    E_{u,v}[(−1)^(⟨u,v⟩ + ⟨s,u⟩ + ⟨t,v⟩)] the mean over u is 1 if v = s and otherwise 0, which leaves
    2^(−d/2)·(−1)^⟨s,t⟩.

    Examples
    --------
    >>> bent(np.arange(4), dimension=2).tolist()
    [1, 1, 1, -1]
    """
    half = dimension // 2
    values = np.asarray(x, dtype=np.int64)
    return signs(parity(values & (1 << half) - 1, values >> half))
