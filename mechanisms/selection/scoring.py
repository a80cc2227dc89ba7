"""Scores of candidate solutions, or the two best scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from audit.errors import InvalidKind, InvalidValue, positive_int
from audit.values import canonical
from audit.values.brief import show
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "Leaders",
    "MostFrequent",
    "TwoBest",
    "candidates_of",
    "check_candidates",
    "check_solutions",
    "picked",
    "refuse_marks",
    "scores_of",
    "supported",
    "two_best",
    "whole_scores",
]

_MOST_LISTED = 10**8
"""The most solutions that are scored one by one."""


class TwoBest(NamedTuple):
    """The two highest scores and the best solution.

    Parameters
    ----------
    solution
        The solution that scores highest, or any such solution in a tie.
    score
        Its score.
    runner_up
        The highest score of all other solutions.

    Examples
    --------
    >>> TwoBest("a", 5.0, 3.0).gap
    2.0
    """

    solution: Any
    score: float
    runner_up: float

    @property
    def gap(self) -> float:
        """The best score minus the runner-up's score."""
        return self.score - self.runner_up


@runtime_checkable
class Leaders(Protocol):
    """Finds the two best of very many solutions.

    Examples
    --------
    >>> isinstance(MostFrequent(2**64), Leaders)
    True
    """

    def two_best(self, database: Any) -> TwoBest:
        """Return the best solution and the two highest scores."""


@dataclass(frozen=True)
class MostFrequent:
    """Numbers as solutions, scored by how many records equal them.

    The numbers 0 … candidates − 1 are not listed. The object is for `leaders` of `StableSelection` or
    `candidates` of `ChoosingMechanism`.

    Parameters
    ----------
    candidates
        How many numbers there are, at least 2. A record that is not one of them supports no solution.

    Guarantee
    ---------
    Replacing, adding or removing a record moves every score by at most 1. If records name only one solution,
    the runner-up scores 0.

    Examples
    --------
    >>> MostFrequent(2**64).two_best([7, 7, 7, 2**63, "?"])
    TwoBest(solution=7, score=3, runner_up=1)
    >>> MostFrequent(2**64).two_best([7, 7])
    TwoBest(solution=7, score=2, runner_up=0)
    >>> MostFrequent(2**64)([7, 2**63, 7, "?"])
    {7: 2, 9223372036854775808: 1}
    """

    candidates: int

    def __post_init__(self) -> None:
        positive_int(self.candidates, what="The `candidates` of `MostFrequent`", minimum=2, maximum=None)

    def __call__(self, database: Sequence[Any]) -> dict[int, int]:
        """Return how many records equal each candidate that occurs."""
        return dict(Counter(int(record) for record in database if self._is_candidate(record)))

    def two_best(self, database: Sequence[Any]) -> TwoBest:
        """Return the most frequent candidate and the two highest counts."""
        ranked = [*Counter(self(database)).most_common(2), (0, 0), (0, 0)]
        return TwoBest(ranked[0][0], ranked[0][1], ranked[1][1])

    def _is_candidate(self, record: Any) -> bool:
        whole = isinstance(record, (int, np.integer)) and not isinstance(record, bool)
        return whole and 0 <= record < self.candidates


def two_best(solutions: Sequence[Any] | NDArray[Any], scores: NDArray[np.float64]) -> TwoBest:
    """Return the best of listed solutions and the two highest scores.

    In a tie, the solution listed earliest is best.

    Examples
    --------
    >>> two_best("abc", np.array([1.0, 4.0, 4.0]))
    TwoBest(solution='b', score=4.0, runner_up=4.0)
    """
    first = int(np.argmax(scores))
    others = np.concatenate([scores[:first], scores[first + 1 :]])
    return TwoBest(picked(solutions, np.array([first]))[0], float(scores[first]), float(others.max()))


def picked(solutions: Sequence[Any] | NDArray[Any], places: NDArray[np.intp]) -> list[Any]:
    """Return the solutions at these indices as Python objects.

    Examples
    --------
    >>> picked(np.array([0.5, 1.5]), np.array([1]))
    [1.5]
    """
    if isinstance(solutions, np.ndarray):
        chosen: list[Any] = solutions[places].tolist()
        return chosen
    return [solutions[place] for place in places.tolist()]


def check_solutions(
    solutions: Sequence[Any] | NDArray[Any],
    *,
    owner: str,
    least: int = 1,
    marks: Sequence[str] = (),
    instead: str = "",
) -> None:
    """Raise an error if solutions are not valid.

    There must be enough solutions, and few enough to list. They must be distinct, and different from the
    words for a refusal.

    Parameters
    ----------
    solutions
        A sequence, a range or a one-dimensional array.
    owner
        The mechanism, for the message.
    least
        The least number of solutions.
    marks
        The words that the mechanism returns for a refusal, such as "⊥".
    instead
        The keyword for solutions that are too many to list, if the mechanism has one.

    Raises
    ------
    InvalidKind, InvalidValue
        The solutions are not valid, or not a list.

    Examples
    --------
    >>> check_solutions(range(2**64), instead="candidates", owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `solutions` of `It` must be at most 100000000 to be scored one by one; give
    `candidates` instead.
    >>> check_solutions(["a", "b", "a"], owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `solutions` of `It` must be distinct; got 'a' twice.
    """
    if not isinstance(solutions, Collection):
        raise InvalidKind(f"The `solutions` of `{owner}` must be listed; got {show(solutions, 40)}.")
    try:
        count = len(solutions)
    except OverflowError:
        count = _MOST_LISTED + 1
    if count < least:
        raise InvalidValue(f"The `solutions` of `{owner}` must hold at least {least}; got {count}.")
    if count > _MOST_LISTED:
        raise InvalidValue(
            f"The `solutions` of `{owner}` must be at most {_MOST_LISTED} to be scored one by one"
            f"{f'; give `{instead}` instead' * bool(instead)}."
        )
    _refuse_repeats(solutions, owner=owner)
    refuse_marks(solutions, marks, owner=owner)


def _refuse_repeats(solutions: Sequence[Any] | NDArray[Any], *, owner: str) -> None:
    if isinstance(solutions, range):
        return
    if isinstance(solutions, np.ndarray) and solutions.ndim == 1 and solutions.dtype.kind in "biuf":
        ordered = np.sort(solutions)
        again = ordered[:-1][ordered[1:] == ordered[:-1]].tolist()
    else:
        keys = [canonical.key(solution) for solution in solutions]
        counts = Counter(keys)
        again = [each for each, key in zip(solutions, keys, strict=True) if counts[key] > 1]
    if again:
        raise InvalidValue(f"The `solutions` of `{owner}` must be distinct; got {show(again[0])} twice.")


def check_candidates(candidates: Any, *, owner: str) -> None:
    """Raise an error unless `candidates` is a function.

    Examples
    --------
    >>> check_candidates(7, owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `candidates` of `It` must be a function of a database; got 7.
    """
    if not callable(candidates):
        raise InvalidKind(
            f"The `candidates` of `{owner}` must be a function of a database; got {show(candidates)}."
        )


def candidates_of(
    database: Any, candidates: Callable[[Any], Any], *, marks: Sequence[str], owner: str
) -> tuple[list[Any], list[Any]]:
    """Return the solutions that `candidates` lists for a database, and their scores.

    Raises
    ------
    InvalidKind
        `candidates` does not return a mapping.
    InvalidValue
        A solution equals the word for a refusal.

    Examples
    --------
    >>> candidates_of([3, 3, 2**63], MostFrequent(2**64), marks=(), owner="It")
    ([3, 9223372036854775808], [2, 1])
    """
    named = candidates(database)
    if not isinstance(named, Mapping):
        raise InvalidKind(
            f"The `candidates` of `{owner}` must return a mapping from solutions to scores; "
            f"got {show(named)}."
        )
    names = list(named)
    refuse_marks(names, marks, owner=owner)
    return names, list(named.values())


def refuse_marks(solutions: Sequence[Any] | NDArray[Any], marks: Sequence[str], *, owner: str) -> None:
    """Raise an error if a solution equals the word for a refusal.

    Raises
    ------
    InvalidValue
        A solution is one of `marks`.

    Raises
    ------
    InvalidValue
        A solution is one of `marks`.

    Examples
    --------
    >>> refuse_marks(["yes", "⊥"], ["⊥"], owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: A solution of `It` must not be '⊥', which means a refusal.
    """
    dtype = getattr(solutions, "dtype", None)
    if isinstance(solutions, range) or (dtype is not None and dtype.kind in "biuf"):
        return
    for solution in solutions:
        if isinstance(solution, str) and solution in marks:
            raise InvalidValue(
                f"A solution of `{owner}` must not be {str(solution)!r}, which means a refusal."
            )


def scores_of(
    database: Any,
    score: Callable[[Any, Any], Any],
    *,
    solutions: Sequence[Any] | NDArray[Any],
    vectorised: bool,
    owner: str,
) -> NDArray[np.float64]:
    """Return the scores of all solutions on a database.

    Parameters
    ----------
    database, score
        A database, and a function of it and one solution, or all solutions if `vectorised` is true.
    solutions, vectorised
        As in `ExponentialMechanism`.
    owner
        The mechanism, for the message.

    Raises
    ------
    InvalidValue
        A score is NaN or infinite, or the numbers of scores and solutions differ.
    InvalidKind
        A score is no number.

    Examples
    --------
    >>> scores_of([3, 4], lambda rows, k: rows.count(k), solutions=range(5), vectorised=False, owner="It")
    array([0., 0., 0., 1., 1.])
    """
    scores = (
        score(database, solutions) if vectorised else [score(database, solution) for solution in solutions]
    )
    values = floats(scores, what=f"The scores of `{owner}`")
    if values.shape != (len(solutions),) or not np.isfinite(values).all():
        raise InvalidValue(
            f"The scores of `{owner}` must be {len(solutions)} finite numbers; got {values.tolist()!r:.60}."
        )
    return values


def supported(
    solutions: Sequence[Any] | NDArray[Any], scores: NDArray[np.float64]
) -> tuple[list[Any], NDArray[np.float64]]:
    """Return the solutions that score at least 1, and their scores.

    Examples
    --------
    >>> supported(range(3), np.array([0.0, 2.0, 1.0]))
    ([1, 2], array([2., 1.]))
    """
    good = np.flatnonzero(scores >= 1.0)
    return picked(solutions, good), scores[good]


def whole_scores(scores: Any, *, owner: str) -> NDArray[np.float64]:
    """Return whole scores ≥ 0 as an array.

    Raises
    ------
    InvalidValue
        A score is no whole number ≥ 0.

    Examples
    --------
    >>> whole_scores([2, 0.5], owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The scores of `It` must be whole numbers ≥ 0; got 0.5.
    """
    values = floats(scores, what=f"The scores of `{owner}`")
    odd = ~((values >= 0.0) & (values == np.floor(values)) & np.isfinite(values))
    if odd.any():
        raise InvalidValue(f"The scores of `{owner}` must be whole numbers ≥ 0; got {values[odd][0]:g}.")
    return values
