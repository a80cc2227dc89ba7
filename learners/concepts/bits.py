"""Sequences of all tuples of bits of a given length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.values.brief import show

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["BitWords", "bit_matrix", "bits_of", "number_of"]


@dataclass(frozen=True)
class BitWords(Sequence[tuple[int, ...]]):
    """All tuples of `length` bits, in the order of their numbers.

    The first bit is the highest.

    Examples
    --------
    >>> words = BitWords(3)
    >>> words[1], words[-1], words.count_all, (0, 1, 0) in words
    ((0, 0, 1), (1, 1, 1), 8, True)
    """

    length: int

    def __post_init__(self) -> None:
        positive_int(self.length, what="The `length` of `BitWords`", minimum=0)

    @property
    def count_all(self) -> int:
        """How many words there are; `len` fails from 2^63 on."""
        return 1 << self.length

    def __len__(self) -> int:
        return self.count_all

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[int, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, ...] | list[tuple[int, ...]]:
        """Return the word, or the words of a slice."""
        places = range(self.count_all)[index]
        if isinstance(places, range):
            return [bits_of(place, self.length) for place in places]
        return bits_of(places, self.length)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, tuple) and len(word) == self.length and all(bit in (0, 1) for bit in word)


def bits_of(number: int, length: int) -> tuple[int, ...]:
    """Return the bits of a number, highest bit first.

    Examples
    --------
    >>> bits_of(6, 4)
    (0, 1, 1, 0)
    """
    return tuple(number >> place & 1 for place in range(length - 1, -1, -1))


def number_of(bits: Sequence[int]) -> int:
    """Return the number of some bits, highest bit first.

    Examples
    --------
    >>> number_of((0, 1, 1, 0))
    6
    """
    number = 0
    for bit in bits:
        number = 2 * number + int(bit)
    return number


def bit_matrix(points: Sequence[Any], *, length: int, owner: str) -> NDArray[np.bool_]:
    """Return words of bits as booleans, shape (points, length).

    Raises
    ------
    InvalidValue
        A point is not `length` zeros and ones.

    Examples
    --------
    >>> bit_matrix([(0, 1), (1, 1)], length=2, owner="ParityClass").astype(int).tolist()
    [[0, 1], [1, 1]]
    """
    if isinstance(points, np.ndarray) and points.dtype == np.bool_ and points.shape[1:] == (length,):
        return points
    if len(points) == 0:
        return np.zeros((0, length), dtype=np.bool_)
    try:
        matrix = np.asarray(points)
    except ValueError:  # the points differ in length
        matrix = np.empty((0, 0))
    plain = matrix.dtype.kind in "biuf" and matrix.shape == (len(points), length)
    if not plain or not ((matrix == 0) | (matrix == 1)).all():
        wrong = next((point for point in points if not _are_bits(point, length)), points)
        raise InvalidValue(f"A point of `{owner}` must be {length} bits (zeros and ones); got {show(wrong)}.")
    return matrix.astype(np.bool_)


def _are_bits(point: Any, length: int) -> bool:
    try:
        return len(point) == length and all(bit in (0, 1) for bit in point)
    except (TypeError, ValueError):
        return False
