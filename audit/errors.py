"""What goes wrong on purpose: the errors that users see, one line each, and the checks that raise them."""

import math
import numbers
from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from audit.values.brief import show

__all__ = [
    "AuditError",
    "CorruptFile",
    "InvalidKind",
    "InvalidValue",
    "NoTruth",
    "NothingVaries",
    "SubjectError",
    "finite_number",
    "flag",
    "positive_int",
    "probability",
]


class AuditError(Exception):
    """An error that the toolkit raises on purpose; its text is one line, whatever went into it.

    Examples
    --------
    >>> str(AuditError("from another library:" + chr(10) + "no such file"))
    'from another library: no such file'
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().split())


class CorruptFile(AuditError):  # noqa: N818 - named by what is wrong, as in a sentence
    """A saved value cannot be read; the text says what is wrong and where.

    Examples
    --------
    >>> from audit.codec.decoding import decode
    >>> decode({"$": "bytes", "hex": "zz"}, where="result.witness.left")
    Traceback (most recent call last):
    audit.errors.CorruptFile: result.witness.left is not a valid "bytes": non-hexadecimal number found ...
    """


class InvalidValue(AuditError, ValueError):  # noqa: N818  says what is wrong, as a word of the public vocabulary
    """An argument of the right kind whose value cannot be used.

    Examples
    --------
    >>> issubclass(InvalidValue, ValueError)
    True
    """


class InvalidKind(AuditError, TypeError):  # noqa: N818  says what is wrong, as a word of the public vocabulary
    """An argument of the wrong kind.

    Examples
    --------
    >>> issubclass(InvalidKind, TypeError)
    True
    """


class NoTruth:
    """A value whose `bool` raises `InvalidKind`, with what to write instead.

    Examples
    --------
    >>> class Result(NoTruth):
    ...     _instead = "`result.verdict`"
    >>> assert Result()
    Traceback (most recent call last):
    audit.errors.InvalidKind: A `Result` has no truth value; use `result.verdict`.
    """

    _instead: ClassVar[str]

    def __bool__(self) -> NoReturn:
        raise InvalidKind(f"A `{type(self).__name__}` has no truth value; use {self._instead}.")


class SubjectError(AuditError):
    """The subject cannot be audited: its signature, its law or its domain stands in the way.

    Examples
    --------
    >>> issubclass(SubjectError, AuditError)
    True
    """


class NothingVaries(UserWarning):
    """What pytest is warned of: an audit whose runs all gave one output.

    Examples
    --------
    >>> issubclass(NothingVaries, UserWarning)
    True
    """


def finite_number(
    value: Any,
    *,
    what: str,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a float, or refuse what is not a finite number within the bounds.

    Parameters
    ----------
    value
        What the user gave. Booleans and text are not numbers.
    what
        Names the argument and its owner: ``"The `epsilon` of `PureDP`"``.
    minimum, maximum
        Bounds that the number may meet.
    above, below
        Bounds that the number may not meet.

    Raises
    ------
    InvalidKind
        `value` is not a real number.
    InvalidValue
        It is NaN, infinite or out of bounds.

    Examples
    --------
    >>> finite_number(2, what="The `scale`", above=0)
    2.0
    >>> finite_number(-1, what="The `epsilon` of `PureDP`", minimum=0)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `epsilon` of `PureDP` must be a finite number ≥ 0; got -1.
    """

    def wanted() -> str:
        bounds = {"≥": minimum, "≤": maximum, ">": above, "<": below}
        words = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds.items() if bound is not None)
        return f"{what} must be a finite number {words}".rstrip()

    number = _as_float(value, wanted)
    inside = (
        math.isfinite(number)
        and (minimum is None or number >= minimum)
        and (maximum is None or number <= maximum)
        and (above is None or number > above)
        and (below is None or number < below)
    )
    if not inside:
        raise InvalidValue(f"{wanted()}; got {show(value)}.")
    return number


def probability(value: Any, *, what: str, zero: bool = True, one: bool = True) -> float:
    """Return `value` as a float in [0, 1], or refuse it.

    Parameters
    ----------
    value
        What the user gave.
    what
        Names the argument and its owner.
    zero, one
        Whether the ends of the interval are allowed.

    Raises
    ------
    InvalidKind
        `value` is not a real number.
    InvalidValue
        It is NaN or out of bounds.

    Examples
    --------
    >>> probability(0.5, what="The `beta` of `PAC`")
    0.5
    >>> probability(1, what="The `delta` of `ApproximateDP`", one=False)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `delta` of `ApproximateDP` must be a number in [0, 1); got 1.
    """

    def wanted() -> str:
        return f"{what} must be a number in {'[' if zero else '('}0, 1{']' if one else ')'}"

    number = _as_float(value, wanted)
    above_zero = number >= 0 if zero else number > 0
    below_one = number <= 1 if one else number < 1
    if not (above_zero and below_one):
        raise InvalidValue(f"{wanted()}; got {show(value)}.")
    return number


def positive_int(value: Any, *, what: str, minimum: int = 1, maximum: int | None = None) -> int:
    """Return `value` as an int of at least `minimum` (1 unless told), or refuse it.

    Parameters
    ----------
    value
        What the user gave: an int or a numpy integer, not a float.
    what
        Names the argument and its owner.
    minimum, maximum
        Bounds that the number may meet.

    Raises
    ------
    InvalidKind
        `value` is not a whole number by kind.
    InvalidValue
        It is out of bounds.

    Examples
    --------
    >>> positive_int(3, what="The `size`")
    3
    >>> positive_int(0, what="The `budget`")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `budget` must be a whole number ≥ 1; got 0.
    """
    wanted = f"{what} must be a whole number ≥ {minimum}" + ("" if maximum is None else f" and ≤ {maximum}")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidKind(f"{wanted}; got {show(value)}.")
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        raise InvalidValue(f"{wanted}; got {show(value)}.")
    return number


def flag(value: Any, *, what: str) -> bool:
    """Return `value` if it is True or False, or refuse it: to Python the text ``"false"`` is true.

    Parameters
    ----------
    value
        What the user gave. Numbers are no flags.
    what
        Names the argument and its owner.

    Raises
    ------
    InvalidKind
        `value` is not a bool.

    Examples
    --------
    >>> flag(False, what="The `tight`")
    False
    >>> flag("no", what="The `tight` of `ParityLearner`")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `tight` of `ParityLearner` must be True or False; got 'no'.
    """
    if not isinstance(value, bool):
        raise InvalidKind(f"{what} must be True or False; got {show(value)}.")
    return value


def _as_float(value: Any, wanted: Callable[[], str]) -> float:
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidKind(f"{wanted()}; got {show(value)}.")
    try:
        return float(value)
    except OverflowError:
        raise InvalidValue(f"{wanted()}; got {show(value)}.") from None
