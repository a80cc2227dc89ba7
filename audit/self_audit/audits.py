"""The loop that runs all audits of a self-audit, each with its own seed."""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audit.errors import AuditError
from audit.privacy import audit_privacy
from audit.results.result import AuditResult, Verdict
from audit.self_audit.subjects.cases import Case

Auditor = Callable[..., AuditResult]


@dataclass(frozen=True)
class Task:
    """One audit: a subject, a claim (None: the subject's own) and the keywords of `audit_privacy`."""

    subject: Any
    claim: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """The extent of a self-audit.

    Parameters
    ----------
    extent
        The name of this extent.
    audits
        Audits of each tight mechanism at each level.
    witnesses
        Audits of each mechanism whose witness intervals are checked.
    detections
        Audits at each detectable ε.
    every
        Audit every `every`-th entry of the flawed gallery.
    controls
        The most runs of an audit of a correct mechanism of the peer suite.
    repeats
        Audits of each setting of efficiency and of tightness.
    side
        Runs on each database for a bound on ε.
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
    """An audit of a self-audit begins: the `number`-th of the `of` audits behind a row."""

    part: str
    what: str
    number: int
    of: int


@dataclass(frozen=True)
class Audits:
    """Runs the audits of a self-audit.

    Parameters
    ----------
    seed
        The root of all seeds.
    level
        The error probability of each end of the interval of a judged row.
    auditor
        The auditor: `audit_privacy`, or another one under test.
    tell
        Receives each `Step`.
    cases
        The cases of a given file, by name, for the measure of refutations.

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
    cases: Mapping[str, Case] = field(default_factory=dict)

    def results(self, part: str, what: str, tasks: Sequence[Task]) -> Iterator[AuditResult]:
        """Yield the result of each audit, in order; its seed depends on `part`, `what` and its position."""
        name = zlib.crc32(f"{part}: {what}".encode())
        for k, task in enumerate(tasks):
            if self.tell is not None:
                self.tell(Step(part, what, k + 1, len(tasks)))
            [seed] = np.random.SeedSequence((self.seed, name, k)).generate_state(1)
            yield self.auditor(task.subject, task.claim, **{**task.options, "seed": int(seed)})

    def carried_out(self, part: str, what: str, tasks: Sequence[Task]) -> Iterator[AuditResult]:
        """Yield the same results as `results`, none of them an ERROR.

        Raises
        ------
        AuditError
            An audit ended in an ERROR, so it says nothing about the auditor's level.
        """
        for result in self.results(part, what, tasks):
            if result.verdict is Verdict.ERROR:
                raise AuditError(f"An audit of `{what}` could not be carried out: {result.reason}")
            yield result
