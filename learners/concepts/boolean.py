"""Classes over words of bits: PARITY, MASKED-PARITY and monotone conjunctions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.values.brief import show
from learners.concepts.base import ConceptClass
from learners.concepts.bits import BitWords, bit_matrix, bits_of, number_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ConjunctionClass", "MaskedParityClass", "ParityClass"]


@dataclass(frozen=True)
class _OnBits(ConceptClass):
    """A class whose points and concepts are words of `dimension` bits."""

    dimension: int

    def __post_init__(self) -> None:
        positive_int(self.dimension, what=f"The `dimension` of `{type(self).__name__}`")

    @property
    def concepts(self) -> Sequence[tuple[int, ...]]:
        """Every word of `dimension` bits."""
        return BitWords(self.dimension)

    @property
    def domain(self) -> Sequence[tuple[int, ...]]:
        """Every word of `dimension` bits."""
        return BitWords(self.dimension)

    def vc_dimension(self) -> int:
        """Return `dimension`, the most that 2^dimension concepts allow.

        Parities shatter the unit vectors, and conjunctions shatter their complements.
        """
        return self.dimension

    def _matrix(self, points: Sequence[Any]) -> NDArray[np.bool_]:
        return bit_matrix(points, length=self.dimension, owner=type(self).__name__)

    def _both(self, points: Sequence[Any] | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        concepts = self._matrix(self.listed_concepts())
        return concepts, concepts if points is None else self._matrix(points)


@dataclass(frozen=True)
class ParityClass(_OnBits):
    """The class PARITY (K08 §3.2, K11 §4).

    Concept r labels x with ⟨r, x⟩ modulo 2.

    Examples
    --------
    >>> parity = ParityClass(3)
    >>> parity.label((1, 0, 1), (1, 1, 1)), parity.label((1, 0, 1), (1, 1, 0)), parity.size
    (0, 1, 8)
    """

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return the inner products modulo 2."""
        agree = self._matrix(points) & self._matrix([concept])
        return np.asarray(np.logical_xor.reduce(agree, axis=1), dtype=np.bool_)

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return the inner products of every r with some points."""
        return _odd(*self._both(points))


@dataclass(frozen=True)
class ConjunctionClass(_OnBits):
    """The monotone conjunctions (B Theorem 5).

    A concept is a word of bits, 1 for each variable of the conjunction. It is true at x if all of these
    variables are 1 in x. The word (0, …, 0) is always true.

    Examples
    --------
    >>> both = ConjunctionClass(3)
    >>> both.label((1, 1, 0), (1, 1, 0)), both.label((1, 1, 0), (1, 0, 1))
    (1, 0)
    """

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each point whether the conjunction is true."""
        return np.asarray(~(self._matrix([concept]) & ~self._matrix(points)).any(axis=1))

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return whether each conjunction is true at each point."""
        concepts, matrix = self._both(points)
        return np.asarray(_products(concepts, ~matrix) == 0)


@dataclass(frozen=True)
class MaskedParityClass(ConceptClass):
    """The class MASKED-PARITY of K11 §5.3.

    A point is a word of d + log2(d) + 1 bits: x, then i in log2(d) bits, then b. Place 0 is the first bit of
    r. A concept (r, a) labels the point with (−1)^(⟨r,x⟩+a) if b = 0, and with (−1)^(r_i) if b = 1. The
    labels are 1 and −1, in this order.

    Parameters
    ----------
    dimension
        d, a power of two.

    Examples
    --------
    >>> masked = MaskedParityClass(2)
    >>> masked.label(((1, 0), 1), (1, 1, 0, 0)), masked.label(((1, 0), 1), (0, 0, 0, 1)), masked.length
    (1, -1, 4)
    """

    dimension: int
    labels: ClassVar[tuple[int, int]] = (1, -1)

    def __post_init__(self) -> None:
        positive_int(self.dimension, what="The `dimension` of `MaskedParityClass`")
        if self.dimension & (self.dimension - 1):
            raise InvalidValue(
                f"The `dimension` of `MaskedParityClass` must be a power of two; got {self.dimension}."
            )

    @property
    def length(self) -> int:
        """The number of bits of a point."""
        return self.dimension + self.dimension.bit_length()

    @property
    def concepts(self) -> Sequence[Any]:
        """Every (r, a), where `a` varies fastest."""
        return _Masked(self.dimension)

    @property
    def domain(self) -> Sequence[tuple[int, ...]]:
        """Every word of `length` bits."""
        return BitWords(self.length)

    def says(self, concept: Any, points: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each point whether the concept labels it −1."""
        word, mask = concept
        row = bit_matrix([word], length=self.dimension, owner="MaskedParityClass")
        return np.asarray(self._rows(row, np.array([bool(mask)]), points)[0])

    def table(self, points: Sequence[Any] | None = None) -> NDArray[np.bool_]:
        """Return whether each concept labels each point −1."""
        points = self.listed_domain() if points is None else points
        self.listed_concepts()
        words = bit_matrix(BitWords(self.dimension), length=self.dimension, owner="MaskedParityClass")
        return self._rows(words.repeat(2, axis=0), np.tile([False, True], len(words)), points)

    def vc_dimension(self) -> int:
        """Return d + 1.

        The points (0, i, 1) and (0, 0, 0) are shattered, and there are 2^(d+1) concepts.
        """
        return self.dimension + 1

    def _rows(
        self, words: NDArray[np.bool_], masks: NDArray[np.bool_], points: Sequence[Any]
    ) -> NDArray[np.bool_]:
        matrix = bit_matrix(points, length=self.length, owner="MaskedParityClass")
        inputs, index, shows = matrix[:, : self.dimension], matrix[:, self.dimension : -1], matrix[:, -1]
        place = index.astype(np.intp) @ (1 << np.arange(index.shape[1])[::-1])
        return np.where(shows, words[:, place], _odd(words, inputs) ^ masks[:, None])


@dataclass(frozen=True)
class _Masked(Sequence[Any]):
    """The sequence of all concepts (r, a)."""

    dimension: int

    @property
    def count_all(self) -> int:
        return 2 << self.dimension

    def __len__(self) -> int:
        return self.count_all

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        places = range(self.count_all)[index]
        if isinstance(places, range):
            return [self._one(place) for place in places]
        return self._one(places)

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        try:
            word, mask = value
            place = 2 * number_of(word) + int(mask)
            if self[place] == (tuple(word), mask) and place >= start and (stop is None or place < stop):
                return place
        except (TypeError, ValueError, IndexError):
            pass
        raise ValueError(f"{show(value)} is no concept of MASKED-PARITY")

    def _one(self, place: int) -> tuple[tuple[int, ...], int]:
        return bits_of(place >> 1, self.dimension), place & 1


def _odd(words: NDArray[np.bool_], points: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return inner products modulo 2, shape (words, points)."""
    return np.asarray(_products(words, points) % 2 == 1)


def _products(words: NDArray[np.bool_], points: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return exact inner products of whole numbers below 2^24."""
    return words.astype(np.float32) @ points.T.astype(np.float32)
