"""Many runs of one protocol at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms.local.randomizers import drawn_for
from mechanisms.local.transcripts import follow, spending

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from mechanisms.local.grouping import Grouped
    from mechanisms.local.questions import Query

__all__ = ["answered_often", "sampled_paths"]


def answered_often(query: Query, entries: Grouped, runs: int, *, rng: np.random.Generator) -> Any:
    """Return the answers to one question in many independent runs.

    The runs are along the first axis.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local.grouping import Grouped
    >>> query = [1, 0], RandomizedResponse(epsilon=800.0)
    >>> answered_often(query, Grouped([0, 1]), 2, rng=np.random.default_rng(0)).tolist()
    [[1, 0], [1, 0]]
    """
    asked, randomizer = query
    places = np.ravel(np.asarray(asked, dtype=np.intp))
    alone, width = np.ndim(asked) == 0, len(places)
    answers = drawn_for(randomizer, entries.at(np.tile(places, runs)), rng=rng)
    if isinstance(answers, np.ndarray):
        return answers if alone else answers.reshape(runs, width, *answers.shape[1:])
    return answers if alone else [answers[run * width : (run + 1) * width] for run in range(runs)]


def sampled_paths(
    rounds: Callable[[], Iterator[Any]],
    entries: Grouped,
    runs: int,
    *,
    budget: float,
    rng: np.random.Generator,
) -> list[Any] | None:
    """Return the outputs of many runs of a deterministic algorithm.

    Returns
    -------
    list or None
        None if some answers are not whole numbers, or if a sequence of answers overspends the budget.

    Examples
    --------
    >>> from mechanisms import RandomizedResponse
    >>> from mechanisms.local.grouping import Grouped
    >>> def once():
    ...     return (yield 0, RandomizedResponse(epsilon=800.0))
    >>> sampled_paths(once, Grouped([1]), 3, budget=800.0, rng=np.random.default_rng(0))
    [1, 1, 1]
    """
    outputs: list[Any] = [None] * runs
    pending: list[tuple[tuple[Any, ...], tuple[Query, ...], NDArray[np.intp]]] = [((), (), np.arange(runs))]
    while pending:
        path, asked, who = pending.pop()
        done, value = follow(rounds, path)
        if done:
            for run in who.tolist():
                outputs[run] = value
            continue
        asked = (*asked, value)
        if spending(asked, len(entries)) > budget:
            return None
        answers = answered_often(value, entries, len(who), rng=rng)
        if not (isinstance(answers, np.ndarray) and answers.dtype.kind in "biu"):
            return None
        pending += [((*path, answer), asked, who[same]) for answer, same in _branches(answers)]
    return outputs


def _branches(answers: NDArray[Any]) -> list[tuple[Any, NDArray[np.bool_]]]:
    """Return each distinct answer with the runs that got it."""
    distinct, codes = np.unique(answers, axis=0, return_inverse=True)
    values = distinct.tolist() if answers.ndim == 1 else list(distinct)
    return [(value, codes.ravel() == code) for code, value in enumerate(values)]
