"""The catalogue: named subjects of every installed distribution that offers some."""

from __future__ import annotations

import fnmatch
from collections import Counter
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from audit.entry_points import offered
from audit.errors import AuditError, InvalidValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["GROUP", "Entry", "load_catalogue", "matching_entries"]

GROUP = "dp_audit.catalogue"


@dataclass(frozen=True)
class Entry:
    """A subject with a name, what is known of it, and how it is audited.

    Parameters
    ----------
    name
        Unique in the catalogue, as written on the command line: ``laplace``, ``laplace-half-noise``.
    factory
        Builds the subject. A class whose keywords are the subject's parameters lets the command line set
        them (``--set epsilon=0.5``).
    options
        Keywords of `audit_privacy` that this entry needs (``records``, ``size``, ``pairs``, …; ``claim``
        for a factory whose subject carries none), empty where it needs none; None for an entry whose privacy
        is not audited, because it claims none.
    expected
        ``"not refuted"``, or ``"refuted"`` for an entry of the flawed gallery.
    utility
        Keywords of `audit_utility` that this entry needs, empty for a subject with `utility_claim` and
        `problems()` that needs none; None for an entry whose utility is not audited.
    utility_expected
        The same as `expected`, of the utility claim.
    reference
        The document and statement that the subject implements, or that the flaw breaks.
    summary
        One line for ``dp-audit list``.

    Raises
    ------
    InvalidValue
        Neither privacy nor utility is to be audited.

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
    expected: Literal["refuted", "not refuted"] = "not refuted"
    utility: Mapping[str, Any] | None = None
    utility_expected: Literal["refuted", "not refuted"] = "not refuted"
    reference: str = ""
    summary: str = ""

    def __post_init__(self) -> None:
        if not self.audits:
            raise InvalidValue(
                f"The entry `{self.name}` audits nothing: `options` and `utility` are both None; give one."
            )

    @property
    def audits(self) -> list[Literal["privacy", "utility"]]:
        """What is audited, in this order."""
        asked: dict[Literal["privacy", "utility"], Any] = {"privacy": self.options, "utility": self.utility}
        return [kind for kind, options in asked.items() if options is not None]

    @property
    def flaws(self) -> list[Literal["privacy", "utility"]]:
        """The claims that are wrong: their audits have to refute."""
        expected = {"privacy": self.expected, "utility": self.utility_expected}
        return [kind for kind in self.audits if expected[kind] == "refuted"]


def load_catalogue() -> list[Entry]:
    """Return every entry offered by the installed distributions, in the order of their names and their own.

    Each entry point of the group ``dp_audit.catalogue`` resolves to a callable without arguments that returns
    a list of `Entry`.

    Raises
    ------
    AuditError
        An entry point does not import or is shadowed by a module of the same name, or two entries share
        a name.

    Examples
    --------
    >>> isinstance(load_catalogue(), list)
    True
    """
    entries = [entry for offer in offered(GROUP, what="catalogue", make=list) for entry in offer]
    twice = [name for name, times in Counter(entry.name for entry in entries).items() if times > 1]
    if twice:
        raise AuditError(f"Names in the catalogue must be unique; got `{twice[0]}` more than once.")
    return entries


def matching_entries(pattern: str | None) -> list[Entry]:
    """Return the entries whose names contain or match `pattern` (``*``, ``?``); all of them without one.

    Raises
    ------
    AuditError
        There is none.

    Examples
    --------
    >>> matching_entries("no-such-name")
    Traceback (most recent call last):
    audit.errors.AuditError: No name in the catalogue matches `no-such-name`; `dp-audit list` shows all names.
    """
    entries = load_catalogue()
    if pattern is None:
        return entries
    found = [entry for entry in entries if pattern in entry.name or fnmatch.fnmatchcase(entry.name, pattern)]
    if not found:
        raise AuditError(f"No name in the catalogue matches `{pattern}`; `dp-audit list` shows all names.")
    return found
