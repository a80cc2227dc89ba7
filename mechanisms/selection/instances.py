"""Databases on which selection is hardest, as problems for utility audits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from audit.problems import FixedProblem
from mechanisms.selection.scoring import MostFrequent
from mechanisms.subjects.plain_queries import approvals

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from audit.problems import Problem

__all__ = ["answer_problem", "blocks", "contests", "letters", "shortfall_problem", "voters"]


def blocks(*parts: tuple[Any, int]) -> list[Any]:
    """Return a database with the given number of each record, in order.

    Examples
    --------
    >>> blocks(("a", 2), ("", 1))
    ['a', 'a', '']
    """
    return [record for record, count in parts for _ in range(count)]


def letters(solutions: Any) -> list[str]:
    """Return up to three words that, as records, approve only of themselves.

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


def voters(solutions: Any, score: Any, candidates: Any = None) -> list[Any]:
    """Return up to three records, each a vote for one solution.

    Examples
    --------
    >>> voters("abcd", approvals), voters((), approvals, MostFrequent(2**64))
    (['a', 'b', 'c'], [0, 1, 2])
    """
    if isinstance(candidates, MostFrequent):
        return list(range(min(3, candidates.candidates)))
    return letters(solutions) if candidates is None and score is approvals else []


def contests(known: Sequence[Any], blank: Any, *, alpha: float, size: int) -> list[tuple[str, list[Any]]]:
    """Return named databases that are hard for the choosing mechanism.

    Parameters
    ----------
    known
        At least two records, each of which supports a solution of its own.
    blank
        A record that supports no solution.
    alpha, size
        The parameters of the choosing mechanism.

    Examples
    --------
    >>> contests("ab", "", alpha=0.5, size=4)[-1]
    ('opt = 3, rival 1', ['a', 'a', 'a', 'b'])
    """
    best, rival, *_ = known
    high = math.floor(alpha * size)  # the largest score at which every solution is good
    low = min(math.floor(alpha * size / 2.0) + 1, size)
    tops = dict.fromkeys(score for score in (0, low, high, high + 1) if score <= size)
    told = [(f"opt = {opt}", blocks((best, opt), (blank, size - opt))) for opt in tops]
    others = size - high - 1
    rivals = [(high + 1, others), (size - others // 2, others // 2)]
    return told + [
        (f"opt = {opt}, rival {other}", blocks((best, opt), (rival, other)))
        for opt, other in rivals
        if other > 0 and opt > other
    ]


def shortfall_problem(
    name: str, database: Any, *, solutions: Sequence[Any], scores: Iterable[float]
) -> Problem:
    """Return the problem of choosing a high-scoring solution.

    The error is the distance to the best score.

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
    """Return the problem of giving one right answer, with error 0 or 1.

    Examples
    --------
    >>> answer_problem("a leads", ["a"], answer="a").error("⊥1", ["a"])
    1.0
    """
    return FixedProblem(name, database, lambda output, _: 0.0 if output == answer else 1.0)
