"""The errors that users see, and the checks that raise them."""

import math
import numbers
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    "whole_numbers",
]


@dataclass(frozen=True)
class Parameter:
    """An argument named in a message.

    Parameters
    ----------
    name
        The keyword.
    of
        The class that the argument belongs to, if the message names it.
    example
        The argument as written in a call, if the message shows that.

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

    def wrong(self, *said: object, kind: "type[AuditError] | None" = None) -> "AuditError":
        """Return an error whose message is "The `name`", then `said`."""
        return (kind or InvalidValue)("The ", self, " ", *said)


class AuditError(Exception):
    """An error that the toolkit raises on purpose. Its text is always one line.

    Parameters
    ----------
    *parts
        Texts, and a `Parameter` for each argument named.

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
        """The name of the first argument in the message, or None if it names no argument."""
        return next((part.name for part in self.args if isinstance(part, Parameter)), None)

    def spelt(self, spell: Callable[[Parameter], str]) -> str:
        """Return the message with each argument as `spell` writes it."""
        parts = (spell(part) if isinstance(part, Parameter) else str(part) for part in self.args)
        return " ".join("".join(parts).split())

    def __str__(self) -> str:
        return self.spelt(str)


class CorruptFile(AuditError):  # noqa: N818 - named by what is wrong, as in a sentence
    """A saved value cannot be read.

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
    """An argument of the wrong kind."""


class NoTruth:
    """Base of values whose `bool` raises an error that says what to write.

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
    """The subject cannot be audited."""


@contextmanager
def blamed(*said: object, passing: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn an error of the user's code inside the block into a `SubjectError`.

    Raises
    ------
    SubjectError
        The message is `said`, then the class and the text of the error. Errors of the `passing` classes stay
        as they are.

    Examples
    --------
    >>> with blamed("`problems()` failed"):
    ...     [][0]
    Traceback (most recent call last):
    audit.errors.SubjectError: `problems()` failed: IndexError: list index out of range
    """
    try:
        yield
    except passing:
        raise
    except Exception as error:
        raise SubjectError(*said, f": {type(error).__name__}: {error}") from error


class NothingVaries(UserWarning):
    """The warning in pytest that all runs of an audit gave the same output."""


def finite_number(
    value: Any,
    *,
    what: str | Parameter,
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Return `value` as a float, a finite number within the bounds.

    Parameters
    ----------
    value
        What the user gave. Booleans and text are not numbers.
    what
        The argument and its owner in the message: ``"The `epsilon` of `PureDP`"``, or a `Parameter`.
    minimum, maximum, above, below
        Bounds: the first two are inclusive, the last two exclusive.

    Raises
    ------
    InvalidKind
        `value` is not a real number.
    InvalidValue
        `value` is NaN, infinite or out of bounds.

    Examples
    --------
    >>> finite_number(2, what="The `scale`", above=0)
    2.0
    >>> finite_number(-1, what="The `epsilon` of `PureDP`", minimum=0)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `epsilon` of `PureDP` must be a finite number ≥ 0; got -1.
    """

    def is_inside(number: float) -> bool:
        return (
            math.isfinite(number)
            and (minimum is None or number >= minimum)
            and (maximum is None or number <= maximum)
            and (above is None or number > above)
            and (below is None or number < below)
        )

    if type(value) is float and is_inside(value):  # at once, for the same reason as in `positive_int`
        return value

    def wanted() -> str:
        signs = (("≥", minimum), ("≤", maximum), (">", above), ("<", below))
        bounds = " and ".join(f"{sign} {bound:g}" for sign, bound in signs if bound is not None)
        return f"a finite number {bounds}".rstrip()

    return _number(value, what, wanted, is_inside)


def probability(value: Any, *, what: str | Parameter, zero: bool = True, one: bool = True) -> float:
    """Return `value` as a float in [0, 1].

    Parameters
    ----------
    value, what
        As for `finite_number`.
    zero, one
        Whether the ends of the interval are allowed.

    Raises
    ------
    InvalidKind
        `value` is not a real number.
    InvalidValue
        `value` is NaN or out of bounds.

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


MOST_COUNTED = sys.maxsize
"""The largest number of records, bits, categories or rounds; no list and no array can have more."""


def positive_int(
    value: Any, *, what: str | Parameter, minimum: int = 1, maximum: int | None = MOST_COUNTED
) -> int:
    """Return `value` as an int, a whole number within the bounds.

    Parameters
    ----------
    value
        What the user gave: an int or a numpy integer, not a float.
    what
        As for `finite_number`.
    minimum, maximum
        Inclusive bounds. The default maximum is the largest possible length of a list, 2^63 − 1 on most
        machines. None allows a number of any size.

    Raises
    ------
    InvalidKind
        `value` is not of an integer type.
    InvalidValue
        `value` is out of bounds.

    Examples
    --------
    >>> positive_int(3, what="The `size`")
    3
    >>> positive_int(0, what="The `budget`")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `budget` must be a whole number ≥ 1; got 0.
    """
    # subjects check numbers in every run, and `type` answers faster than an abstract class
    is_whole = type(value) is int or (isinstance(value, numbers.Integral) and not isinstance(value, bool))
    if is_whole and value >= minimum and (maximum is None or value <= maximum):
        return int(value)
    counts = maximum == MOST_COUNTED and not (is_whole and value > MOST_COUNTED)
    wanted = f"a whole number ≥ {minimum}" + ("" if maximum is None or counts else f" and ≤ {maximum}")
    raise must_be(InvalidValue if is_whole else InvalidKind, what, wanted, value)


def whole_numbers(values: Any, *, what: str | Parameter, maximum: int | None = MOST_COUNTED) -> list[int]:
    """Return a list, tuple, range or array as a list of ints in [0, maximum].

    Raises
    ------
    InvalidKind
        `values` is a text, a number or a mapping. Or a member is not a whole number.
    InvalidValue
        A member is out of bounds.

    Examples
    --------
    >>> whole_numbers(range(3), what="The `points`")
    [0, 1, 2]
    >>> whole_numbers(3, what="The `points`")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `points` must be a list of whole numbers; got 3.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise must_be(InvalidKind, what, "a list of whole numbers", values)
    return [positive_int(each, what=f"A member of {what}", minimum=0, maximum=maximum) for each in values]


def flag(value: Any, *, what: str | Parameter) -> bool:
    """Return `value`, which is True or False.

    Parameters
    ----------
    value, what
        As for `finite_number`. Numbers and texts are not flags.

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
        raise must_be(InvalidKind, what, "True or False", value)
    return value


def check_word(value: Any, words: Any, *, what: str) -> None:
    """Raise an error if a value is not one of the words of a `Literal`.

    Examples
    --------
    >>> from typing import Literal
    >>> check_word("c", Literal["a", "b"], what="The `letter` of a `Word`")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `letter` of a `Word` must be one of a, b; got 'c'.
    """
    if not isinstance(value, str) or value not in get_args(words):
        named = ", ".join(word or "an empty text" for word in get_args(words))
        raise InvalidValue(f"{what} must be one of {named}; got {value!r:.40}.")


def check_fields(made: Any, *, of: str = "") -> None:
    """Replace each field of a frozen dataclass by what its ``check`` returns."""
    for each in fields(made):
        value = each.metadata["check"](getattr(made, each.name), what=Parameter(each.name, of=of))
        object.__setattr__(made, each.name, value)


def must_be(kind: type[AuditError], what: str | Parameter, wanted: str, value: Any) -> AuditError:
    """Return the error for an argument that is not what `wanted` says."""
    said = f"must be {wanted}; got {show(value)}."
    return what.wrong(said, kind=kind) if isinstance(what, Parameter) else kind(f"{what} {said}")


def _number(
    value: Any, what: str | Parameter, wanted: Callable[[], str], is_inside: Callable[[float], bool]
) -> float:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, numbers.Real)):
        raise must_be(InvalidKind, what, wanted(), value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not is_inside(number):
        raise must_be(InvalidValue, what, wanted(), value)
    return number
