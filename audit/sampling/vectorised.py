"""Many runs in one call: what a subject's own sampler returns, checked and put in order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.errors import SubjectError
from audit.sampling.loops import sides
from audit.sampling.snapshots import snapshot

_CHUNKS = 8
_SMALLEST_CHUNK = 16


class Column:
    """The outputs of one side, gathered call by call: one array while the calls agree, else a list.

    Parameters
    ----------
    size
        Number of runs in all.

    Examples
    --------
    >>> column = Column(3)
    >>> column.add(np.array([1.0, 2.0]), 2)
    >>> column.add(np.array([3.0]), 1)
    >>> column.outputs()
    array([1., 2., 3.])
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._filled = 0
        self._array: np.ndarray[Any, Any] | None = None
        self._list: list[Any] | None = None

    def add(self, batch: Any, count: int) -> None:
        """Append a batch of `count` outputs, copied.

        Raises
        ------
        SubjectError
            The first axis of `batch` is not `count`.
        """
        _check_length(batch, count)
        stop = self._filled + count
        if self._list is None and _is_plain(batch):
            if self._array is None:
                self._array = np.empty((self._size, *batch.shape[1:]), batch.dtype)
            if batch.dtype == self._array.dtype and batch.shape[1:] == self._array.shape[1:]:
                self._array[self._filled : stop] = batch
                self._filled = stop
                return
        if self._list is None:
            self._list = [] if self._array is None else list(self._array[: self._filled])
        self._list.extend(_one_by_one(batch))
        self._filled = stop

    def outputs(self) -> Any:
        """Return what was gathered: an array of one or two dimensions, or a list."""
        if self._list is not None:
            return self._list
        return [] if self._array is None else self._array


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
    databases: tuple[Callable[[], Any], Callable[[], Any]],
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
    columns = Column(sum(left for left, _, _ in plan)), Column(sum(right for _, right, _ in plan))
    for *lengths, right_first in plan:
        for side in (1, 0) if right_first else (0, 1):
            if lengths[side]:
                columns[side].add(sample(databases[side](), lengths[side], rng), lengths[side])
    return columns[0].outputs(), columns[1].outputs()


def one_output(batch: Any) -> Any:
    """Return the output in a batch of one.

    Raises
    ------
    SubjectError
        It is not a batch of one.

    Examples
    --------
    >>> one_output(["only"])
    'only'
    """
    _check_length(batch, 1)
    return _one_by_one(batch)[0]


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


def _is_plain(batch: Any) -> bool:
    return type(batch) is np.ndarray and batch.ndim in (1, 2) and batch.dtype.kind in "biufcUSmM"


def _one_by_one(batch: Any) -> list[Any]:
    if isinstance(batch, np.ndarray) and batch.dtype.names is not None and batch.ndim == 1:
        return list(batch.tolist())  # records as tuples
    return [snapshot(output) for output in batch]
