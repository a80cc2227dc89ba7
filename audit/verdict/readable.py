"""How easily a person reads an event, and the same event in fewer words.

**The order of readability.** What the call gives as a whole (it raises, it is None, its value) comes first,
then one entry or key, then something simple of several entries, then what has to be computed, then how the
output is represented, and fitted scores last. Within a feature one number or one bound reads better than
several, and a short text better than a long one.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.events.edges import ATOM_WIDTH, INF, point
from audit.events.event import AtomIn, Event, NumberIn, RegionIn
from audit.events.features.scores import TableScore
from audit.evidence.memory import PairMemory
from audit.values.outcomes import is_refusal

#: The order of readability; features that are not named stand before the fitted scores.
_ORDER = (
    {"Kind", "Whole", "Value"},
    {"Coordinate", "Entry", "Part", "PartIs"},
    {"Keys", "Length", "Missing", "Difference", "PairSum", "Sum", "PartsDifference", "PartsSum"}
    | {"Largest", "Smallest", "ArgMax", "Count"},
    {"Norm", "Spread", "First", "Last"},
)
_STEP, _SCORES = 3, 8
#: Steps into an output that a person does not take.
_ODD_STEPS = frozenset({"text", "number", "letter", "digits", "state", "ticks", "variable"})
_LETTERS_A_STEP = 40


def is_fitted(event: Event) -> bool:
    """Return whether a fitted score decides an event."""
    return any(isinstance(getattr(each, "feature", None), TableScore) for each in event.conditions)


def is_of_one_entry(event: Event) -> bool:
    """Return whether an event is about the output as a whole, or about one entry of it."""
    return all(_rank(condition) <= 1 for condition in event.conditions)


def effort(event: Event) -> int:
    """Return how hard an event is to read: 0 for the easiest.

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
    odd = any(step[0] in _ODD_STEPS for step in getattr(condition.feature, "path", ()))
    return rank + 2 * odd


def _effort(condition: Any) -> int:
    total = _STEP * _rank(condition)
    if isinstance(condition, AtomIn):
        plain = len(condition.examples) == 1 and is_refusal(condition.examples[0])
        return total + (8 if not condition.examples else 2 * len(condition.examples) - 1 - plain)
    if isinstance(condition, NumberIn):
        finite = [math.isfinite(low) + math.isfinite(high) for low, high in condition.intervals]
        points = [is_narrow(low, high) for low, high in condition.intervals]
        bounds = sum(1 if narrow else many for narrow, many in zip(points, finite, strict=True))
        return total + max(1, bounds) + 2 * max(0, len(finite) + condition.unscored - 1)
    return total


def is_narrow(low: float, high: float) -> bool:
    """Return whether an interval is an atom's own, which rounding would miss."""
    return math.isfinite(low) and math.isfinite(high) and high - low <= 1e-6 * max(1.0, abs(low))


def in_fewer_words(event: Event, memory: PairMemory) -> Iterator[Event]:
    """Yield events that need fewer words and may hold much the same outputs, the plainest first.

    Bounds become one number where the event held no other in the kept outputs, whole where all numbers were,
    and are rounded; what an event holds besides its largest part is left out.
    """
    for k, condition in enumerate(event.conditions):
        if not isinstance(condition, NumberIn) or not condition.intervals:
            continue
        column = np.concatenate([condition.feature.column(view) for side in memory.kept(0) for view in side])
        for plainer in _plainer(condition, column[~np.isnan(column)]):
            if plainer != condition:
                yield Event((*event.conditions[:k], plainer, *event.conditions[k + 1 :]))


def _plainer(condition: NumberIn, values: Floats) -> Iterator[NumberIn]:
    inside = [values[(values >= low) & ((values < high) | (high == INF))] for low, high in condition.intervals]
    together = np.concatenate(inside)
    if len(together) and np.isfinite(together).all():
        value = _one_value(together)
        if value is not None and not isinstance(condition.feature, TableScore):
            yield replace(condition, intervals=(point(value),), unscored=False)
    finite = values[np.isfinite(values)]
    whole = bool(len(finite)) and bool((finite == np.floor(finite)).all())
    largest = int(np.argmax([len(part) for part in inside]))
    (low, high), (first, last) = (
        condition.intervals[largest],
        (condition.intervals[0][0], condition.intervals[-1][1]),
    )
    single = [((first, INF),), ((-INF, last),), ((low, high),)]
    simple = [part for part in single if part[0] != (-INF, INF)]
    for intervals in dict.fromkeys([*simple, condition.intervals]):
        for digits in (1, 2, 3, 4):
            rounded = tuple(_rounded(*each, digits=digits, whole=whole) for each in intervals)
            if all(low < high for low, high in rounded):
                yield replace(condition, intervals=rounded, unscored=False)
                if condition.unscored and intervals == condition.intervals:
                    yield replace(condition, intervals=rounded)


def _one_value(values: Floats) -> float | None:
    """Return the one number that all of some are, up to rounding errors, in few digits; else None."""
    middle = float(np.median(values))
    scale = max(float(np.abs(values).max()), abs(middle))
    close = np.abs(values - middle) <= ATOM_WIDTH / 2 * max(scale, 1e-2)
    if not close.all():
        return None
    texts = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    if abs(middle) <= ATOM_WIDTH / 2 * 1e-2:
        return 0.0 if (values == 0).any() else None
    return next((each for each in texts if ((values >= point(each)[0]) & (values < point(each)[1])).all()), None)


def _rounded(low: float, high: float, *, digits: int, whole: bool) -> tuple[float, float]:
    if is_narrow(low, high):
        return low, high
    if whole:
        return (math.ceil(low) if math.isfinite(low) else low), (math.ceil(high) if math.isfinite(high) else high)
    return float(f"{low:.{digits}g}"), float(f"{high:.{digits}g}")
