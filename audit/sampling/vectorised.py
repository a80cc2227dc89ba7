"""Many runs in one call: what a subject's own sampler returns, checked and put in order."""

from collections.abc import Callable
from typing import Any

import numpy as np

from audit.errors import SubjectError
from audit.sampling.loops import schedule
from audit.sampling.snapshots import snapshot

__all__ = ["Column", "one_output", "sample_pairs"]

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
        return self._list if self._list is not None else self._array


def sample_pairs(
    sample: Callable[[Any, int, Any], Any],
    databases: tuple[Callable[[], Any], Callable[[], Any]],
    size: int,
    *,
    rng: np.random.Generator,
    coins: np.random.Generator,
) -> tuple[Any, Any]:
    """Return `size` outputs of each side, drawn in a few half-batches whose order fair coins decide.

    Examples
    --------
    >>> pair = (lambda: 0.0), (lambda: 5.0)
    >>> sample_pairs(lambda x, n, rng: np.full(n, x), pair, 2, rng=None, coins=np.random.default_rng(0))
    (array([0., 0.]), array([5., 5.]))
    """
    count = max(1, min(_CHUNKS, size // _SMALLEST_CHUNK))
    columns = Column(size), Column(size)
    for i, right_first in enumerate(schedule(count, coins)):
        length = size * (i + 1) // count - size * i // count
        for side in (1, 0) if right_first else (0, 1):
            columns[side].add(sample(databases[side](), length, rng), length)
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
            f"for size {count} it returned {got}."
        )


def _is_plain(batch: Any) -> bool:
    return type(batch) is np.ndarray and batch.ndim in (1, 2) and batch.dtype.kind in "biufcUSmM"


def _one_by_one(batch: Any) -> list[Any]:
    if isinstance(batch, np.ndarray) and batch.dtype.names is not None and batch.ndim == 1:
        return list(batch.tolist())  # records as tuples
    return [snapshot(output) for output in batch]
