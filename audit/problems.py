"""What a utility claim is about, and where problems come from.

A *problem* fixes everything that the claim quantifies over: a target, a distribution, a noise rate, an
oracle. It has a ``name``, its name in reports. Its ``draw(rng)`` returns a fresh database, in any form that
the learner takes. Its ``error(output, database)`` returns the error of an output. This is a number to compare
with the claim's `alpha`, or ``math.inf`` for a refusal to answer.

A problem may have more. ``distribution()`` is the law of ``draw``, an `audit.distributions.Finite` over
databases, if there are few. ``errors(outputs, database)`` returns the errors of many outputs at once, an
array. ``failure(law, alpha, database)`` is the exact probability of an error above `alpha`. It is used if the
law of the output is not finite (see `FixedProblem.tail`).

Give problems as a sequence, or as a Hypothesis strategy for one problem. Or give an object with
``problems()``. Optionally it has ``vary(problem, rng)`` (a similar problem) and ``random(rng)`` (a random
problem).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from audit.errors import InvalidKind
from audit.values.brief import show

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

__all__ = ["FixedProblem", "Problem", "SampledProblem", "check_problem"]


@runtime_checkable
class Problem(Protocol):
    """The members of a problem. Any object with these members is a problem.

    Examples
    --------
    >>> isinstance(FixedProblem("zeros", [0, 0], lambda output, database: abs(output)), Problem)
    True
    """

    @property
    def name(self) -> str:
        """The name in reports."""

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a fresh database."""

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""


@dataclass(frozen=True)
class FixedProblem:
    """A problem whose database is always the same.

    Parameters
    ----------
    name
        The name in reports.
    database
        The database.
    measure
        The error as a function (output, database) -> float.
    tail
        Optionally a function (law, alpha, database) -> Pr[error > alpha] under a law of the output. The law
        is not finite.

    Examples
    --------
    >>> problem = FixedProblem("three", [1, 1, 1], lambda output, database: abs(output - sum(database)))
    >>> problem.error(5, problem.draw(None))
    2
    """

    name: str
    database: Any
    measure: Callable[[Any, Any], float] = field(repr=False)
    tail: Callable[[Any, float, Any], float] | None = field(default=None, repr=False)

    @property
    def failure(self) -> Callable[[Any, float, Any], float] | None:
        """The function `tail`, or None."""
        return self.tail

    def draw(self, rng: np.random.Generator) -> Any:
        """Return the database."""
        del rng
        return self.database

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""
        return self.measure(output, database)

    def distribution(self) -> Any:
        """Return the law of `draw`, one database with probability 1."""
        from audit.distributions import Finite

        return Finite([self.database], [1.0])


@dataclass(frozen=True)
class SampledProblem:
    """A problem that draws its database anew each time.

    Parameters
    ----------
    name
        The name in reports.
    sampler
        A function (rng) -> database.
    measure
        The error as a function (output, database) -> float.

    Examples
    --------
    >>> import numpy as np
    >>> coins = SampledProblem("coins", lambda rng: rng.integers(0, 2, 5), lambda mean, _: abs(mean - 0.5))
    >>> coins.error(0.25, coins.draw(np.random.default_rng(0)))
    0.25
    """

    name: str
    sampler: Callable[[np.random.Generator], Any] = field(repr=False)
    measure: Callable[[Any, Any], float] = field(repr=False)

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a fresh sample."""
        return self.sampler(rng)

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""
        return self.measure(output, database)


def check_problem(problem: Any) -> Any:
    """Return `problem`, an object with the members of a problem.

    Examples
    --------
    >>> check_problem(3)
    Traceback (most recent call last):
    audit.errors.InvalidKind: A problem needs `name`, `draw(rng)` and `error(output, database)`; 3 has no
    `name`.
    """
    has = {
        "name": isinstance(getattr(problem, "name", None), str),
        "draw": callable(getattr(problem, "draw", None)),
        "error": callable(getattr(problem, "error", None)),
    }
    wrong = [f"has no `{word}`" for word, there in has.items() if not there]
    if isinstance(problem, type):
        wrong.append("is a class, not an instance")
    if wrong:
        raise InvalidKind(
            f"A problem needs `name`, `draw(rng)` and `error(output, database)`; {show(problem)} {wrong[0]}."
        )
    return problem
