"""Outcomes of a run other than an ordinary output."""

import re
from dataclasses import dataclass
from typing import Self

_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")


def without_addresses(text: str) -> str:
    """Return a text without memory addresses.

    Examples
    --------
    >>> without_addresses("<Model object at 0x7f3a5c0d2e10>")
    '<Model object>'
    """
    return _ADDRESS.sub("at 0x…", text).replace(" at 0x…", "")


@dataclass(frozen=True, slots=True)
class Raised:
    """The outcome of a run that raised an ordinary exception.

    It counts as an output like any other.

    Parameters
    ----------
    kind
        Name of the exception's class.
    message
        The exception's text, without memory addresses.

    Examples
    --------
    >>> print(Raised.of(ValueError("empty database")))
    raised ValueError: empty database
    """

    kind: str
    message: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Return the outcome for an exception. The text of the exception may be unreadable.

        Examples
        --------
        >>> Raised.of(KeyError("age"))
        Raised(kind='KeyError', message="'age'")
        """
        try:
            message = without_addresses(str(error))
        except Exception as failure:  # noqa: BLE001  an exception's own __str__ may raise anything
            message = f"(its text cannot be read: {type(failure).__name__})"
        return cls(type(error).__name__, message)

    def __str__(self) -> str:
        return f"raised {self.kind}" + (f": {self.message}" if self.message else "")


@dataclass(frozen=True, slots=True)
class Unfinished:
    """The outcome of a run without output.

    The run exceeded its time limit, its process died, or memory ran out.

    Parameters
    ----------
    reason
        Why there is no output, in a few words.

    Examples
    --------
    >>> print(Unfinished("time limit of 10 s"))
    unfinished: time limit of 10 s
    """

    reason: str

    def __str__(self) -> str:
        return f"unfinished: {self.reason}"


@dataclass(frozen=True)
class Opaque:
    """The class and the text of an output that could not be sent to another process.

    Examples
    --------
    >>> Opaque("generator", "<generator object>").kind
    'generator'
    """

    kind: str
    text: str


def is_refusal(output: object) -> bool:
    """Return whether an output is no answer.

    None, an exception and a missing output are no answers.

    Examples
    --------
    >>> is_refusal(None), is_refusal(Raised("BudgetSpent")), is_refusal(0.0)
    (True, True, False)
    """
    return output is None or type(output) in (Raised, Unfinished)
