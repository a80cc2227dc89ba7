"""What both audits are told: their options, checked, and the task that every part of an audit is given."""

from __future__ import annotations

import math
import operator
import os
import platform
import sys
import time
from dataclasses import dataclass, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from audit.errors import InvalidKind, InvalidValue
from audit.sampling import Sampler
from audit.sampling.remake.modules import WITHIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.claims import PrivacyClaim
    from audit.databases.chosen import Databases
    from audit.subject.subject import Subject

NUMERICS = ("ideal", "float")
UNTIL = ("refuted", "budget")
UNFINISHED = ("against", "output")


@dataclass(frozen=True)
class Options:
    """The checked options of one audit; see `audit_privacy`."""

    numerics: str
    until: str
    budget: int
    confirm_budget: int | None
    time_limit: float | None
    run_time_limit: float
    isolate: bool
    unfinished: str
    significance: float
    seed: int
    jobs: int


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every audit needs to know.

    Parameters
    ----------
    subject
        What is audited.
    options
        The checked options.
    started
        When it began, a moment of `time.monotonic`.
    listener
        Receives the events of `audit.values.progress`.
    """

    subject: Subject
    options: Options
    started: float
    listener: Callable[[Any], None] | None = None

    @property
    def deadline(self) -> float | None:
        """The moment of `time.monotonic` after which no batch begins."""
        limit = self.options.time_limit
        return None if limit is None else self.started + limit

    def is_late(self) -> bool:
        """Tell whether the time limit is over."""
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


@dataclass(frozen=True, kw_only=True)
class PrivacyTask(Task):
    """Everything that an audit of privacy needs to know: the claim and the databases too."""

    claim: PrivacyClaim
    relation: Any
    databases: Databases

    def pairs_seed(self) -> tuple[int, int]:
        """Give the seed of the random pairs: a branch of the seed tree that no run uses."""
        return (self.options.seed, 2**31 - 1)


def environment_of(options: Options, started: float) -> dict[str, Any]:
    """Return where and how long an audit ran that began at `started`, a moment of `time.monotonic`."""
    return {
        "elapsed": round(time.monotonic() - started, 3),
        "python": platform.python_version(),
        "versions": {name: _version(name) for name in ("dp-audit", "numpy", "scipy")},
        "jobs": options.jobs,
    }


def _version(name: str) -> str:
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


def check_options(options: Options) -> Options:
    """Return the options, or refuse the first bad one in one line."""
    for name, allowed in (("numerics", NUMERICS), ("until", UNTIL), ("unfinished", UNFINISHED)):
        if getattr(options, name) not in allowed:
            words = " or ".join(f'"{word}"' for word in allowed)
            raise InvalidValue(f"The `{name}` must be {words}; got {getattr(options, name)!r}.")
    if not isinstance(options.isolate, bool):
        raise InvalidKind(f"The `isolate` must be True or False; got {options.isolate!r}.")
    given = options.confirm_budget
    options = replace(
        options,
        budget=_whole(options.budget, "budget", 1),
        seed=_whole(options.seed, "seed", 0),
        jobs=_whole(options.jobs, "jobs", 1),
        confirm_budget=None if given is None else _whole(given, "confirm_budget", 4),
    )
    for name in ("time_limit", "run_time_limit"):
        value = getattr(options, name)
        if value is None and name == "time_limit":
            continue
        if not (_is_number(value) and 0 < value < math.inf):
            raise InvalidValue(f"The `{name}` must be a positive number of seconds; got {value!r}.")
    if not (_is_number(options.significance) and 1e-300 <= options.significance < 1):
        raise InvalidValue(
            f"The `significance` must be a number in [1e-300, 1); got {options.significance!r}."
        )
    return options


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(value: Any, name: str, least: int) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InvalidKind(f"The `{name}` must be a whole number; got {value!r}.")
    if value < least:
        raise InvalidValue(f"The `{name}` must be at least {least}; got {value!r}.")
    return operator.index(value)
