"""The audits of a self-audit, each with its own seed."""

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
    """One audit.

    If `claim` is None, the subject's own claim is audited. `options` are keywords of `audit_privacy`.
    """

    subject: Any
    claim: Any
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Sizes:
    """The number of audits in each measure.

    Parameters
    ----------
    extent
        The name of this extent: ``"quick"`` or ``"full"``.
    audits
        The number of audits of each tight mechanism at each level.
    witnesses
        The number of audits of each mechanism whose witness intervals are checked.
    detections
        The number of audits at each detectable ε.
    every
        Only every `every`-th entry of the flawed gallery is audited.
    controls
        The most runs that an audit of a correct mechanism from the peer suite may draw.
    repeats
        For efficiency and tightness: the number of audits of each setting.
    side
        The number of runs on each database for a bound on ε.
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
    """The event that an audit begins. It is audit `number` of the `of` audits for a row."""

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
        The probability with which each end of the interval of a judged row may be wrong.
    auditor
        The auditor: `audit_privacy`, or another one under test.
    tell
        Receives each `Step`.
    cases
        The cases of a file, by name, for the measure `refutations`.

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
        """Yield each audit's result, in order.

        The seed of an audit depends on `part`, `what` and the audit's position.
        """
        name = zlib.crc32(f"{part}: {what}".encode())
        for k, task in enumerate(tasks):
            if self.tell is not None:
                self.tell(Step(part, what, k + 1, len(tasks)))
            [seed] = np.random.SeedSequence((self.seed, name, k)).generate_state(1)
            yield self.auditor(task.subject, task.claim, **{**task.options, "seed": int(seed)})

    def carried_out(self, part: str, what: str, tasks: Sequence[Task]) -> Iterator[AuditResult]:
        """Yield the results of `results`, none of which is an ERROR.

        Raises
        ------
        AuditError
            An audit ended with the verdict ERROR, so it says nothing about the auditor's error rate.
        """
        for result in self.results(part, what, tasks):
            if result.verdict is Verdict.ERROR:
                raise AuditError(f"An audit of `{what}` could not be carried out: {result.reason}")
            yield result
