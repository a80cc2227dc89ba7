"""How hard an event is to read, and shorter versions of it.

**The order of readability.** Events about the output as a whole are easiest (an exception, None, its value).
Next come one entry or key, simple functions of several entries, and computed quantities. The bytes or text of
the output follow, and fitted scores come last. For the same feature, one number or bound is easier than
several. A short text is easier than a long one.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context
from functools import partial
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.events.edges import ATOM_WIDTH, INF, point
from audit.events.event import AtomIn, Event, NumberIn, RegionIn
from audit.events.features.scores import TableScore
from audit.evidence.memory import PairMemory
from audit.values.outcomes import is_refusal

#: Features in the order of readability, the easiest first. All others rank after these and before fitted
#: scores.
_ORDER = (
    {"Kind", "Whole", "Value"},
    {"Coordinate", "Entry", "Part", "PartIs"},
    {"Keys", "Length", "Missing", "Difference", "PairSum", "Sum", "PartsDifference", "PartsSum"}
    | {"Largest", "Smallest", "ArgMax", "Count"},
    {"Norm", "Spread", "First", "Last"},
)
_CONTAINERS = (tuple, list, Mapping, np.ndarray)
_STEP, _SCORES = 3, 8
#: Unnatural ways to read a part of an output, such as one letter of a text. Events that use them rank lower.
_ODD_STEPS = frozenset({"text", "number", "letter", "digits", "state", "ticks", "variable"})
_LETTERS_A_STEP = 40


def score_of(event: Event) -> TableScore | None:
    """Return the fitted score that an event uses, or None."""
    features = (getattr(each, "feature", None) for each in event.conditions)
    return next((each for each in features if isinstance(each, TableScore)), None)


def is_fitted(event: Event) -> bool:
    """Return whether an event uses a fitted score."""
    return score_of(event) is not None


def is_of_one_entry(event: Event) -> bool:
    """Return whether an event is about the whole output or about one entry."""
    return len(event.conditions) == 1 and _rank(event.conditions[0]) <= 1


def effort(event: Event) -> int:
    """Return a number that says how hard an event is to read. The easiest events have 0.

    Examples
    --------
    >>> from audit.events.features.atoms import Kind
    >>> from audit.events.features.numbers import Coordinate, Sum
    >>> from audit.values.outcomes import Raised
    >>> raises = Event((AtomIn(Kind(), (Raised("ValueError"),)),))
    >>> entry, total = (Event((NumberIn(each, ((1.5, INF),)),)) for each in (Coordinate(0), Sum()))
    >>> effort(raises) < effort(entry) < effort(total)
    True
    """
    length = len(event.words()) // _LETTERS_A_STEP
    return length + sum(_effort(condition) for condition in event.conditions)


def _rank(condition: Any) -> int:
    if isinstance(condition, RegionIn):
        return 0
    if isinstance(condition.feature, TableScore):
        return _SCORES
    name = type(condition.feature).__name__
    rank = next((rank for rank, names in enumerate(_ORDER) if name in names), len(_ORDER))
    path = getattr(condition.feature, "path", ())
    if name == "Whole":
        rank = int(any(issubclass(type(each), _CONTAINERS) for each in condition.examples))
    return rank + max(0, len(path) - 1) + 2 * any(step[0] in _ODD_STEPS for step in path)


def _effort(condition: Any) -> int:
    total = _STEP * _rank(condition)
    if isinstance(condition, AtomIn):
        plain = len(condition.examples) == 1 and is_refusal(condition.examples[0])
        return total + (8 if not condition.examples else 2 * len(condition.examples) - 1 - plain)
    if isinstance(condition, NumberIn):
        finite = [math.isfinite(low) + math.isfinite(high) for low, high in condition.intervals]
        points = [is_narrow(low, high) for low, high in condition.intervals]
        bounds = sum(1 if narrow else many for narrow, many in zip(points, finite, strict=True))
        answers = total == 0 and not condition.unscored and not any(finite)  # name the other outcome instead
        return total + bounds + 2 * (len(finite) + condition.unscored - 1) + (not finite) + answers
    return total


def is_narrow(low: float, high: float) -> bool:
    """Return whether rounded bounds would miss the single value in an interval."""
    return math.isfinite(low) and math.isfinite(high) and high - low <= 1e-6 * max(1.0, abs(low))


def in_fewer_words(event: Event, k: int, memory: PairMemory) -> Iterator[Event]:
    """Yield versions of an event with a shorter k-th condition.

    The easiest to read come first. A version need not hold exactly the same outputs as the event. If the
    stored outputs in an interval are all one number, it becomes this number. If all stored outputs are whole,
    bounds become whole numbers, else they are rounded. Several intervals become one.
    """
    condition = event.conditions[k]
    if not isinstance(condition, NumberIn) or condition.special is not None:
        return
    column = np.concatenate([condition.feature.values(view) for side in memory.kept(0) for view in side])
    for plainer in dict.fromkeys(_plainer(condition, column[~np.isnan(column)])):
        if plainer != condition:
            yield Event((*event.conditions[:k], plainer, *event.conditions[k + 1 :]))


def _plainer(condition: NumberIn, values: Floats) -> Iterator[NumberIn]:
    inside = [
        values[(values >= low) & ((values < high) | (high == INF))] for low, high in condition.intervals
    ]
    together = np.concatenate(inside)
    if len(together) and np.isfinite(together).all():
        value = _one_value(together)
        if value is not None and not isinstance(condition.feature, TableScore):
            yield replace(condition, intervals=(point(value),), unscored=False)
    finite = values[np.isfinite(values)]
    whole = bool(len(finite)) and bool((finite == np.floor(finite)).all())
    largest = int(np.argmax([len(part) for part in inside]))
    first, last = condition.intervals[0][0], condition.intervals[-1][1]
    low, high = condition.intervals[largest]
    single = [((first, INF),), ((-INF, last),), ((low, INF),), ((-INF, high),), ((low, high),)]
    simple = [intervals for intervals in single if intervals != ((-INF, INF),)]
    for intervals in dict.fromkeys([*simple, condition.intervals]):
        for rounded in _roundings(intervals, whole=whole):
            yield replace(condition, intervals=rounded, unscored=False)
            if condition.unscored and intervals == condition.intervals:
                yield replace(condition, intervals=rounded)


def _roundings(
    intervals: tuple[tuple[float, float], ...], *, whole: bool
) -> Iterator[tuple[tuple[float, float], ...]]:
    """Yield intervals with whole bounds, or with bounds of few digits.

    The bounds are rounded to nearest, inwards or outwards.
    """
    few = [partial(_rounded, digits=digits, how=how) for digits in (1, 2, 3, 4) for how in _HOW]
    for way in [_next_whole] if whole else few:
        found = tuple(each if is_narrow(*each) else (way(each[0], 0), way(each[1], 1)) for each in intervals)
        if all(low < high for low, high in found):
            yield found


#: Rounding modes for the lower and the upper bound of an interval, in the order in which they are tried.
_HOW = ((ROUND_HALF_EVEN, ROUND_HALF_EVEN), (ROUND_CEILING, ROUND_FLOOR), (ROUND_FLOOR, ROUND_CEILING))


def _next_whole(bound: float, _end: int) -> float:
    return float(math.ceil(bound)) if math.isfinite(bound) else bound


def _rounded(bound: float, end: int, *, digits: int, how: tuple[str, str]) -> float:
    if not math.isfinite(bound):
        return bound
    return float(Context(prec=digits, rounding=how[end], traps=[]).create_decimal(repr(float(bound))))


def _one_value(values: Floats) -> float | None:
    """Return the number that all values equal up to rounding errors, or None.

    The number has few digits. If the values differ, return None.
    """
    middle = float(np.sort(values)[len(values) // 2])
    scale = max(float(np.abs(values).max()), abs(middle))
    close = np.abs(values - middle) <= ATOM_WIDTH / 2 * max(scale, 1e-2)
    if not close.all():
        return None
    texts = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    if abs(middle) <= ATOM_WIDTH / 2 * 1e-2:
        return 0.0 if (values == 0).any() else None
    return next(
        (each for each in texts if ((values >= point(each)[0]) & (values < point(each)[1])).all()), None
    )
