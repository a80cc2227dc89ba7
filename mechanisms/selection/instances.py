"""Databases on which selection is hardest: the problems that the selections' utility is audited on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.problems import FixedProblem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from audit.problems import Problem

__all__ = ["answer_problem", "blocks", "letters", "shortfall_problem"]


def blocks(*parts: tuple[Any, int]) -> list[Any]:
    """Return a database of so many of each record, in order.

    Examples
    --------
    >>> blocks(("a", 2), ("", 1))
    ['a', 'a', '']
    """
    return [record for record, count in parts for _ in range(count)]


def letters(solutions: Any) -> list[str]:
    """Return up to three solutions that, as a record, approve of themselves alone; none if there are not two.

    Examples
    --------
    >>> letters(("a", "b", "c", "d")), letters(range(3)), letters(("a", "ab"))
    (['a', 'b', 'c'], [], [])
    """
    if isinstance(solutions, range) or hasattr(solutions, "dtype"):
        return []
    words = [word for word in solutions if isinstance(word, str) and word]
    alone = [word for word in words if sum(other in word for other in words) == 1]
    return alone[:3] if len(words) == len(solutions) and len(alone) > 1 else []


def shortfall_problem(
    name: str, database: Any, *, solutions: Sequence[Any], scores: Iterable[float]
) -> Problem:
    """Return the problem to choose a solution that scores high; the error is how far below the best it is.

    Examples
    --------
    >>> problem = shortfall_problem("two", ["a"], solutions="ab", scores=[1.0, 0.0])
    >>> problem.error("b", problem.draw(None)), problem.error("?", problem.draw(None))
    (1.0, inf)
    """
    table = dict(zip(solutions, scores, strict=True))
    best = max(table.values())
    return FixedProblem(name, database, lambda output, _: best - table.get(output, -math.inf))


def answer_problem(name: str, database: Any, *, answer: Any) -> Problem:
    """Return the problem to return one answer: the error is 0 for it and 1 for every other.

    Examples
    --------
    >>> answer_problem("a leads", ["a"], answer="a").error("⊥1", ["a"])
    1.0
    """
    return FixedProblem(name, database, lambda output, _: 0.0 if output == answer else 1.0)
