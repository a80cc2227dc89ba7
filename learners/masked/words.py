"""Words of bits as whole numbers, first bit heaviest."""

from __future__ import annotations

from typing import Any

import numpy as np

from audit.errors import InvalidValue, positive_int

__all__ = ["bit", "check_dimension", "numbers", "parity", "signs"]


def bit(values: Any, place: Any, *, dimension: int) -> Any:
    """Return the bit at `place` of words, elementwise.

    Examples
    --------
    >>> bit(np.array([0, 1, 2, 3]), 0, dimension=2).tolist()
    [0, 0, 1, 1]
    """
    return values >> (dimension - 1 - place) & 1


def numbers(bits: Any) -> Any:
    """Return the number of each row of bits, first bit heaviest.

    Examples
    --------
    >>> numbers(np.array([[1, 0, 1], [0, 1, 0]])).tolist()
    [5, 2]
    """
    return np.asarray(bits, dtype=np.int64) @ (1 << np.arange(np.shape(bits)[1], dtype=np.int64)[::-1])


def parity(left: Any, right: Any) -> Any:
    """Return inner products modulo 2 of words, elementwise.

    Examples
    --------
    >>> parity(np.arange(4), 3).tolist()
    [0, 1, 1, 0]
    """
    folded = np.asarray(left, dtype=np.int64) & np.asarray(right, dtype=np.int64)
    for shift in (32, 16, 8, 4, 2, 1):
        folded = folded ^ folded >> shift
    return folded & 1


def signs(bits: Any) -> Any:
    """Return (−1)^bit, elementwise.

    Examples
    --------
    >>> signs(np.array([0, 1])).tolist()
    [1, -1]
    """
    return 1 - 2 * bits


def check_dimension(dimension: Any, *, owner: str) -> int:
    """Return d if it is a power of two, else raise.

    Raises
    ------
    InvalidValue
        d is not a power of two. The index of a coordinate must be a word of log₂ d bits.

    Examples
    --------
    >>> check_dimension(3, owner="MaskedParityLearner")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `dimension` of `MaskedParityLearner` must be a power of two; got 3.
    """
    value = positive_int(dimension, what=f"The `dimension` of `{owner}`")
    if value & (value - 1):
        raise InvalidValue(f"The `dimension` of `{owner}` must be a power of two; got {value}.")
    return value
