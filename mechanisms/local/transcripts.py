"""The exact law of a local protocol's transcript."""

from __future__ import annotations

import math
from itertools import product as every
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.values import canonical
from mechanisms.local.questions import checked_query, places_of
from mechanisms.local.randomizers import cost_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from audit.distributions import Finite, Law, Product
    from mechanisms.local.grouping import Grouped
    from mechanisms.local.questions import Query

__all__ = ["flattened", "follow", "product_law", "spending", "transcript_law"]

_MOST = 50_000
"""Largest number of sequences of answers that are enumerated."""


def spending(queries: Sequence[Query], size: int) -> float:
    """Return the largest total cost of the questions to one entry.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> spending([(range(3), RandomizedResponse(epsilon=0.5)), ([0, 0], RandomizedResponse(epsilon=1.0))], 3)
    2.5
    """
    costs: list[list[float]] = [[] for _ in range(size)]
    for query in queries:
        entries, randomizer = checked_query(query)
        places, cost = places_of(entries, size), cost_of(randomizer)
        for place in range(size)[places] if isinstance(places, slice) else np.ravel(places).tolist():
            costs[place].append(cost)
    return max(map(math.fsum, costs))


def flattened(answers: Sequence[Any]) -> tuple[Any, ...]:
    """Return the answers to several questions as one tuple.

    Examples
    --------
    >>> flattened([np.array([1, 0]), 0.5])
    (1, 0, 0.5)
    """
    flat: list[Any] = []
    for answer in answers:
        listed = answer.ravel().tolist() if isinstance(answer, np.ndarray) else answer
        flat += listed if isinstance(listed, list) else [listed]
    return tuple(flat)


def product_law(queries: Sequence[Query], entries: Grouped) -> Product | None:
    """Return the joint law of the answers to listed questions.

    If an answer has no known law, it is None.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local.grouping import Grouped
    >>> law = product_law([(range(2), RandomizedResponse())], Grouped([1, 0]))
    >>> round(law.pmf((1, 0)), 12) == round(4 / 9, 12)
    True
    """
    from audit.distributions import Product

    factors: list[Law] = []
    for asked, randomizer in queries:
        for place in np.ravel(np.asarray(asked)).tolist():
            law = _law_at(randomizer, entries, place)
            if law is None:
                return None
            factors += law.factors if isinstance(law, Product) else [law]
    return Product(factors)


def transcript_law(
    rounds: Callable[[], Iterator[Any]], entries: Grouped, *, budget: float = math.inf
) -> Finite | None:
    """Return the exact law of the output of a deterministic algorithm.

    Parameters
    ----------
    rounds
        A function that starts the algorithm afresh, as a generator of questions that returns the output.
    entries
        The database.
    budget
        The budget of every entry. If a sequence of answers overspends it, the result is None.

    Returns
    -------
    Finite or None
        None if an answer has no finite law, if there are more than 50,000 sequences, or if one overspends.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local.grouping import Grouped
    >>> def once():
    ...     return (yield 0, RandomizedResponse())
    >>> round(transcript_law(once, Grouped([1])).pmf(1), 12)
    0.666666666667
    """
    from audit.distributions import Finite

    found: dict[Hashable, tuple[Any, list[float]]] = {}
    pending: list[tuple[tuple[Any, ...], tuple[Query, ...], float]] = [((), (), 0.0)]
    ended = 0
    while pending:
        path, asked, log = pending.pop()
        done, value = follow(rounds, path)
        if done:
            ended += 1
            found.setdefault(canonical.key(value), (value, []))[1].append(log)
            continue
        answers = _every_answer(value, entries)
        asked = (*asked, value)
        spent = spending(asked, len(entries))
        if answers is None or spent > budget or ended + len(pending) + len(answers) > _MOST:
            return None
        pending += [((*path, answer), asked, log + more) for answer, more in reversed(answers)]
    logs = [float(np.logaddexp.reduce(terms)) for _, terms in found.values()]
    return Finite([value for value, _ in found.values()], log_probabilities=logs)


def follow(rounds: Callable[[], Iterator[Any]], path: Sequence[Any]) -> tuple[bool, Any]:
    """Return (True, output) after these answers, or (False, next question).

    Examples
    --------
    >>> def once():
    ...     return (yield 0, "R")
    >>> follow(once, ()), follow(once, (7,))
    ((False, (0, 'R')), (True, 7))
    """
    running: Any = rounds()
    try:
        question = next(running)
        for answer in path:
            question = running.send(_fresh(answer))
    except StopIteration as end:
        return True, end.value
    return False, question


def _fresh(answer: Any) -> Any:
    return answer.copy() if isinstance(answer, np.ndarray) else answer


def _every_answer(query: Query, entries: Grouped) -> list[tuple[Any, float]] | None:
    """Return every possible answer to one question, with its log-probability."""
    from audit.distributions import Finite

    asked, randomizer = query
    places = np.ravel(np.asarray(asked)).tolist()
    laws = [_law_at(randomizer, entries, place) for place in places]
    finite = [law for law in laws if isinstance(law, Finite)]
    if len(finite) < len(laws) or math.prod(len(law.outcomes) for law in finite) > _MOST:
        return None
    options = [_possible(law) for law in finite]
    joint = [([w for w, _ in choice], sum(log for _, log in choice)) for choice in every(*options)]
    if np.ndim(asked) == 0:
        return [(answer[0], log) for answer, log in joint]
    numbers = all(type(w) in (int, float, bool) for option in options for w, _ in option)
    return [(np.array(answer) if numbers else answer, log) for answer, log in joint]


def _possible(law: Finite) -> list[tuple[Any, float]]:
    logs = law.log_probabilities.tolist()
    return [(law.outcome(place), log) for place, log in enumerate(logs) if math.isfinite(log)]


def _law_at(randomizer: Any, entries: Grouped, place: int) -> Law | None:
    declared = getattr(randomizer, "distribution", None)
    if not callable(declared):
        return None
    entry = entries.entries[place]
    law: Law | None = declared([entry.item() if isinstance(entry, np.generic) else entry])
    return law
