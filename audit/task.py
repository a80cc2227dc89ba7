"""The task that every part of an audit is given, and where an audit may not run."""

import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Any, TypeVar

from audit.claims import PrivacyClaim
from audit.databases.chosen import Databases
from audit.errors import InvalidKind, InvalidValue, Parameter
from audit.options import Options
from audit.sampling import Sampler, stop_asked
from audit.sampling.remake.modules import WITHIN
from audit.subject.conversion import said_of_convert
from audit.subject.subject import Subject
from audit.values.brief import show
from audit.values.progress import AuditFinished, AuditStarted

R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every audit needs to know.

    Parameters
    ----------
    subject
        What is audited.
    claim
        What is said of it.
    options
        The checked options.
    started
        When it began, a moment of `time.monotonic`.
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
        """The moment of `time.monotonic` after which no batch begins."""
        limit = self.options.time_limit
        if stop_asked():
            return self.started
        return None if limit is None else self.started + limit

    def is_late(self) -> bool:
        """Return whether the time is over, by its limit or by Ctrl-C."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    def sampler(self, subject: Subject) -> Sampler:
        """Return what draws runs of the subject, of one of its ways to run, or of an experiment around it.

        A subject that takes no generator stays in one process: its own generator would repeat in each worker.
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
        """Return what every result repeats of its task, as its fields."""
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
        """Refuse a budget below the least number of runs that can refute the claim; `why` says what takes it.

        Raises
        ------
        InvalidValue
            The budget is too small; one line.
        """
        options = self.options
        if options.budget < least:
            raise InvalidValue(
                "The ",
                Parameter("budget"),
                f" of {options.budget} runs can never refute {self.claim} at significance "
                f"{options.significance:g}: even {why}.",
            )


@dataclass(frozen=True, kw_only=True)
class PrivacyTask(Task):
    """Everything that an audit of privacy needs to know: the claim and the databases too.

    Parameters
    ----------
    remembered
        Pairs among those given that earlier audits refuted the claim on (`audit.results.remembered`).
    """

    claim: PrivacyClaim
    relation: Any
    databases: Databases
    remembered: tuple[tuple[Any, Any], ...] = ()

    def pairs_seed(self) -> tuple[int, int]:
        """Return the seed of the random pairs: a branch of the seed tree that no run uses."""
        return (self.options.seed, 2**31 - 1)


def carried_out(task: Task, audit: Callable[[], R]) -> R:
    """Return what an audit finds, with where and how long it ran; its listener hears of both ends."""
    options = task.options
    if task.listener is not None:
        task.listener(AuditStarted(task.subject.name, options.budget, options.time_limit))
    found: Any = audit()
    ran = {
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


def version_of(name: str) -> str:
    """Return the version of an installed distribution, "unknown" for one that is not."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def refuse_inside_given() -> None:
    """Refuse to draw runs while Hypothesis executes a test: it reseeds the global generators.

    Also where another audit has imported a script that audits as it runs: that audit goes on by itself.
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
    """Refuse a listener that cannot be called."""
    if progress is not None and not callable(progress):
        raise InvalidKind(
            "The ", Parameter("progress"), f" must be a function of one event; got {show(progress)}."
        )
