"""The runs themselves: pairs in an order that a coin decides, one call at a time or many at once."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.outcomes import Unfinished
from audit.sampling.faults import TimeLimit
from audit.sampling.snapshots import IMMUTABLE, outcome_of, snapshot

__all__ = ["call_each", "in_pairs", "schedule"]

Call = Callable[[Any, Any], Any]


def schedule(size: int, coins: np.random.Generator) -> list[bool]:
    """Return for `size` pairs whether the right side is called first, by fair coins.

    Examples
    --------
    >>> len(schedule(5, np.random.default_rng(0)))
    5
    """
    return (coins.integers(0, 2, size) == 1).tolist()  # type: ignore[no-any-return]


def ordered(order: list[bool], left: Any, right: Any) -> Iterator[Any]:
    """Yield the database of each run, two a pair."""
    for right_first in order:
        if right_first:
            yield right
            yield left
        else:
            yield left
            yield right


def call_each(call: Call, databases: Iterator[Any], rng: Any, *, outputs: list[Any], limit: str = "") -> None:
    """Append the outcome of each run to `outputs`, exceptions as values.

    The list is the caller's so that it tells how far the loop is at any time.

    Examples
    --------
    >>> outputs = []
    >>> call_each(lambda database, rng: 1 / database, iter([2, 0]), None, outputs=outputs)
    >>> outputs
    [0.5, Raised(kind='ZeroDivisionError', message='division by zero')]
    """
    append = outputs.append
    while True:
        try:  # outside the loop, which it costs nothing: the iterator remembers where it is
            for database in databases:
                output = call(database, rng)
                append(output if type(output) in IMMUTABLE else snapshot(output))
            break
        except KeyboardInterrupt:
            raise
        except TimeLimit:
            append(Unfinished(f"time limit of {limit}"))
        except BaseException as error:  # noqa: BLE001  whatever a mechanism raises is its output
            append(outcome_of(error))


def in_pairs(order: list[bool], outputs: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the outputs of the two sides, pair by pair.

    Examples
    --------
    >>> in_pairs([False, True], ["left", "right", "right", "left"])
    (['left', 'left'], ['right', 'right'])
    """
    first, second = outputs[0::2], outputs[1::2]
    left = [b if flip else a for a, b, flip in zip(first, second, order, strict=True)]
    right = [a if flip else b for a, b, flip in zip(first, second, order, strict=True)]
    return left, right
