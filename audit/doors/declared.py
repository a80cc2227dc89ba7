"""A subject's declarations, read once, and outputs of its runs."""

import pickle
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it has no stubs
import numpy as np

from audit.catalogue import Entry
from audit.claims import PureDP
from audit.databases.chosen import Pair
from audit.privacy import make_task
from audit.sampling import CALLS, Sampler
from audit.sampling.loops import joined
from audit.sampling.snapshots import snapshot
from audit.subject.claimed import claims_utility
from audit.subject.subject import Subject, adapt
from audit.utility.families import read_problems
from audit.values.canonical import same

_PAIRS = 3
"""How many neighbouring pairs are drawn from the domain. The subject is run on the first."""

_FEW = 4
"""Calls on each database. The same seed, a pickled copy and a rebuilt subject must repeat their outputs."""

_DOMAIN = ("records", "size", "databases", "pairs")


@dataclass(eq=False)
class Declared:
    """A subject or catalogue `Entry` with its declarations.

    Parameters
    ----------
    given
        The subject or entry.

    Examples
    --------
    >>> class Count:
    ...     records, size = (0, 1), 2
    ...     def __call__(self, database):
    ...         return len(database)
    >>> Declared(Count()).outputs(2, 0)
    [[2, 2], [2, 2]]
    """

    given: Any

    @property
    def entry(self) -> Entry | None:
        """The entry; None if a subject was given."""
        return self.given if isinstance(self.given, Entry) else None

    @cached_property
    def made(self) -> Any:
        """The subject itself."""
        return self.entry.factory() if self.entry is not None else self.given

    @cached_property
    def options(self) -> dict[str, Any]:
        """Options of the privacy audit."""
        return {} if self.entry is None else dict(self.entry.options or {})

    @cached_property
    def utility(self) -> dict[str, Any] | None:
        """Options of the utility audit; None if there is no such audit."""
        if self.entry is not None and self.entry.utility is not None:
            return dict(self.entry.utility)
        return {} if claims_utility(self.made) else None

    @cached_property
    def subject(self) -> Subject:
        """The subject in the form that an audit runs."""
        return adapt(self.made, convert=self.options.get("convert"), fresh=self.options.get("fresh"))

    @property
    def name(self) -> str:
        """The name of the subject in messages."""
        return self.subject.name if self.entry is None else self.entry.name

    @property
    def claim(self) -> Any:
        """The privacy claim, or None."""
        return self.options.get("claim", self.subject.claim)

    @property
    def relation(self) -> Any:
        """The declared relation, or None."""
        return self.options.get("relation", self.subject.relation)

    @property
    def has_domain(self) -> bool:
        """Whether the subject declares databases. If not, they come from the problems of a utility audit."""
        if self.entry is not None and self.entry.options is None:
            return False
        told = (self.options.get(name, getattr(self.subject, name, None)) for name in _DOMAIN)
        return self.subject.suggested_pairs is not None or any(each is not None for each in told)

    @cached_property
    def pairs(self) -> list[Pair]:
        """A few pairs of neighbours.

        If no databases are declared, there is one pair: a problem's database, twice.
        """
        if self.has_domain:
            claim = {"claim": PureDP(1.0) if self.claim is None else self.claim}  # pairs do not depend on it
            task = make_task(self.made, **{**self.options, **claim})
            return task.databases.pairs(most=_PAIRS, rng=np.random.default_rng(0))
        if self.utility is not None:
            database = self.problems[0].draw(np.random.default_rng(0))
            return [(database, database)]
        raise ValueError("it declares no databases; give it `records` and `size`, `databases` or problems")

    @cached_property
    def problems(self) -> list[Any]:
        """The problems of the utility audit."""
        assert self.utility is not None
        return list(read_problems(self.utility.get("problems"), subject=self.made).library)

    def outputs(
        self, size: int, path: int, *, singly: bool = True, subject: Any = None, copied: bool = True
    ) -> list[Any]:
        """Return outputs on both databases of the first pair. The same path gives the same outputs.

        Parameters
        ----------
        size
            Runs on each database.
        path
            Place in the seed tree.
        singly
            Call the subject run by run, even if it has a `sample`.
        subject
            Another subject to run instead. If the option `fresh` is given, each call gets a new copy of it.
        copied
            Whether every run gets a copy of its database. If not, a run that changes the database is an
            error.
        """
        # one copy here if runs get none, so that no run changes `pairs`
        left, right = self.pairs[0] if copied else map(snapshot, self.pairs[0])
        convert, fresh = self.options.get("convert"), self.options.get("fresh")
        fresh = fresh and partial(pickle.loads, cloudpickle.dumps(subject))
        run = self.subject if subject is None else adapt(subject, convert=convert, fresh=fresh)
        with Sampler(run, seed=0) as sampler:
            sampler.copy_inputs = copied
            blocks = list(sampler.draw(left, right, size, (path, 0), singly=singly))
        return [joined([block.left for block in blocks]), joined([block.right for block in blocks])]

    @property
    def ways(self) -> list[tuple[str, bool]]:
        """The ways of running the subject. Each is a name, and whether its runs are single calls."""
        sampled = self.subject.declared_sampler is not None
        return [("calls", True), *([("`sample`", False)] if sampled else [])]

    @cached_property
    def calls(self) -> list[Any]:
        """Outputs of a few calls with one seed."""
        return self.outputs(_FEW, CALLS)

    def repeats(self, *, singly: bool = True, subject: Any = None) -> bool:
        """Return whether runs with the same seed give the same outputs again.

        The first runs are of the declared subject; if `subject` is given, the second runs are of `subject`.
        If `singly` is false, the runs may use the method `sample`.
        """
        first = self.calls if singly else self.outputs(_FEW, CALLS, singly=False)
        return same(first, self.outputs(_FEW, CALLS, singly=singly, subject=subject))
