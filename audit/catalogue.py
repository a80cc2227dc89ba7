"""The named subjects that installed packages offer."""

import fnmatch
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType, ModuleType
from typing import Any, Literal, TypeAlias

from audit.entry_points import by_name, offered
from audit.errors import AuditError, InvalidValue
from audit.options import Kind, taken
from audit.values.nearest import near

__all__ = ["GROUP", "Entry", "Formulas", "Later", "TextLaw", "load_catalogue", "matching_entries"]

GROUP = "dp_audit.catalogue"
Expected = Literal["refuted", "not refuted"]


class Later(Mapping[str, Any]):
    """A mapping of keywords to values that is computed when first read.

    Use it if the `options` or `utility` of an `Entry` take long to compute. Looking up an entry by name does
    not compute them.

    Examples
    --------
    >>> dict(Later(lambda: {"budget": 5_000}))
    {'budget': 5000}
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        self._made = functools.cache(make)

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


TextLaw: TypeAlias = Mapping[Any, float] | Callable[[float], float] | Sequence[Callable[[float], float]]
"""The law of an output: a dict from outcome to log-probability, the distribution function of a number, or a
list of the distribution functions of the coordinates of a vector."""


@dataclass(frozen=True, kw_only=True)
class Formulas:
    """What the source text says about a subject.

    An audit of the subject's catalogue entry compares these statements with the code.

    Parameters
    ----------
    epsilon
        The largest privacy loss at the claimed delta over *all* neighbouring databases; None if it is not
        known. The loss that the audit finds must not exceed it. It may lie below by `reach` at most.
    delta
        The largest delta at the claimed epsilon over all neighbouring databases; None if it is not known.
    source
        How `epsilon` and `delta` were obtained: "a closed form", or a text on hill climbing from some number
        of starts.
    reach
        The fraction by which the loss found on the entry's pairs may lie below `epsilon`. The same holds for
        the delta. It is 0.05, or more if every pair of the entry lies further below.
    law
        Takes a database and returns the law of the output, a `TextLaw`; None if no formula is known.
    databases
        The databases on which the laws are compared.
    calls
        Number of outputs in each comparison with the law. Outputs of `sample` are compared on each of the
        databases, outputs of single calls on the first one. Without `sample`, outputs of single calls are
        compared on each.
    numbers
        Other quantities: a dict from the name of each to the code's value and the formula's value.
    rounding
        Relative difference allowed between the two values in `numbers`: larger if the code finds its value by
        a search.

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
    source: str = "a closed form"
    reach: float = 0.05
    law: Callable[[Any], TextLaw] | None = None
    databases: Sequence[Any] = ()
    calls: int = 0
    numbers: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rounding: float = 1e-6

    def __post_init__(self) -> None:
        if (self.law is None) != (len(self.databases) == 0) or (self.calls and self.law is None):
            raise InvalidValue("The `law` of `Formulas` goes with `databases`, and `calls` with a `law`.")


@dataclass(frozen=True)
class Entry:
    """A named subject, and how it is audited.

    Parameters
    ----------
    name
        The name on the command line, unique in the catalogue: ``laplace``, ``laplace-half-noise``.
    factory
        Builds the subject. If it is a class, the command line can set its keywords (``--set epsilon=0.5``).
    options
        Keywords of `audit_privacy` for this entry (``records``, ``size``, ``pairs``, …; ``claim`` if the
        subject has none). Empty if none are needed. None if privacy is not audited, because the subject does
        not claim it. Use `Later` for keywords that take long to compute.
    expected
        ``"not refuted"``, or ``"refuted"`` for a subject that is wrong on purpose.
    utility
        Keywords of `audit_utility` for this entry. They may be empty if the subject has `utility_claim` and
        `problems()`. None if utility is not audited.
    utility_expected
        Like `expected`, for the utility claim.
    formulas
        Takes the subject and returns what its source text says about it (`Formulas`). This is computed
        without the subject's code. If the code differs from these statements, the result is not as expected.
    long
        The kinds of audit of this entry that take longer than ten seconds. ``dp-audit suite`` carries them
        out only with ``--full``, or if its pattern matches the entry.
    reference
        The document and the statement that the subject implements, or that its flaw violates.
    summary
        One line for ``dp-audit list``.

    Raises
    ------
    InvalidValue
        Neither privacy nor utility is audited.

    Examples
    --------
    >>> entry = Entry("always-zero", lambda: (lambda database: 0), summary="answers 0")
    >>> entry.expected, entry.factory()([1, 2])
    ('not refuted', 0)
    """

    name: str
    factory: Callable[..., Any]
    _: KW_ONLY
    options: Mapping[str, Any] | None = field(default_factory=lambda: MappingProxyType({}))
    expected: Expected = "not refuted"
    utility: Mapping[str, Any] | None = None
    utility_expected: Expected = "not refuted"
    formulas: Callable[[Any], Formulas] | None = None
    long: Sequence[Kind] = ()
    reference: str = ""
    summary: str = ""

    def __post_init__(self) -> None:
        if not self.audits:
            raise InvalidValue(
                f"The entry `{self.name}` audits nothing: `options` and `utility` are both None; give one."
            )

    @property
    def audits(self) -> list[Kind]:
        """The kinds of audit of this entry, privacy first."""
        asked: dict[Kind, Any] = {"privacy": self.options, "utility": self.utility}
        return [kind for kind, options in asked.items() if options is not None]

    @property
    def flaws(self) -> list[Kind]:
        """The kinds of audit that must refute the claim, because it is wrong."""
        return [kind for kind in self.audits if self.expects(kind) == "refuted"]

    def expects(self, kind: Kind) -> Expected:
        """Return the expected outcome of an audit of this kind."""
        return self.expected if kind == "privacy" else self.utility_expected

    def options_for(self, kind: Kind) -> dict[str, Any]:
        """Return the keyword arguments of an audit of this kind.

        A utility audit takes all keywords in `utility`. From `options` it takes those that mean the same in
        both kinds of audit, except `budget`.

        Examples
        --------
        >>> entry = Entry("n", lambda: len, options={"budget": 9, "convert": str}, utility={"seed": 1})
        >>> entry.options_for("utility")
        {'convert': <class 'str'>, 'seed': 1}
        """
        options = taken(kind, self.options or {})
        if kind == "privacy":
            return options
        options.pop("budget", None)  # a budget that suits a privacy audit need not suit a utility audit
        return {**options, **(self.utility or {})}


def load_catalogue() -> list[Entry]:
    """Return every entry that installed distributions offer.

    Each entry point of the group ``dp_audit.catalogue`` names a package or module. The package and every
    module below it offer their entries as module variables: ``entry`` (an `Entry`) and ``entries`` (a
    sequence of them). The entries are ordered by the names of entry points and modules.

    Raises
    ------
    AuditError
        A module cannot be imported, or a module of the same name shadows it. Or ``entry`` or ``entries`` is
        of another kind. Or two entries have the same name.

    Examples
    --------
    >>> isinstance(load_catalogue(), list)
    True
    """
    offers = offered(GROUP, what="catalogue", make=_entries_of)
    named = ((entry.name, entry) for offer in offers for entry in offer)
    return list(by_name(named, what="in the catalogue").values())


def _entries_of(offer: Any) -> list[Entry]:
    """Return the entries of a package or module. An entry that several modules hold counts once."""
    if not isinstance(offer, ModuleType):
        raise AuditError(
            "it must be a package or module whose modules hold an `entry` or `entries`; "
            f"got {type(offer).__name__}"
        )
    found = {id(entry): entry for module in _modules(offer) for entry in _held(module)}
    return list(found.values())


def _modules(module: ModuleType) -> Iterator[ModuleType]:
    """Yield a module and those below it. ``__main__`` is left out, since importing it would run a command."""
    yield module
    for name in sorted(each.name for each in iter_modules(getattr(module, "__path__", ()))):
        if name == "__main__":
            continue
        below = f"{module.__name__}.{name}"
        try:
            held = import_module(below)
        except (Exception, SystemExit) as error:
            raise AuditError(f"`{below}`: {type(error).__name__}: {error}") from error
        yield from _modules(held)


def _held(module: ModuleType) -> list[Entry]:
    # a submodule may be called `entry` or `entries`
    held = {name: value for name, value in vars(module).items() if not isinstance(value, ModuleType)}
    one, several = held.get("entry"), held.get("entries", ())
    if one is not None and not isinstance(one, Entry):
        raise AuditError(f"the `entry` of `{module.__name__}` must be an Entry; got {type(one).__name__}")
    if not isinstance(several, Sequence) or not all(isinstance(each, Entry) for each in several):
        raise AuditError(
            f"the `entries` of `{module.__name__}` must be a tuple of Entry; got {type(several).__name__}"
        )
    return [*([] if one is None else [one]), *several]


def matching_entries(pattern: str | None) -> list[Entry]:
    """Return the entries whose names fit a pattern.

    If an entry has exactly this name, return it alone. Otherwise return the entries whose names contain or
    match the pattern (``*``, ``?``). Without a pattern, return all entries.

    Raises
    ------
    AuditError
        No name matches; the message suggests similar names.

    Examples
    --------
    >>> matching_entries("no-such-name")
    Traceback (most recent call last):
    audit.errors.AuditError: No name in the catalogue matches `no-such-name`; `dp-audit list` shows all names.
    """
    entries = load_catalogue()
    if pattern is None:
        return entries
    named = [entry for entry in entries if entry.name == pattern]
    found = named or [
        entry for entry in entries if pattern in entry.name or fnmatch.fnmatchcase(entry.name, pattern)
    ]
    if not found:
        otherwise = "; `dp-audit list` shows all names."
        meant = near(pattern, (entry.name for entry in entries), otherwise=otherwise)
        raise AuditError(f"No name in the catalogue matches `{pattern}`{meant}")
    return found
