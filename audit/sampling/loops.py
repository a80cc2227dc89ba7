"""The loops that make the runs, in an order that coins decide."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from audit.errors import SubjectError
from audit.sampling.snapshots import IMMUTABLE, outcome_of, snapshot
from audit.sampling.watch import Watch
from audit.subject.surroundings import end_if_strayed, strays
from audit.values.compat import packed_state, pcg64_memory

Call = Callable[[Any, Any], Any]
_CHUNKS = 8
_SMALLEST_CHUNK = 16
_NONE_SPARE = bytes(8)


def sides(pairs: int, coins: np.random.Generator, *, by_call: bool = False) -> list[bool]:
    """Return, for each of `2·pairs` runs, whether it is on the right side.

    Parameters
    ----------
    pairs
        Half the number of runs.
    coins
        The generator of the fair coins.
    by_call
        Whether a coin decides the side of each run. Otherwise a coin for each pair decides which side is
        called first.

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
    """Append the outcome of each run to `outputs`.

    An exception is an outcome. A run past `limit` is unfinished. The list belongs to the caller, and its
    length shows the progress.

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
            try:  # outside the loop, where it costs no time; the iterator keeps its place
                if error is not None:
                    append(outcome_of(error, limit=limit))
                    error = None
                for database in databases:
                    output = call(database, rng)
                    if strays:
                        end_if_strayed()
                    append(output if type(output) in IMMUTABLE else snapshot(output))
                break
            except BaseException as raised:  # an exception of the mechanism is its output
                end_if_strayed()
                if raised is watch.outer_error or isinstance(raised, KeyboardInterrupt):
                    raise
                error = raised


def coupled(call: Call, seeds: np.random.Generator, *, start: int = 0) -> Call:
    """Return a function that gives both runs of a pair one generator state.

    Successive runs form a pair, and each pair has a new state. All runs share one generator, whose state is
    set for each run. A new generator for each pair takes far longer.

    Examples
    --------
    >>> call = coupled(lambda database, rng: rng.random(), np.random.default_rng(0))
    >>> first, second, third = call([], None), call([], None), call([], None)
    >>> first == second, first == third
    (True, False)
    """
    bits = np.random.PCG64(0)
    generator, states, runs = np.random.Generator(bits), _packed(seeds), itertools.count(start)
    packed, memory = packed_state(bits), pcg64_memory(bits)

    def run(database: Any, _: Any) -> Any:
        nonlocal packed
        if next(runs) % 2 == 0:
            packed = next(states)
        if memory is None:
            bits.state = _unpacked(packed)
        else:  # 15 times as fast
            memory[0][:], memory[1][:] = packed, _NONE_SPARE
        return call(database, generator)

    return run


def states_of(seeds: np.random.Generator) -> Iterator[Any]:
    """Return an iterator over states of `PCG64`, one for each pair of runs."""
    return map(_unpacked, _packed(seeds))


def _packed(seeds: np.random.Generator) -> Iterator[bytes]:
    """Yield states of `PCG64` as 32 bytes.

    The state comes before the increment, each with the lowest byte first.
    """
    increment = np.random.PCG64(int(seeds.integers(2**63))).state["state"]["inc"].to_bytes(16, "little")
    while True:
        halves = seeds.integers(2**64, size=(256, 2), dtype=np.uint64)[:, ::-1].astype("<u8").tobytes()
        yield from (halves[k : k + 16] + increment for k in range(0, len(halves), 16))


def _unpacked(packed: bytes) -> Any:
    whole = {"state": int.from_bytes(packed[:16], "little"), "inc": int.from_bytes(packed[16:], "little")}
    return {"bit_generator": "PCG64", "state": whole, "has_uint32": 0, "uinteger": 0}


def shares(pairs: int, coins: np.random.Generator, *, by_call: bool) -> list[tuple[int, int, bool]]:
    """Return a plan of sampler calls that make `2·pairs` runs in all.

    An item of the plan has two calls. It is (runs of the left call, runs of the right call, whether the right
    call comes first).

    Parameters
    ----------
    pairs
        Half the number of runs.
    coins
        The generator of the coins. They decide which call of an item comes first.
    by_call
        Whether a coin decides the side of each run. Then the number of left runs is binomial. Otherwise both
        sides have the same number of runs.

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
    """Return the outputs of each side, drawn by planned sampler calls.

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
    """Return a copy of a batch of `count` outputs.

    An array of one or two dimensions stays an array. Any other batch becomes a list.

    Raises
    ------
    SubjectError
        The first axis of `batch` does not have length `count`.

    Examples
    --------
    >>> kept(np.array([1.0, 2.0]), 2), kept(("only",), 1)
    (array([1., 2.]), ['only'])
    """
    _check_length(batch, count)
    if type(batch) is np.ndarray and batch.ndim in (1, 2) and batch.dtype.kind in "biufcUSmM":
        return batch.copy()
    if isinstance(batch, np.ndarray) and batch.dtype.names is not None and batch.ndim == 1:
        return list(batch.tolist())  # records become tuples
    return [snapshot(output) for output in batch]


def joined(batches: Sequence[Any]) -> Any:
    """Return the outputs of several batches as one array or list.

    The result is an array if all dtypes and shapes agree.

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
