"""Many runs in one call: what a subject's own sampler returns, checked and put in order."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from audit.errors import SubjectError
from audit.sampling.loops import sides
from audit.sampling.snapshots import snapshot

_CHUNKS = 8
_SMALLEST_CHUNK = 16


def shares(pairs: int, coins: np.random.Generator, *, by_call: bool) -> list[tuple[int, int, bool]]:
    """Return into which calls of a sampler `2·pairs` runs go: left runs, right runs, and the right first.

    Parameters
    ----------
    pairs
        Half the number of runs.
    coins
        Decides the order of the two calls of a chunk.
    by_call
        Whether each run had a coin of its own: of so many the left side has a binomial number, and runs that
        do not depend on each other may be called in any order. Else the sides have as many.

    Examples
    --------
    >>> sum(left + right for left, right, _ in shares(100, np.random.default_rng(0), by_call=True))
    200
    """
    count = max(1, min(_CHUNKS, pairs // _SMALLEST_CHUNK))
    found = []
    for i, right_first in enumerate(sides(count, coins)[::2]):
        length = pairs * (i + 1) // count - pairs * i // count
        left = int(coins.binomial(2 * length, 0.5)) if by_call else length
        found.append((left, 2 * length - left, right_first))
    return found


def sample_pairs(
    sample: Callable[[Any, int, Any], Any],
    databases: Sequence[Callable[[], Any]],
    plan: list[tuple[int, int, bool]],
    *,
    rng: np.random.Generator,
) -> tuple[Any, Any]:
    """Return the outputs of each side, drawn in a few calls of the sampler as `shares` planned them.

    Examples
    --------
    >>> pair = (lambda: 0.0), (lambda: 5.0)
    >>> sample_pairs(lambda x, n, rng: np.full(n, x), pair, [(2, 1, False)], rng=None)
    (array([0., 0.]), array([5.]))
    """
    batches: tuple[list[Any], list[Any]] = [], []
    for *lengths, right_first in plan:
        for side in (1, 0) if right_first else (0, 1):
            if lengths[side]:
                batches[side].append(kept(sample(databases[side](), lengths[side], rng), lengths[side]))
    return joined(batches[0]), joined(batches[1])


def kept(batch: Any, count: int) -> Any:
    """Return a batch of `count` outputs, copied: an array of one or two dimensions, else a list.

    Raises
    ------
    SubjectError
        The first axis of `batch` is not `count`.

    Examples
    --------
    >>> kept(np.array([1.0, 2.0]), 2), kept(("only",), 1)
    (array([1., 2.]), ['only'])
    """
    _check_length(batch, count)
    if type(batch) is np.ndarray and batch.ndim in (1, 2) and batch.dtype.kind in "biufcUSmM":
        return batch.copy()
    if isinstance(batch, np.ndarray) and batch.dtype.names is not None and batch.ndim == 1:
        return list(batch.tolist())  # records as tuples
    return [snapshot(output) for output in batch]


def joined(batches: Sequence[Any]) -> Any:
    """Return the outputs of several batches: one array if they are arrays that agree, else a list.

    Examples
    --------
    >>> joined([np.array([1.0, 2.0]), np.array([3.0])]), joined([[1], [2, 3]])
    (array([1., 2., 3.]), [1, 2, 3])
    """
    kinds = {(batch.dtype, batch.shape[1:]) if isinstance(batch, np.ndarray) else None for batch in batches}
    if len(kinds) == 1 and None not in kinds:
        return np.concatenate(batches)
    return [output for batch in batches for output in batch]


def _check_length(batch: Any, count: int) -> None:
    try:
        length = batch.shape[0] if isinstance(batch, np.ndarray) else len(batch)
    except (TypeError, IndexError):
        length = None
    if length != count or isinstance(batch, str | bytes | dict | set | frozenset):
        got = type(batch).__name__ if length is None else f"{type(batch).__name__} of length {length}"
        raise SubjectError(
            "`sample(database, size, rng)` must return `size` outputs along its first axis; "
            f"got {got} for size {count}."
        )
