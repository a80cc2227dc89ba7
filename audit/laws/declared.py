"""The declared laws of an audit. An error in `distribution` is reported as an error of the subject."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from audit.claims import PureDP
from audit.distributions import Countable, Finite, Law
from audit.errors import AuditError, SubjectError, blamed
from audit.laws.scores import score
from audit.subject.subject import Subject
from audit.values.brief import show
from audit.values.canonical import key

#: The first `_REMEMBERED` laws are kept. At the end, about `_ASKED_AGAIN` of them are computed again. With
#: larger numbers, a law that changes from call to call is noticed more surely.
_REMEMBERED: Final = 1_024
_ASKED_AGAIN: Final = 32
_NOTHING: Final = PureDP(0.0)


@dataclass
class Laws:
    """The laws of one subject.

    Parameters
    ----------
    subject
        The subject that declares the laws.
    discrete
        Whether every law so far is discrete. Discrete laws are compared outcome by outcome.
    """

    subject: Subject
    discrete: bool = True
    _first: dict[Hashable, tuple[Any, Law]] = field(default_factory=dict)
    _changed: str = ""

    def of(self, database: Any) -> Law | None:
        """Return the law on a database, or None if the subject declares none."""
        law_of = self.subject.distribution
        assert law_of is not None
        with blamed(f"`distribution` of {self.subject.name} failed", passing=(AuditError,)):
            law: Law | None = law_of(database)
        self.discrete = self.discrete and isinstance(law, Finite | Countable)
        return law

    def first(self, database: Any) -> Law:
        """Return the law on a database, and remember it.

        If the subject declares no law there, raise an error.
        """
        law = self.of(database)
        if law is None:
            raise SubjectError(
                f"`distribution` of {self.subject.name} declares a law for some databases only."
            )
        if len(self._first) < _REMEMBERED:
            self._first.setdefault(key(database), (database, law))
        return law

    def again(self, database: Any) -> Law:
        """Return the law on a database, computed again.

        Record whether it differs from the first law on this database.
        """
        _, known = self._first.get(key(database), (None, None))
        law = self.first(database)
        if known is not None and not self._changed and not _same(known, law):
            self._changed = (
                f"`distribution` of {self.subject.name} does not give the same law each time: "
                f"it gave two for {show(database, 40)}"
            )
        return law

    def changed(self) -> str:
        """Return a message if a law changes from call to call, else an empty text.

        About `_ASKED_AGAIN` laws are computed again, the latest first.
        """
        step = max(1, len(self._first) // _ASKED_AGAIN)
        for database, _ in list(islice(reversed(self._first.values()), 0, None, step)):
            if self._changed:
                break
            self.again(database)
        return self._changed


def _same(law: Law, other: Law) -> bool:
    """Return whether two laws are equal up to rounding."""
    if law == other:
        return True
    try:
        return not (score(law, other, _NOTHING).over or score(other, law, _NOTHING).over)
    except AuditError:
        return False
