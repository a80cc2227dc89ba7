"""What a utility claim is about: problems, and where the problems of an audit come from.

A *problem* fixes everything that the claim quantifies over: a target, a distribution, a noise rate, an
oracle. It has

- ``name``: what reports call it;
- ``draw(rng)``: a fresh database, whatever the learner takes;
- ``error(output, database)``: how wrong an output is, a number that the claim's `alpha` is compared with, or
  ``math.inf`` for an answer that is none (a refusal);

and may have

- ``distribution()``: the law of ``draw``, an `audit.distributions.Finite` over databases, where it is small;
- ``errors(outputs, database)``: the errors of many outputs at once, an array.

Problems come as a sequence, as a Hypothesis strategy for one, or from an object with ``problems()`` and
optionally ``vary(problem, rng)`` (another problem near it) and ``random(rng)`` (any problem).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from audit.brief import show
from audit.errors import InvalidKind, InvalidValue, SubjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np

__all__ = ["Family", "FixedProblem", "Problem", "SampledProblem", "read_problems"]

#: Examples of a strategy that make its family.
EXAMPLES = 32
_SOURCES = (
    "a sequence of problems, a Hypothesis strategy for one, or an object with `problems()` and optionally "
    "`vary(problem, rng)` and `random(rng)`"
)


@runtime_checkable
class Problem(Protocol):
    """What every problem offers; nothing to inherit.

    Examples
    --------
    >>> isinstance(FixedProblem("zeros", [0, 0], lambda output, database: abs(output)), Problem)
    True
    """

    @property
    def name(self) -> str:
        """What reports call it."""

    def draw(self, rng: np.random.Generator) -> Any:
        """Return a fresh database."""

    def error(self, output: Any, database: Any) -> float:
        """Return how wrong an output is."""


@dataclass(frozen=True)
class FixedProblem:
    """A problem whose database is always the same.

    Parameters
    ----------
    name
        What reports call it.
    database
        The database.
    measure
        The error as a function (output, database) -> float.

    Examples
    --------
    >>> problem = FixedProblem("three", [1, 1, 1], lambda output, database: abs(output - sum(database)))
    >>> problem.error(5, problem.draw(None))
    2
    """

    name: str
    database: Any
    measure: Callable[[Any, Any], float] = field(repr=False)

    def draw(self, rng: np.random.Generator) -> Any:
        """Return the database."""
        del rng
        return self.database

    def error(self, output: Any, database: Any) -> float:
        """Return the error of an output."""
        return self.measure(output, database)

    def distribution(self) -> Any:
        """Return the law of `draw`: all on one database."""
        from audit.distributions import Finite

        return Finite([self.database], [1.0])


@dataclass(frozen=True)
class SampledProblem:
    """A problem whose database is a fresh sample.

    Parameters
    ----------
    name
        What reports call it.
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


@dataclass(frozen=True, eq=False)
class Family:
    """The problems of an audit, and how to find others.

    Parameters
    ----------
    library
        The problems to begin with, at least one.
    vary
        Another problem near one, or None.
    random
        Any problem, or None.
    source
        Where they come from, in words.

    Examples
    --------
    >>> family = read_problems([FixedProblem("zeros", [0], lambda output, database: abs(output))])
    >>> family.finite, family.words(1)
    (True, 'the given problem')
    """

    library: tuple[Any, ...]
    vary: Callable[[Any, Any], Any] | None = None
    random: Callable[[Any], Any] | None = None
    source: str = "given"

    @property
    def finite(self) -> bool:
        """Whether the library is all there is."""
        return self.vary is None and self.random is None and self.source != "strategy"

    def words(self, tried: int) -> str:
        """Return the family in words, once `tried` problems were looked at."""
        many = len(self.library)
        if self.source == "strategy":
            start = f"{many} examples of the strategy"
        else:
            start = f"the {self.source} problem" if many == 1 else f"the {many} {self.source} problems"
        ways = [word for word, way in (("random ones", self.random), ("a climb", self.vary)) if way]
        more = tried - many
        found = f" and {more} more found by {' and '.join(ways)}" if ways and more > 0 else ""
        return start + found


def read_problems(problems: Any, *, subject: Any = None) -> Family:
    """Return the family that `problems` stands for; None stands for the subject's own.

    Raises
    ------
    InvalidKind, InvalidValue
        There are none, or one of them is none.
    SubjectError
        The subject's own `problems()` fails.

    Examples
    --------
    >>> read_problems([])
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `problems` are empty; give at least one problem with `name`,
    `draw(rng)` and `error(output, database)`.
    """
    if problems is None:
        if not callable(getattr(subject, "problems", None)):
            raise InvalidValue(
                f"There are no problems to audit on: give `problems=`, {_SOURCES}, or a subject with "
                "`problems()`."
            )
        return _of_source(subject, "own")
    if hasattr(problems, "example") and hasattr(problems, "validate"):
        from audit.domain import _examples  # the one reader of strategies

        return Family(_library(_examples(problems, "problems", EXAMPLES)), source="strategy")
    if callable(getattr(problems, "problems", None)):
        return _of_source(problems, "given")
    if isinstance(problems, (str, bytes)) or not hasattr(problems, "__iter__"):
        raise InvalidKind(f"The `problems` must be {_SOURCES}; got {show(problems)}.")
    return Family(_library(problems))


def check_problem(problem: Any) -> Any:
    """Return a problem, or refuse what is none.

    Examples
    --------
    >>> check_problem(3)
    Traceback (most recent call last):
    audit.errors.InvalidKind: A problem needs `name`, `draw(rng)` and `error(output, database)`; 3 has no
    `name`.
    """
    lacks = next(
        (
            word
            for word, kind in (("name", str), ("draw", None), ("error", None))
            if not (
                isinstance(getattr(problem, word, None), kind)
                if kind
                else callable(getattr(problem, word, None))
            )
        ),
        None,
    )
    if lacks is not None or isinstance(problem, type):
        raise InvalidKind(
            "A problem needs `name`, `draw(rng)` and `error(output, database)`; "
            f"{show(problem)} has no `{lacks or 'instance'}`."
        )
    return problem


def _library(problems: Iterable[Any]) -> tuple[Any, ...]:
    library = tuple(check_problem(problem) for problem in problems)
    if not library:
        raise InvalidValue(
            "The `problems` are empty; give at least one problem with `name`, `draw(rng)` and "
            "`error(output, database)`."
        )
    twice = [name for name, times in Counter(problem.name for problem in library).items() if times > 1]
    if twice:
        raise InvalidValue(f"The names of the `problems` must differ; got {show(twice[0])} more than once.")
    return library


def _of_source(source: Any, whose: str) -> Family:
    try:
        library = list(source.problems())
    except Exception as error:
        raise SubjectError(f"`problems()` failed: {type(error).__name__}: {error}") from error
    vary, random = (getattr(source, name, None) for name in ("vary", "random"))
    return Family(
        _library(library),
        vary=vary if callable(vary) else None,
        random=random if callable(random) else None,
        source=whose,
    )
