"""The runs themselves, in an order that coins decide, one call at a time or many at once."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from audit.sampling.snapshots import IMMUTABLE, outcome_of, snapshot
from audit.sampling.watch import Watch
from audit.subject.surroundings import end_if_strayed, strays

Call = Callable[[Any, Any], Any]


def sides(pairs: int, coins: np.random.Generator, *, by_call: bool = False) -> list[bool]:
    """Return of `2·pairs` runs whether each is one of the right side.

    Parameters
    ----------
    pairs
        Half the number of runs.
    coins
        Decides by fair coins.
    by_call
        One coin a run; else one a pair, which says which of its two sides is called first.

    Examples
    --------
    >>> order = sides(5, np.random.default_rng(0))
    >>> len(order), sum(order)
    (10, 5)
    >>> len(sides(5, np.random.default_rng(0), by_call=True))
    10
    """
    if by_call:
        return (coins.integers(0, 2, 2 * pairs) == 1).tolist()  # type: ignore[no-any-return]
    turned: list[bool] = (coins.integers(0, 2, pairs) == 1).tolist()
    return [side for right_first in turned for side in (right_first, not right_first)]


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
