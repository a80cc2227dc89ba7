"""The one loop in which the audits of a self-audit are carried out, each with a seed of its own."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.errors import AuditError
from audit.privacy import audit_privacy
from audit.results.result import AuditResult, Verdict

Auditor = Callable[..., AuditResult]


@dataclass(frozen=True)
class Task:
    """One audit: a subject, a claim (None: the subject's own) and the keywords of `audit_privacy`."""

    subject: Any
    claim: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Parameters
    ----------
    extent
        What this much is called.
    audits
        Audits of each tight mechanism at each level.
    witnesses
        Audits of each mechanism whose witness intervals are looked at.
    detections
        Audits at each detectable ε.
    every
        Of the flawed gallery, one entry in so many.
    controls
        Most runs of an audit of a correct mechanism of the peer suite.
    repeats
        Audits of each setting of efficiency and of tightness.
    side
        Runs a side that a bound on ε rests on.
    """

    extent: str
    audits: int
    witnesses: int
    detections: int
    every: int
    controls: int
    repeats: int
    side: int


@dataclass(frozen=True)
class Step:
    """An audit of a self-audit begins: the `number`-th of `of` that a row rests on."""

    part: str
    what: str
    number: int
    of: int


@dataclass(frozen=True)
class Audits:
    """Carries out audits.

    Parameters
    ----------
    seed
        The root of all seeds.
    level
        What each end of an interval of a judged row may be wrong with.
    auditor
        What audits: `audit_privacy`, or an auditor under test.
    tell
        Receives each `Step`.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> task = Task(lambda database: database[0], PureDP(1.0), {"pairs": [([0], [1])]})
    >>> [result.verdict.name for result in Audits().results("doctest", "a leak", [task])]
    ['REFUTED']
    """

    seed: int = 0
    level: float = 1e-6
    auditor: Auditor = audit_privacy
    tell: Callable[[Step], None] | None = None

    def results(self, part: str, what: str, tasks: Sequence[Task]) -> Iterator[AuditResult]:
        """Yield the result of each audit, in order; its seed depends on `part`, `what` and its place."""
        name = zlib.crc32(f"{part}: {what}".encode())
        for k, task in enumerate(tasks):
            if self.tell is not None:
                self.tell(Step(part, what, k + 1, len(tasks)))
            [seed] = np.random.SeedSequence((self.seed, name, k)).generate_state(1)
            yield self.auditor(task.subject, task.claim, **{**task.options, "seed": int(seed)})

    def carried_out(self, part: str, what: str, tasks: Sequence[Task]) -> Iterator[AuditResult]:
        """Yield the same.

        Raises
        ------
        AuditError
            An audit could not be carried out, so that it says nothing of the auditor's level.
        """
        for result in self.results(part, what, tasks):
            if result.verdict is Verdict.ERROR:
                raise AuditError(f"An audit of `{what}` could not be carried out: {result.reason}")
            yield result
