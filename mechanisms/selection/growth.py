"""A search for databases that break the bounded growth of a score."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidValue, positive_int
from audit.relations import Relation
from audit.values.brief import show
from mechanisms.selection.scoring import candidates_of, picked, scores_of
from mechanisms.subjects.answers import floats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["GrowthCheck", "GrowthViolation", "check_growth"]


@dataclass(frozen=True)
class GrowthViolation:
    """Two databases that break the bounded growth of a score.

    Parameters
    ----------
    before, after
        `after` has one record more. If the empty database has a score other than 0, both are empty.
    solutions
        The solutions whose scores break bounded growth.
    reason
        What is wrong, in words.

    Examples
    --------
    >>> print(GrowthViolation([], ["ab"], ("a", "b"), "2 scores rise, more than growth = 1"))
    from [] to ['ab']: 2 scores rise, more than growth = 1 (solutions ('a', 'b'))
    """

    before: list[Any]
    after: list[Any]
    solutions: tuple[Any, ...]
    reason: str

    def __str__(self) -> str:
        where, who = f"from {show(self.before)} to {show(self.after)}", show(self.solutions)
        return f"{where}: {self.reason} (solutions {who})"


@dataclass(frozen=True)
class GrowthCheck:
    """The result of a search for a violation of bounded growth.

    Parameters
    ----------
    violation
        A violation on the smallest databases, or None.
    steps
        How many additions of a record were checked.
    exhaustive
        Whether these are all possible additions up to the given size.

    Examples
    --------
    >>> GrowthCheck(None, steps=12, exhaustive=True).refuted
    False
    """

    violation: GrowthViolation | None
    steps: int
    exhaustive: bool

    @property
    def refuted(self) -> bool:
        """Whether the score breaks bounded growth."""
        return self.violation is not None


def check_growth(
    score: Callable[[Any, Any], Any],
    solutions: Sequence[Any] | NDArray[Any],
    *,
    growth: int,
    records: Sequence[Any],
    size: int,
    vectorised: bool = False,
    candidates: Callable[[Any], Mapping[Any, Any]] | None = None,
    most: int = 20_000,
    rng: np.random.Generator | None = None,
) -> GrowthCheck:
    """Return the result of a search for databases that break bounded growth.

    A score has k-bounded growth (BNS Definition 12) if it is 0 on the empty database, and an added record
    raises at most k scores, each by 1. All other scores stay the same.

    Parameters
    ----------
    score, solutions, vectorised, candidates
        As in `ChoosingMechanism`.
    growth
        The number k ≥ 1.
    records
        A finite domain.
    size
        Length of the longest database, after the record was added.
    most
        The most additions of a record to check. If not all additions fit, half of the checks are on the
        shortest databases, and half on databases that grow at random.
    rng
        The generator for the random databases. Default: from seed 0.

    Raises
    ------
    InvalidValue
        A number is out of bounds, there are no records, or a score is not finite.

    Examples
    --------
    >>> def approvals(rows, letter):
    ...     return sum(letter in row for row in rows)
    >>> print(check_growth(approvals, "abc", growth=1, records=["a", "bc"], size=3).violation)
    from [] to ['bc']: 2 scores rise, more than growth = 1 (solutions ('b', 'c'))
    >>> check_growth(approvals, "abc", growth=2, records=["a", "bc"], size=3)
    GrowthCheck(violation=None, steps=24, exhaustive=True)
    """
    positive_int(growth, what="The `growth` of `check_growth`", maximum=None)
    positive_int(size, what="The `size` of `check_growth`")
    positive_int(most, what="The `most` of `check_growth`", minimum=2)
    if not len(records):
        raise InvalidValue("The `records` of `check_growth` must hold at least one; got none.")
    search = _Search(score, solutions, growth=growth, vectorised=vectorised, candidates=candidates)
    every = _every_step(list(records), size)
    exhaustive = _count_up_to(_every_step(list(records), size), most + 1) <= most
    steps = list(every) if exhaustive else list(islice(every, most // 2))
    if not exhaustive:
        steps += list(islice(_random_steps(list(records), size, rng or np.random.default_rng(0)), most // 2))
    for number, (before, after) in enumerate(steps):
        violation = search.empty() if number == 0 else None
        violation = violation or search.step(before, after)
        if violation is not None:
            return GrowthCheck(violation, steps=number + 1, exhaustive=False)
    return GrowthCheck(None, steps=len(steps), exhaustive=exhaustive)


class _Search:
    """Searches for violations of bounded growth."""

    def __init__(
        self, score: Any, solutions: Any, *, growth: int, vectorised: bool, candidates: Any = None
    ) -> None:
        self._score, self._solutions = score, solutions
        self._growth, self._vectorised, self._candidates = growth, vectorised, candidates

    def empty(self) -> GrowthViolation | None:
        names, scores = self._change(None, [])
        broken = np.flatnonzero(scores != 0.0)
        return self._violation([], [], picked(names, broken), reason="a score of the empty database is not 0")

    def step(self, before: list[Any], after: list[Any]) -> GrowthViolation | None:
        names, change = self._change(before, after)
        jumps, raised = np.flatnonzero((change != 0.0) & (change != 1.0)), np.flatnonzero(change == 1.0)
        if jumps.size:
            reason = f"a score changes by {change[jumps[0]]:g}, neither 0 nor 1"
            return self._violation(before, after, picked(names, jumps), reason=reason)
        if len(raised) > self._growth:
            reason = f"{len(raised)} scores rise, more than growth = {self._growth}"
            return self._violation(before, after, picked(names, raised), reason=reason)
        return None

    def _change(
        self, before: list[Any] | None, after: list[Any]
    ) -> tuple[Sequence[Any] | NDArray[Any], NDArray[np.float64]]:
        """Return the solutions and the change of each score.

        If `before` is None, the scores before are 0.
        """
        if self._candidates is None:
            earlier = 0.0 if before is None else self._scores(before)
            return self._solutions, self._scores(after) - earlier
        old, new = ({} if each is None else self._named(each) for each in (before, after))
        names = list({**old, **new})
        return names, np.array([new.get(name, 0.0) - old.get(name, 0.0) for name in names], dtype=np.float64)

    def _named(self, database: list[Any]) -> dict[Any, float]:
        names, scores = candidates_of(database, self._candidates, marks=(), owner="check_growth")
        return dict(zip(names, floats(scores, what="The scores of `check_growth`").tolist(), strict=True))

    def _scores(self, database: list[Any]) -> NDArray[np.float64]:
        return scores_of(
            database,
            self._score,
            solutions=self._solutions,
            vectorised=self._vectorised,
            owner="check_growth",
        )

    def _violation(
        self, before: list[Any], after: list[Any], broken: list[Any], *, reason: str
    ) -> GrowthViolation | None:
        return GrowthViolation(before, after, tuple(broken), reason) if broken else None


def _every_step(records: list[Any], size: int) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield all pairs (before, after) in which `after` has one record more."""
    for length in range(size):
        for before in product(records, repeat=length):
            longer = Relation.ADD_OR_REMOVE_ONE.neighbours(list(before), records)
            yield from ((list(before), after) for after in longer if len(after) > length)


def _random_steps(
    records: list[Any], size: int, rng: np.random.Generator
) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield random pairs (before, after) in which `after` has one record more.

    The stream has no end.
    """
    while True:
        database: list[Any] = []
        for _ in range(size):
            after = list(database)
            after.insert(int(rng.integers(len(database) + 1)), records[int(rng.integers(len(records)))])
            yield database, after
            database = after


def _count_up_to(items: Iterator[Any], most: int) -> int:
    return sum(1 for _ in islice(items, most))
