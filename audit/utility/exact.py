"""Exact failure probabilities, from the laws of databases and learner."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.claims import UtilityClaim
from audit.distributions import Finite
from audit.errors import SubjectError, blamed
from audit.subject.subject import Subject
from audit.utility.experiment import Ask, as_subject
from audit.values.brief import show

#: If the law of a problem has more databases than this, runs estimate the failure probability.
MOST_DATABASES = 100_000
#: An exact failure probability may exceed beta by this share of beta, plus the rounding error of sums of
#: floats.
TOLERANCE = 1e-9
_ROUNDING = 1e-15


def exceeds(failure: float, beta: float) -> bool:
    """Return whether an exact failure probability exceeds beta by more than rounding.

    Examples
    --------
    >>> exceeds(0.1 + 0.2, 0.3), exceeds(5e-10, 0.0), exceeds(5e-10, 1e-10)
    (False, True, True)
    """
    return failure > beta * (1.0 + TOLERANCE) + _ROUNDING


@dataclass(frozen=True, eq=False)
class ExactFailure:
    """The exact failure probability on a problem, and the worst database."""

    problem: Any
    failure: float
    database: Any
    output: Any
    error: float
    at_database: float
    discrete: bool


def exact_failure(subject: Subject, problem: Any, claim: UtilityClaim) -> ExactFailure | None:
    """Return the exact failure probability on a problem, or None if it is unknown.

    The problem must declare a finite law of its databases, and the learner a law on each database.

    Raises
    ------
    SubjectError
        A law raises an error, or the problem cannot measure an output.

    Examples
    --------
    >>> from audit.claims import Accuracy
    >>> from audit.distributions import Finite
    >>> from audit.problems import FixedProblem
    >>> from audit.subject.subject import adapt
    >>> class Coin:
    ...     def __call__(self, database, rng):
    ...         return int(rng.integers(2))
    ...     def distribution(self, database):
    ...         return Finite([0, 1], [0.5, 0.5])
    >>> problem = FixedProblem("heads", [], lambda output, database: 1 - output)
    >>> exact_failure(adapt(Coin()), problem, Accuracy(0.1, 0.1)).failure
    0.5
    """
    if subject.declared_law is None or not callable(getattr(problem, "distribution", None)):
        return None
    drawn = _drawn(problem)
    if drawn is None:
        return None
    databases = drawn.support()
    if len(databases) > MOST_DATABASES:
        return None
    probabilities = np.exp(drawn.log_probabilities[np.isfinite(drawn.log_probabilities)])
    ask, experiment = Ask(problem), as_subject(subject, claim, law=True).object
    total, worst, discrete = 0.0, None, True
    for database, probability in zip(databases, probabilities.tolist(), strict=True):
        law, found = experiment.failure_on(ask, database)
        if found is None:
            return None
        if isinstance(found, str):
            raise SubjectError(f"The problem `{problem.name}` {found}")
        total += probability * found.failure
        discrete = discrete and isinstance(law, Finite)
        if worst is None or found.failure > worst[1].failure:
            worst = (database, found)
    assert worst is not None
    database, found = worst
    error, trouble = experiment.error_of(problem, found.output, database)
    if trouble:
        raise SubjectError(f"The problem `{problem.name}` {trouble}")
    return ExactFailure(problem, min(1.0, total), database, found.output, error, found.failure, discrete)


def _drawn(problem: Any) -> Any:
    """Return the declared law of a problem's databases, or None."""
    with blamed(f"The `distribution()` of the problem `{problem.name}` failed"):
        drawn = problem.distribution()
    if drawn is None or isinstance(drawn, Finite):
        return drawn
    raise SubjectError(
        f"The `distribution()` of the problem `{problem.name}` must be an `audit.distributions.Finite` over "
        f"databases, or None; got {show(drawn, 40)}."
    )
