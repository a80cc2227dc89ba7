"""Where an audit gets its problems."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from audit.errors import InvalidKind, InvalidValue, Parameter, blamed
from audit.problems import check_problem
from audit.values.brief import show

#: A strategy is turned into a family of this many examples.
EXAMPLES = 32
PROBLEMS = Parameter("problems")
_SOURCES = (
    "a sequence of problems, a Hypothesis strategy for one, or an object with `problems()` and optionally "
    "`vary(problem, rng)` and `random(rng)`"
)


@dataclass(frozen=True, eq=False)
class Family:
    """The problems of an audit, and functions that propose more problems.

    Parameters
    ----------
    library
        The problems with which the search begins.
    vary
        Returns a problem near a given problem. It is None if the family has no such function.
    random
        Returns a random problem. It is None if the family has no such function.
    source
        Where the problems come from, as "given", "own" or "strategy".

    Examples
    --------
    >>> from audit.problems import FixedProblem
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
        """Whether the library contains all problems of the family."""
        return self.vary is None and self.random is None and self.source != "strategy"

    def words(self, tried: int, kept: int | None = None) -> str:
        """Return a text on the family.

        Of `tried` problems searched, `kept` were audited. If `kept` is None, all were audited.
        """
        many = len(self.library)
        if self.source == "strategy":
            start = f"{many} examples of the strategy"
        else:
            start = "the given problem" if many == 1 else f"the {many} given problems"
            if self.source == "own":
                start = "the subject's own problem" if many == 1 else f"the subject's own {many} problems"
        ways = [word for word, way in (("random search", self.random), ("hill climbing", self.vary)) if way]
        more, by = tried - many, " and ".join(ways)
        kept = more if kept is None else kept - many
        if not ways or more <= 0:
            return start
        if kept <= 0:
            return f"{start}; {more} more found by {by} were no worse"
        some = "" if kept == more else "the worst of " if kept == 1 else f"the worst {kept} of "
        return f"{start} and {some}{more} more found by {by}"


def read_problems(problems: Any, *, subject: Any = None) -> Family:
    """Return the family that `problems` describes.

    If `problems` is None, the family is the subject's own.

    Raises
    ------
    InvalidKind, InvalidValue
        There are no problems, or an item is not a problem.
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
        with blamed("The ", PROBLEMS, " cannot be read"):
            problems = getattr(subject, "problems", None)
        if problems is None:
            raise InvalidValue(
                "There are no problems to audit on: give ",
                PROBLEMS,
                f", {_SOURCES}, or a subject whose `problems` is such a sequence or a method.",
            )
        return _of_source(subject, "own") if callable(problems) else read_problems(problems)
    if hasattr(problems, "example") and hasattr(problems, "validate"):
        from audit.databases.strategies import examples

        return Family(_library(examples(problems, "problems", EXAMPLES)), source="strategy")
    if callable(getattr(problems, "problems", None)):
        return _of_source(problems, "given")
    if isinstance(problems, (str, bytes)) or not hasattr(problems, "__iter__"):
        raise PROBLEMS.wrong(f"must be {_SOURCES}; got {show(problems)}.", kind=InvalidKind)
    return Family(_library(problems))


def _library(problems: Iterable[Any]) -> tuple[Any, ...]:
    library = tuple(check_problem(problem) for problem in problems)
    if not library:
        members = "`name`, `draw(rng)` and `error(output, database)`"
        raise PROBLEMS.wrong(f"are empty; give at least one problem with {members}.")
    twice = [name for name, times in Counter(problem.name for problem in library).items() if times > 1]
    if twice:
        raise InvalidValue(
            "The names of the ", PROBLEMS, f" must differ; got {show(twice[0])} more than once."
        )
    return library


def _of_source(source: Any, whose: str) -> Family:
    with blamed("`problems()` failed"):
        library = list(source.problems())
    ways = {name: getattr(source, name, None) for name in ("vary", "random")}
    return Family(_library(library), source=whose, **{k: way for k, way in ways.items() if callable(way)})
