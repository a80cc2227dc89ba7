"""Choose the features that fit the kinds of past outputs. No verdict rests on the choice."""

from collections import Counter
from collections.abc import Hashable, Iterator
from itertools import combinations

import numpy as np

from audit.distributions.law import Floats
from audit.events.features import numbers
from audit.events.features.atoms import Keys, Kind, Type, Whole
from audit.events.features.base import Feature
from audit.events.features.bits import PATTERNS, LastBits
from audit.events.features.comparison import MOST_COMPARED, bound_pairs, few, gaps, is_spread
from audit.events.features.scores import LEAST_FOR_SCORES, fit_score
from audit.events.features.structure import MOST_BOUND, MOST_DIGITS, of_parts
from audit.events.features.views import EXACT, PLAIN_ENTRIES, View
from audit.values import canonical
from audit.values.outcomes import Raised, Unfinished

Side = list[View]

MOST_COORDINATES = 12
MOST_KEYS = 16
#: Larger: slower. Maximum number of entries to which a score is fitted: those that differ most between the
#: sides.
MOST_SCORED = 512
#: Larger: rarer types are found. Number of outputs of a block whose nested types are read.
_ASKED = 100
_SOME = 500
#: Smaller: rarer values get features of their own. A value is special (a refusal, a flag, a mark) if at least
#: this share of all entries has it.
SPECIAL_SHARE = 0.05
_SHARE_OF_REPEATS = 0.3


def propose(left: Side, right: Side, *, floats: bool) -> Iterator[Feature]:
    """Yield the features whose values are to be counted in tables, in a fixed order.

    Parameters
    ----------
    left, right
        Past outputs of the two databases, as blocks.
    floats
        Whether features may read bit patterns of floats.
    """
    views = left + right
    if any(len(view.numbers[1]) for view in views):
        yield numbers.Value()
        if floats:
            yield from (pattern() for pattern in PATTERNS)
        if is_spread(np.concatenate([view.numbers[1][:_SOME] for view in views])):
            yield LastBits()
    typed = all(view.typed for view in views)
    if typed and len({each for view in views for each in _types(view)}) > 1:
        yield Type()
    kinds = {Kind().read(output) for view in views for output in _odd(view)}
    sizes = {size for view in views for size in view.vectors}
    if kinds:
        yield from (Kind(), Whole())
    elif any((np.abs(view.numbers[1]) >= EXACT).any() for view in views) or (sizes and _repeats(views)):
        yield Whole()
    if sizes:
        yield from _of_vectors(left, right, max(sizes), floats=floats)
    if len(sizes) > 1 or any(hasattr(type(output), "__len__") for view in views for _, output in view.rest):
        yield numbers.Length()
    keys = _common_keys(views)
    if keys:
        yield Keys()
        yield from (numbers.Entry(key) for key in keys)
    yield from of_parts(left, right, entries=keys, floats=floats, typed=typed)


def _types(view: View) -> set[object]:
    """Return the types of a block's outputs.

    If some outputs are structured, return the types of the first few outputs and of their entries.
    """
    if isinstance(view.outputs, np.ndarray):
        return {view.outputs.dtype}
    names = set(map(type, view.outputs))
    if names <= PLAIN_ENTRIES | {str, bytes, Raised, Unfinished}:
        return {*names}
    return {Type().read(output) for output in view.outputs[:_ASKED]}


def _odd(view: View) -> Iterator[object]:
    """Yield the outputs that are neither numbers nor vectors, and NaN if it occurs.

    If the block mixes kinds of output, also yield one number and one vector of each length.
    """
    yield from (output for _, output in view.rest)
    where, found = view.numbers
    if np.isnan(found).any():
        yield float("nan")
    groups = (len(found) > 0) + len(view.vectors) + bool(view.rest)
    if groups > 1:
        yield from (view.outputs[i] for i in np.arange(len(view))[where][:1])
        yield from (view.outputs[i] for at, _ in view.vectors.values() for i in np.arange(len(view))[at][:1])


def _common_keys(views: Side) -> list[object]:
    counts = Counter(key for view in views for _, mapping in view.mappings for key in mapping)
    return sorted(counts, key=lambda key: (-counts[key], repr(key)))[:MOST_KEYS]


def _of_vectors(left: Side, right: Side, size: int, *, floats: bool) -> Iterator[Feature]:
    a, b = _matrix(left, size), _matrix(right, size)
    chosen = _most_moved(a, b)
    yield from (numbers.Coordinate(i) for i in sorted(chosen[:MOST_COORDINATES]))
    yield from _of_digits(a, b, chosen, floats=floats)
    if np.isnan(few(a)).any() or np.isnan(few(b)).any():
        yield numbers.Missing()
    if size < 2:
        return
    yield from (kind() for kind in numbers.OF_ALL_ENTRIES)
    pairs = list(combinations(sorted(chosen[:5]), 2))
    bound = bound_pairs(a, b)
    yield from (numbers.Difference(first=i, second=j) for i, j in dict.fromkeys(pairs + bound))
    yield from (numbers.PairSum(first=i, second=j) for i, j in bound)
    for value in _special(np.concatenate([few(a), few(b)])):
        yield from (kind(value) for kind in numbers.OF_SPECIAL_ENTRIES)
    if min(len(a), len(b)) >= LEAST_FOR_SCORES:
        yield fit_score(a[: len(a) // 2], b[: len(b) // 2], entries=set(chosen[:MOST_SCORED]))


def _of_digits(a: Floats, b: Floats, chosen: list[int], *, floats: bool) -> Iterator[Feature]:
    """Yield features of digits for the entries whose digits differ most."""
    some = sorted(chosen[:MOST_BOUND])
    a, b = a[:_SOME, some], b[:_SOME, some]
    if floats:
        with np.errstate(all="ignore"):
            moved = np.max([gaps(pattern.read(a), pattern.read(b)) for pattern in PATTERNS], axis=0)
        best = sorted(some[k] for k in np.argsort(-moved, kind="stable")[:4])
        yield from (pattern(index=i) for i in best for pattern in PATTERNS)
    spread = [k for k in range(len(some)) if is_spread(np.concatenate([a[:, k], b[:, k]]))]
    if spread:
        moved = gaps(LastBits.read(a[:, spread]), LastBits.read(b[:, spread]))
        best = sorted(some[spread[k]] for k in np.argsort(-moved, kind="stable")[:MOST_DIGITS])
        yield from (LastBits(index=i) for i in best)


def _repeats(views: Side) -> bool:
    """Return whether whole vectors recur often enough to be counted as values."""
    keys: list[Hashable] = []
    for view in views:
        for at, matrix in view.vectors.values():
            most = max(20, min(_SOME, MOST_COMPARED // max(1, matrix.shape[1])))
            keys += [canonical.key(view.outputs[i]) for i in np.arange(len(view))[at][:most].tolist()]
    return len(keys) - len(set(keys)) >= _SHARE_OF_REPEATS * len(keys)


def _matrix(side: Side, size: int) -> Floats:
    rows = [
        matrix if width == size else np.pad(matrix, ((0, 0), (0, size - width)), constant_values=np.nan)
        for view in side
        for width, (_, matrix) in view.vectors.items()
    ]
    return rows[0] if len(rows) == 1 else np.concatenate([np.empty((0, size)), *rows])


def _most_moved(a: Floats, b: Floats) -> list[int]:
    """Return the indices of the entries, those with the largest `gap` first."""
    if a.shape[1] < 2:
        return list(range(a.shape[1]))
    order: list[int] = np.argsort(-gaps(a, b), kind="stable").tolist()
    return order


def _special(matrix: Floats) -> list[float]:
    values, counts = np.unique(matrix[~np.isnan(matrix)], return_counts=True)
    common = np.flatnonzero((counts >= SPECIAL_SHARE * matrix.size) & (counts >= 5))
    most = common[np.argsort(-counts[common], kind="stable")[:3]]
    return [float(value) for value in values[most]]
