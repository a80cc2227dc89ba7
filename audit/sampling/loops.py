"""The runs themselves: pairs in an order that a coin decides, one call at a time or many at once."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.sampling.snapshots import IMMUTABLE, outcome_of, snapshot
from audit.sampling.watch import Watch
from audit.surroundings import end_if_strayed, strays

__all__ = ["call_each", "coupled", "in_pairs", "ordered", "ordered_constants", "schedule"]

Call = Callable[[Any, Any], Any]


def schedule(size: int, coins: np.random.Generator) -> list[bool]:
    """Return for `size` pairs whether the right side is called first, by fair coins.

    Examples
    --------
    >>> len(schedule(5, np.random.default_rng(0)))
    5
    """
    return (coins.integers(0, 2, size) == 1).tolist()  # type: ignore[no-any-return]


def ordered(order: list[bool], left: Callable[[], Any], right: Callable[[], Any]) -> Iterator[Any]:
    """Yield the database of each run, two a pair, made when its turn comes.

    Examples
    --------
    >>> list(ordered([False, True], lambda: "left", lambda: "right"))
    ['left', 'right', 'right', 'left']
    """
    for right_first in order:
        if right_first:
            yield right()
            yield left()
        else:
            yield left()
            yield right()


def ordered_constants(order: list[bool], left: Any, right: Any) -> Iterator[Any]:
    """Yield what `ordered` would if each side were always the same object, faster.

    Examples
    --------
    >>> list(ordered_constants([False, True], "left", "right"))
    ['left', 'right', 'right', 'left']
    """
    straight, turned = (left, right), (right, left)
    return itertools.chain.from_iterable([turned if flip else straight for flip in order])


def call_each(
    call: Call,
    databases: Iterator[Any],
    rng: Any,
    *,
    outputs: list[Any],
    limit: float,
    on_tick: Callable[[int], None] | None = None,
) -> None:
    """Append the outcome of each run to `outputs`: exceptions as values, runs past `limit` as unfinished.

    The list is the caller's so that it tells at any time how far the loop is.

    Examples
    --------
    >>> outputs = []
    >>> call_each(lambda database, rng: 1 / database, iter([2, 0]), None, outputs=outputs, limit=10)
    >>> outputs
    [0.5, Raised(kind='ZeroDivisionError', message='division by zero')]
    """
    append = outputs.append
    error: BaseException | None = None
    with Watch(limit, outputs.__len__, on_tick=on_tick) as watch:
        while True:
            try:  # around the loop, which it costs nothing: the iterator remembers where it is
                if error is not None:
                    append(outcome_of(error, limit=limit))
                    error = None
                for database in databases:
                    output = call(database, rng)
                    if strays:
                        end_if_strayed()
                    append(output if type(output) in IMMUTABLE else snapshot(output))
                break
            except BaseException as raised:  # whatever a mechanism raises is its output
                end_if_strayed()
                if raised is watch.outer_error or isinstance(raised, KeyboardInterrupt):
                    raise
                error = raised


def coupled(call: Call, seeds: np.random.Generator, *, start: int = 0) -> Call:
    """Return a call that gives both runs of a pair, called one after the other, the same generator state.

    Such runs steer the search; they are never bet on.

    Examples
    --------
    >>> call = coupled(lambda database, rng: rng.random(), np.random.default_rng(0))
    >>> first, second, third = call([], None), call([], None), call([], None)
    >>> first == second, first == third
    (True, False)
    """
    seed = int(seeds.integers(2**63))
    runs = itertools.count(start)

    def run(database: Any, _: Any) -> Any:
        nonlocal seed
        if next(runs) % 2 == 0:
            seed = int(seeds.integers(2**63))
        return call(database, np.random.Generator(np.random.PCG64(seed)))

    return run


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
