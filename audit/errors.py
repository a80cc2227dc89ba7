"""The errors that users see, and the checks that raise them. Every message is one line."""

import math
import numbers
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NoReturn, get_args

from audit.values.brief import show

__all__ = [
    "AuditError",
    "CorruptFile",
    "InvalidKind",
    "InvalidValue",
    "NoTruth",
    "NothingVaries",
    "Parameter",
    "SubjectError",
    "blamed",
    "check_fields",
    "check_word",
    "finite_number",
    "flag",
    "positive_int",
    "probability",
]


@dataclass(frozen=True)
class Parameter:
    """An argument that a message is about. Each way in spells it as its users write it.

    Parameters
    ----------
    name
        The keyword.
    of
        The class that it is an argument of, where the message has to say so.
    example
        How a call writes it, where the message shows that.

    Examples
    --------
    >>> print(Parameter("budget"), Parameter("beta", of="PAC"), Parameter("pairs", example="pairs=[(a, b)]"))
    `budget` `beta` of `PAC` `pairs=[(a, b)]`
    """

    name: str
    of: str = ""
    example: str = ""

    def __str__(self) -> str:
        return f"`{self.example or self.name}`" + (f" of `{self.of}`" if self.of else "")


class AuditError(Exception):
    """An error that the toolkit raises on purpose; its text is one line, whatever went into it.

    Parameters
    ----------
    *parts
        The message: texts, and each argument that it is about as a `Parameter`.

    Examples
    --------
    >>> str(AuditError("from another library:" + chr(10) + "no such file"))
    'from another library: no such file'
    >>> error = AuditError("The ", Parameter("budget"), " must be a whole number.")
    >>> error.parameter, error.spelt(lambda parameter: f"--{parameter.name}")
    ('budget', 'The --budget must be a whole number.')
    """

    def __init__(self, *parts: object) -> None:
        super().__init__(*parts)

    @property
    def parameter(self) -> str | None:
        """The name of the first argument that the message is about; None if it is about none."""
        return next((part.name for part in self.args if isinstance(part, Parameter)), None)

    def spelt(self, spell: Callable[[Parameter], str]) -> str:
        """Return the message with each argument as `spell` writes it."""
        parts = (spell(part) if isinstance(part, Parameter) else str(part) for part in self.args)
        return " ".join("".join(parts).split())

    def __str__(self) -> str:
        return self.spelt(str)


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


@contextmanager
def blamed(*said: object) -> Iterator[None]:
    """Say of what a user's own code raises inside the block which part of the subject failed.

    Raises
    ------
    SubjectError
        `said`, and after it the kind and the words of the error. Errors of ours are blamed too.

    Examples
    --------
    >>> with blamed("`problems()` failed"):
    ...     [][0]
    Traceback (most recent call last):
    audit.errors.SubjectError: `problems()` failed: IndexError: list index out of range
    """
    try:
        yield
    except Exception as error:
        raise SubjectError(*said, f": {type(error).__name__}: {error}") from error


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
    what: str | Parameter,
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
        Names the argument and its owner: ``"The `epsilon` of `PureDP`"``, or a `Parameter`.
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
        return f"a finite number {words}".rstrip()

    def is_inside(number: float) -> bool:
        return (
            math.isfinite(number)
            and (minimum is None or number >= minimum)
            and (maximum is None or number <= maximum)
            and (above is None or number > above)
            and (below is None or number < below)
        )

    return _number(value, what, wanted, is_inside)


def probability(value: Any, *, what: str | Parameter, zero: bool = True, one: bool = True) -> float:
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
        return f"a number in {'[' if zero else '('}0, 1{']' if one else ')'}"

    def is_inside(number: float) -> bool:
        return 0 < number < 1 or (zero and number == 0) or (one and number == 1)

    return _number(value, what, wanted, is_inside)


def positive_int(value: Any, *, what: str | Parameter, minimum: int = 1, maximum: int | None = None) -> int:
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
    wanted = f"a whole number ≥ {minimum}" + ("" if maximum is None else f" and ≤ {maximum}")
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise _refusal(InvalidKind, what, wanted, value)
    number = int(value)
    if number < minimum or (maximum is not None and number > maximum):
        raise _refusal(InvalidValue, what, wanted, value)
    return number


def flag(value: Any, *, what: str | Parameter) -> bool:
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
        raise _refusal(InvalidKind, what, "True or False", value)
    return value


def check_word(value: Any, words: Any, *, what: str) -> None:
    """Refuse a value that is not one of the words of a `Literal`.

    Examples
    --------
    >>> from typing import Literal
    >>> check_word("c", Literal["a", "b"], what="The `letter` of a `Word`")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `letter` of a `Word` must be one of a, b; got 'c'.
    """
    if value not in get_args(words):
        named = ", ".join(word or "an empty text" for word in get_args(words))
        raise InvalidValue(f"{what} must be one of {named}; got {value!r:.40}.")


def check_fields(made: Any, *, of: str = "") -> None:
    """Put in the place of each field of a frozen dataclass what the ``check`` in its metadata makes of it."""
    for each in fields(made):
        value = each.metadata["check"](getattr(made, each.name), what=Parameter(each.name, of=of))
        object.__setattr__(made, each.name, value)


def _refusal(kind: type[AuditError], what: str | Parameter, wanted: str, value: Any) -> AuditError:
    named = ("The ", what) if isinstance(what, Parameter) else (what,)
    return kind(*named, f" must be {wanted}; got {show(value)}.")


def _number(
    value: Any, what: str | Parameter, wanted: Callable[[], str], is_inside: Callable[[float], bool]
) -> float:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
        raise _refusal(InvalidKind, what, wanted(), value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not is_inside(number):
        raise _refusal(InvalidValue, what, wanted(), value)
    return number
