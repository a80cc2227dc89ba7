"""Conversion of numbers to arrays of floats."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["floats"]


def floats(values: Any, *, what: str) -> NDArray[np.float64]:
    """Return numbers as an array of floats.

    Parameters
    ----------
    values
        Real numbers of any type, with booleans but without text.
    what
        The name of the values in messages: ``"The records of `LaplaceMean`"``.

    Raises
    ------
    InvalidKind
        A value is not a real number, or the sequence is ragged.

    Examples
    --------
    >>> floats([1, 2.5], what="The records")
    array([1. , 2.5])
    >>> floats([1, "2"], what="The records")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The records must be real numbers; got [1, '2'].
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf" or (array.dtype.kind == "O" and _all_real(array)):
            return array.astype(np.float64)
    except (ValueError, OverflowError):  # ragged, or an integer beyond every float
        pass
    raise InvalidKind(f"{what} must be real numbers; got {values!r:.60}.")


def _all_real(array: NDArray[Any]) -> bool:
    return all(isinstance(value, Real) for value in array.ravel().tolist())
