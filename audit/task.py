"""The task of an audit, and checks that an audit may run in this process.

Every part of an audit receives the task.
"""

import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

from audit.claims import PrivacyClaim
from audit.databases.chosen import Databases
from audit.errors import InvalidKind, InvalidValue, Parameter, must_be
from audit.options import Options
from audit.sampling import Sampler, stop_asked
from audit.sampling.remake.modules import WITHIN
from audit.subject.conversion import said_of_convert
from audit.subject.subject import Subject
from audit.values.progress import AuditFinished, AuditStarted

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Task:
    """The subject, claim and options of an audit.

    Parameters
    ----------
    subject
        The subject under audit.
    claim
        The claim that it is tested against.
    options
        The checked options.
    started
        The start (time of `time.monotonic`), in seconds.
    listener
        Receives the events of `audit.values.progress`.
    """

    subject: Subject
    claim: Any
    options: Options
    started: float
    listener: Callable[[Any], None] | None = None

    @property
    def deadline(self) -> float | None:
        """The time after which no batch begins; None without a limit. It is a time of `time.monotonic`."""
        limit = self.options.time_limit
        if stop_asked():
            return self.started
        return None if limit is None else self.started + limit

    def is_late(self) -> bool:
        """Return whether the time limit has passed, or Ctrl-C was pressed."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def sampler(self, subject: Subject) -> Sampler:
        """Return a sampler of a subject.

        This is the task's subject, a variant of it, or an experiment around it. If the task's subject takes
        no generator, all runs are in one process. Otherwise its own generator would repeat in each worker.
        """
        options = self.options
        return Sampler(
            subject,
            seed=options.seed,
            jobs=options.jobs if self.subject.takes_rng else 1,
            isolate=options.isolate,
            run_time_limit=options.run_time_limit,
        )

    def said(self) -> dict[str, Any]:
        """Return the fields of a result that are copied from the task."""
        subject, options = self.subject, self.options
        return {
            "subject": subject.name,
            "claim": self.claim,
            "significance": options.significance,
            "seed": options.seed,
            "budget": options.budget,
            "parameters": dict(subject.parameters),
            "reference": subject.reference,
        }

    def refuse_hopeless(self, least: int, why: str) -> None:
        """Raise an error if the budget is below `least` runs.

        With fewer runs, no claim can be refuted.

        Parameters
        ----------
        least
            The number of runs.
        why
            The end of the message, which says why fewer runs are too few.

        Raises
        ------
        InvalidValue
            The budget is too small.
        """
        options = self.options
        if options.budget < least:
            raise Parameter("budget").wrong(
                f"of {options.budget:,} runs can never refute {self.claim} at significance "
                f"{options.significance:g}: even {why}."
            )


@dataclass(frozen=True, kw_only=True)
class PrivacyTask(Task):
    """The task of a privacy audit, with its relation and its databases.

    Parameters
    ----------
    remembered
        Those of the given pairs on which earlier audits refuted the claim (`audit.results.remembered`).
    """

    claim: PrivacyClaim
    relation: Any
    databases: Databases
    remembered: tuple[tuple[Any, Any], ...] = ()

    def pairs_seed(self) -> tuple[int, int]:
        """Return the seed of the random pairs of databases.

        It is a branch of the seed tree that no run uses.
        """
        return (self.options.seed, 2**31 - 1)


def carried_out(task: Task, audit: Callable[[], R]) -> R:
    """Return the result of an audit, with environment and time. The listener hears of start and end."""
    options = task.options
    if task.listener is not None:
        task.listener(AuditStarted(task.subject.name, options.budget, options.time_limit))
    found: Any = audit()
    ran = {
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "elapsed": round(time.monotonic() - task.started, 3),
        "python": platform.python_version(),
        "versions": {name: version_of(name) for name in ("dp-audit", "numpy", "scipy")},
        "jobs": options.jobs,
    }
    environment = {**ran, **said_of_convert(task.subject.convert), **found.environment}
    result: R = replace(found, environment=environment, _subject=task.subject)
    if task.listener is not None:
        task.listener(AuditFinished(result))
    return result


@cache
def version_of(name: str) -> str:
    """Return the version of an installed distribution, or "unknown"."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def refuse_inside_given() -> None:
    """Raise an error if an audit may not start here.

    An audit may not start inside a Hypothesis test, which reseeds the global generators. Nor may it start in
    a process that another audit started. This happens if the process imports a script that runs an audit.
    Only the new audit stops.
    """
    if WITHIN in os.environ:
        raise InvalidValue("An audit cannot run in a process that another audit started for its mechanism.")
    hypothesis = sys.modules.get("hypothesis")
    if hypothesis is not None and hypothesis.currently_in_test_context():
        raise InvalidValue(
            "An audit cannot run inside a test decorated with `@given`, which reseeds the random generators; "
            "pass the strategy to the audit instead: `records=` or `databases=`."
        )


def check_progress(progress: Any) -> None:
    """Raise an error if the listener cannot be called."""
    if progress is not None and not callable(progress):
        raise must_be(InvalidKind, Parameter("progress"), "a function of one event", progress)
