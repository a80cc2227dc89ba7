"""The options of an audit, each defined once.

Each has a default, a check, and a help text for the user interfaces.
"""

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any, Literal

from audit.errors import Parameter, check_fields, finite_number, flag, positive_int, probability
from audit.values.brief import show

_Check = Callable[..., Any]
"""A check: (value, what=`Parameter`) -> the value to use. It raises errors like the checks of
`audit.errors`."""


def _option(default: Any, check: _Check, said: str = "", metavar: str | None = None) -> Any:
    return field(default=default, metadata={"check": check, "help": said, "metavar": metavar})


def _seconds(value: Any, *, what: Parameter) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 < float(value) < math.inf:
        raise what.wrong(f"must be a positive number of seconds; got {show(value)}.")
    return value if isinstance(value, int) else float(value)  # 30 stays 30, not 30.0


def _error_rate(value: Any, *, what: Parameter) -> float:
    return finite_number(probability(value, what=what, zero=False, one=False), what=what, minimum=1e-300)


def _or_none(check: _Check) -> _Check:
    return lambda value, *, what: None if value is None else check(value, what=what)


@dataclass(frozen=True)
class OneOf:
    """The check that an option is one of a few words."""

    words: tuple[str, ...]

    def __call__(self, value: Any, *, what: Parameter) -> Any:
        """Return the value; raise `InvalidValue` unless it is one of the words."""
        if value not in self.words:
            words = " or ".join(f'"{word}"' for word in self.words)
            raise what.wrong(f"must be {words}; got {show(value)}.")
        return value


@dataclass(frozen=True, kw_only=True)
class Options:
    """The checked options of one audit. `audit_privacy` describes each.

    Raises
    ------
    InvalidValue, InvalidKind
        An option is invalid; the error's `parameter` names it.

    Examples
    --------
    >>> Options(budget=1000).significance
    1e-06
    >>> Options(budget=0)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `budget` must be a whole number ≥ 1; got 0.
    """

    numerics: str = _option(
        "ideal", OneOf(("ideal", "float")), "float: also attack the low bits of the outputs."
    )
    until: str = _option(
        "refuted", OneOf(("refuted", "budget")), "budget: spend the whole budget, for tighter bounds."
    )
    budget: int = _option(
        200_000,
        positive_int,
        "Maximum runs of the mechanism, on both databases, search included; confirmation comes on top.",
        "N",
    )
    confirm_budget: int | None = _option(
        None, _or_none(partial(positive_int, minimum=4)), "Maximum runs to confirm a refutation.", "N"
    )
    time_limit: float | None = _option(
        None,
        _or_none(_seconds),
        "Time limit for one audit. The number of runs then depends on the machine.",
        "SECONDS",
    )
    run_time_limit: float = _option(10.0, _seconds, "Time limit for one run.", "SECONDS")
    isolate: bool = _option(default=False, check=flag)
    recorded: bool = _option(
        True,  # noqa: FBT003  positional like the other defaults
        flag,
        "Rank pairs, and explain a refutation, by runs whose draws are recorded (the default), or do not.",
    )
    unfinished: str = _option(
        "against",
        OneOf(("against", "output")),
        "How unfinished runs count: against the refutation, or as an output.",
    )
    significance: float = _option(1e-6, _error_rate, "Maximum probability of refuting a claim that holds.")
    seed: int = _option(
        0,
        partial(positive_int, minimum=0, maximum=None),
        "Random seed. It fixes the result if the subject draws from `rng` and no time limit ends the audit.",
        "N",
    )
    jobs: int = _option(1, positive_int, "Number of worker processes. It does not change the result.", "N")

    def __post_init__(self) -> None:
        check_fields(self)


def words_of(name: str) -> str:
    """Return the help text of an option for a command line. The text ends with the default.

    Examples
    --------
    >>> words_of("significance")
    'Maximum probability of refuting a claim that holds.  [default: 1e-6]'
    """
    option = Options.__dataclass_fields__[name]
    default = option.default
    if default is None or isinstance(default, bool):  # the name of a switch shows its default
        return str(option.metadata["help"])
    written = "" if isinstance(default, str) else "," if isinstance(default, int) else "g"
    shown = f"{default:{written}}".replace("e-0", "e-")
    return f"{option.metadata['help']}  [default: {shown}]"


Kind = Literal["privacy", "utility"]
"""The kind of claim that an audit tests."""

_PRIVACY_ALONE = {"numerics", "until", "confirm_budget", "recorded"}
OF_BOTH = frozenset(each.name for each in fields(Options)) - _PRIVACY_ALONE
_OF_UTILITY = OF_BOTH | {"convert", "fresh", "name", "progress", "exact", "problems"}


def taken(kind: Kind, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that an audit of this kind takes.

    A utility audit drops those of privacy audits.

    Examples
    --------
    >>> taken("privacy", {"size": 3}), taken("utility", {"size": 3, "exact": False, "until": "budget"})
    ({'size': 3}, {'exact': False, 'until': 'budget'})
    """
    if kind == "privacy":
        return dict(options)
    kept = {name: value for name, value in options.items() if name in _OF_UTILITY}
    return {**kept, "until": "budget"} if options.get("until") == "budget" else kept
