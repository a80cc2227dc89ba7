"""What a text makes of a subject, by formulas that are written apart from its code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from audit.errors import InvalidValue

__all__ = ["Formulas", "TextLaw"]

TextLaw: TypeAlias = Mapping[Any, float] | Callable[[float], float] | Sequence[Callable[[float], float]]
"""A law: log-probabilities by outcome; or the distribution function of a number, or of each coordinate."""


@dataclass(frozen=True, kw_only=True)
class Formulas:
    """What a subject *is* by its text; an audit of its catalogue entry compares the code with each part.

    Parameters
    ----------
    epsilon
        The largest loss at the claimed delta over *all* neighbouring databases; None if no formula is known.
        The audit has to find it within `reach`, and nothing above it.
    delta
        The largest delta at the claimed epsilon over all of them; None as for `epsilon`.
    reach
        How far below these two the worst pair of the entry's databases may lie, as a share: 0.05, or more for
        an entry whose databases cannot come closer.
    law
        Takes a database and returns the law of the output, a `TextLaw`; None if no formula is known.
    databases
        Where the laws are compared.
    calls
        How many outputs are compared with the law: of calls on the first of them, of `sample` on each; of
        calls on each for a subject without `sample`.
    numbers
        Other quantities, by what they are: the code's and the formula's.
    rounding
        How far these two may lie apart, as a share: more where the code's is found by a search.

    Raises
    ------
    InvalidValue
        A law without databases, or calls without a law.

    Examples
    --------
    >>> Formulas(epsilon=1.0, numbers={"scale": (2.0, 2.0)}).reach
    0.05
    """

    epsilon: float | None = None
    delta: float | None = None
    reach: float = 0.05
    law: Callable[[Any], TextLaw] | None = None
    databases: Sequence[Any] = ()
    calls: int = 0
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rounding: float = 1e-6

    def __post_init__(self) -> None:
        if (self.law is None) != (len(self.databases) == 0) or (self.calls and self.law is None):
            raise InvalidValue("The `law` of `Formulas` goes with `databases`, and `calls` with a `law`.")
