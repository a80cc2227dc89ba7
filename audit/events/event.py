"""Sets of outputs that can be described in words, saved and replayed.

Such a set is an event, made of one to three conditions that all must hold. A condition is about a feature or
about a region of a declared law. A feature's value must lie in intervals or be one of some atoms.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.codec.decoding import decode
from audit.codec.encoding import encode, register
from audit.codec.stored import is_replayable
from audit.distributions.law import Flags
from audit.errors import CorruptFile, InvalidValue
from audit.events.edges import ATOM_WIDTH, INF, LARGEST
from audit.events.features.atoms import Whole
from audit.events.features.base import AtomFeature, NumberFeature, feature_from_json
from audit.events.features.numbers import Value
from audit.events.features.views import View
from audit.laws.region import Region
from audit.values.wording import ends, inside


@dataclass(frozen=True)
class NumberIn:
    """The condition that a number feature's value lies in given intervals.

    The intervals are half-open. Outputs without a number may belong to the event too.

    Parameters
    ----------
    feature
        The feature.
    intervals
        Pairs (low, high), low < high, in rising order; high = inf includes +inf.
    unscored
        Whether outputs that the feature cannot score belong to the event.
    """

    feature: NumberFeature
    intervals: tuple[tuple[float, float], ...]
    unscored: bool = False

    def members(self, view: View) -> Flags:
        """Return whether each output of a block belongs to the set."""
        column = self.feature.values(view)
        inside = np.isnan(column) if self.unscored else np.zeros(len(column), dtype=bool)
        for low, high in self.intervals:
            inside |= (column >= low) & ((column < high) | (high == INF))
        return inside

    @property
    def special(self) -> str | None:
        """The feature's own words for these intervals, or None."""
        return self.feature.special(self.intervals, unscored=self.unscored)

    def words(self, digits: int = 6) -> str:
        """Return the condition in words. The ends of intervals have at least `digits` digits."""
        return f"{self.feature.words} {self._bounds(digits)}" if self.special is None else self.special

    def _bounds(self, digits: int) -> str:
        points = [_say_point(low, high) for low, high in self.intervals if _is_point(low, high)]
        parts = [_say_interval(low, high, digits) for low, high in self.intervals if not _is_point(low, high)]
        if len(points) == 1:
            parts.insert(0, f"equals {points[0]}")
        elif points:
            parts.insert(0, "is one of " + ", ".join(points))
        if self.unscored:
            parts.append("is not a number (or is absent)")
        return " or ".join(parts or ["is impossible"])

    def to_json(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        intervals = [[_bound(low), _bound(high)] for low, high in self.intervals]
        return {"number": self.feature.to_json(), "intervals": intervals, "unscored": self.unscored}


@dataclass(frozen=True, eq=False)
class AtomIn:
    """The condition that an atom feature has a value of an example output.

    Parameters
    ----------
    feature
        The feature.
    examples
        Outputs, one for each value that fulfils the condition.
    """

    feature: AtomFeature
    examples: tuple[Any, ...]

    def members(self, view: View) -> Flags:
        """Return whether each output of a block belongs to the set."""
        wanted = {self.feature.of(example) for example in self.examples}
        return np.array([value in wanted for value in self.feature.values(view)], dtype=bool)

    def words(self, digits: int = 6) -> str:  # noqa: ARG002 - a value has its own digits
        """Return the condition in words."""
        return self.feature.say(self.examples)

    def to_json(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {"atom": self.feature.to_json(), "examples": [encode(example) for example in self.examples]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AtomIn) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash((self.feature, len(self.examples)))


@dataclass(frozen=True, eq=False)
class RegionIn:
    """The condition that the output lies in a region of an exact law."""

    region: Region

    def members(self, view: View) -> Flags:
        """Return whether each output of a block belongs to the set."""
        return np.array([self.region.contains(output) for output in view.outputs], dtype=bool)

    def words(self, digits: int = 6) -> str:
        """Return the condition in words. The ends of intervals have at least `digits` digits."""
        return self.region.words(digits=digits)

    def to_json(self) -> dict[str, Any]:
        """Return the condition as plain data."""
        return {"region": _region_to_json(self.region)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegionIn) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(self.region.words())


def _region_to_json(region: Region) -> dict[str, Any]:
    return {
        "outcomes": [encode(outcome) for outcome in region.outcomes],
        "intervals": [[_bound(low), _bound(high)] for low, high in region.intervals],
        "excluded": [encode(outcome) for outcome in region.excluded],
        "coordinates": [[index, _region_to_json(part)] for index, part in region.coordinates],
    }


def _region_from_json(document: Mapping[str, Any]) -> Region:
    return Region(
        outcomes=tuple(decode(outcome) for outcome in document["outcomes"]),
        intervals=tuple((float(low), float(high)) for low, high in document["intervals"]),
        excluded=tuple(decode(outcome) for outcome in document["excluded"]),
        coordinates=tuple((int(index), _region_from_json(part)) for index, part in document["coordinates"]),
    )


Condition = NumberIn | AtomIn | RegionIn


@dataclass(frozen=True)
class Event:
    """The set of outputs for which one to three conditions all hold.

    Parameters
    ----------
    conditions
        One to three conditions; all must hold.
    said
        The saved description if it differs from the present one. It is shown if an example was saved as text
        only.

    Examples
    --------
    >>> from audit.events.features.numbers import Value
    >>> event = Event((NumberIn(Value(), ((1.5, float("inf")),)),))
    >>> event.words(), event.contains(2.0), event.contains("text")
    ('the output is at least 1.5', True, False)
    """

    conditions: tuple[Condition, ...]
    said: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.conditions) <= 3:
            raise InvalidValue(f"An event must have one to three conditions; got {len(self.conditions)}.")

    def members(self, outputs: Sequence[Any] | NDArray[Any] | View) -> Flags:
        """Return whether each output of a block belongs to the set. The result has shape (runs,)."""
        view = outputs if isinstance(outputs, View) else View(outputs)
        inside = np.ones(len(view), dtype=bool)
        for condition in self.conditions:
            inside &= condition.members(view)
        return inside

    def contains(self, output: object) -> bool:
        """Return whether one output belongs to the event."""
        return bool(self.members([output])[0])

    @property
    def is_one_output(self) -> bool:
        """Whether the event consists of a single output, up to rounding errors."""
        [condition, *others] = self.conditions
        if others or not isinstance(condition, AtomIn | NumberIn):
            return False
        if isinstance(condition, AtomIn):
            return isinstance(condition.feature, Whole) and len(condition.examples) == 1
        alone = isinstance(condition.feature, Value) and not condition.unscored
        return alone and len(condition.intervals) == 1 and _is_point(*condition.intervals[0])

    def words(self, digits: int = 6) -> str:
        """Return the event as a sentence without a full stop.

        The ends of intervals have at least `digits` digits.
        """
        if self.said and not is_replayable(self.to_json()):
            return self.said
        return " and ".join(condition.words(digits) for condition in self.conditions)

    def to_json(self) -> dict[str, Any]:
        """Return the event as plain data."""
        return {"all": [condition.to_json() for condition in self.conditions]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Event":
        """Rebuild an event from `to_json`."""
        try:
            return cls(tuple(_condition(item) for item in document["all"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidValue(f"An event cannot be read: {error!r}.") from None

    def __str__(self) -> str:
        return self.words()


def _condition(document: Mapping[str, Any]) -> Condition:
    if "region" in document:
        return RegionIn(_region_from_json(document["region"]))
    if "number" in document:
        feature = feature_from_json(document["number"])
        if not isinstance(feature, NumberFeature):
            raise InvalidValue(f"{document['number']} is not a number feature.")
        intervals = tuple((float(low), float(high)) for low, high in document["intervals"])
        return NumberIn(feature, intervals, bool(document["unscored"]))
    feature = feature_from_json(document["atom"])
    if not isinstance(feature, AtomFeature):
        raise InvalidValue(f"{document['atom']} is not an atom feature.")
    return AtomIn(feature, tuple(decode(item) for item in document["examples"]))


def _bound(value: float) -> float | str:
    return value if np.isfinite(value) else str(value)


def _is_point(low: float, high: float) -> bool:
    if low == INF or high == -LARGEST:
        return True  # ±inf itself
    size = max(abs(low), abs(high))
    if not np.isfinite(size):
        return False
    is_whole = (low / 2.0 + high / 2.0).is_integer()
    # wider intervals read as ranges, not as one number
    width = min(20 * ATOM_WIDTH * size, 0.5 if is_whole else 1e-2)
    return high - low <= max(width, 2.0 * math.ulp(size))


def _say_point(low: float, high: float) -> str:
    return inside(low, high) if np.isfinite(low) else f"{low:g}"


def _say_interval(low: float, high: float, digits: int) -> str:
    if low == -INF and high == INF:
        return "is a number"
    if (low, high) == (-LARGEST, LARGEST):
        return "is finite"
    left, right = ends(low, INF if high == LARGEST else high, digits)
    if high == INF:
        return f"is at least {left}"
    if high == LARGEST:
        return f"is at least {left} and finite"
    return f"is below {right}" if low == -INF else f"is at least {left} and below {right}"


def _digest(event: Mapping[str, Any]) -> str:
    text = json.dumps(event, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _write(event: Event) -> dict[str, Any]:
    document = event.to_json()
    return {"words": event.said or event.words(), "event": document, "digest": _digest(document)}


def _read(stored: dict[str, Any]) -> Event:
    """Return a saved event, and refuse an event that was edited after saving.

    Events of schema 1 have no digest, so they are not checked.
    """
    event = Event.from_json(stored["event"])
    if stored.get("digest") not in (None, _digest(stored["event"])):
        raise CorruptFile(f'an event was edited after it was saved; it is now "{event.words()[:80]}".')
    if event.words() == stored["words"]:
        return event
    return replace(event, said=str(stored["words"]))


register("event", Event, write=_write, read=_read)
