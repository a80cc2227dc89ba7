"""The outputs that a witness shows, counted in a few bins.

They are those of its runs, or those of the exact laws. The counted quantity is the one that the event reads
first. It is a number, such as an entry or a fitted score, or a value that is not a number. The bins span
nearly all outputs, and those ends of the event that are close to the outputs.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from audit.distributions import Countable, Finite, Law, Mixture, Product
from audit.distributions.law import Flags, Floats, Ints, as_numbers
from audit.distributions.line import LineLaw
from audit.events.edges import bins_of
from audit.events.event import AtomIn, Event, NumberIn
from audit.events.features.atoms import Whole
from audit.events.features.views import View
from audit.laws.region import Region, members, probability
from audit.results.outputs import LEAST_SPAN, MOST_EDGE, Outputs
from audit.verdict.examples import output_words

#: The approximate limit on the number of bins, and the limit on the number of single values. Larger limits
#: give finer plots and larger files.
MOST_BINS, MOST_NAMES = 20, 10
#: At most this many runs on each side are counted in bins.
_MOST_KEPT = 16_384
#: To limit memory, only this many values are counted one by one; after that, new values are counted only if
#: they are inside the event.
_MOST_KNOWN = 1_000
#: This share of the outputs at each end lies beyond the edges of the bins; the outer bins count them too.
_TAIL = 0.005
_DIGITS = 4

Interval = tuple[float, float]
#: Maps each counted value to its outputs. Outputs with a value that is not listed count as "any other".
Known = dict[Hashable, Any]


_name = partial(output_words, digits=_DIGITS)


@dataclass
class Seen:
    """The outputs of a witness's runs, counted by one quantity.

    It is the quantity that the witness's event reads first.

    Parameters
    ----------
    event
        The event, fixed before the runs.
    """

    event: Event
    _columns: tuple[list[Any], list[Any]] = field(default_factory=lambda: ([], []))
    _inside: tuple[list[Flags], list[Flags]] = field(default_factory=lambda: ([], []))
    _known: Known = field(default_factory=dict)

    def add(self, side: int, view: View, inside: Flags) -> None:
        """Add outputs of one side, which is 0 for left and 1 for right.

        `inside` says which outputs are in the event.
        """
        room, first = _MOST_KEPT - sum(map(len, self._columns[side])), self._first
        if room <= 0 or first is None:
            return
        column = first.feature.values(view)[:room]
        self._columns[side].append(column)
        self._inside[side].append(inside[:room])
        if isinstance(first, AtomIn):
            for output, key, held in zip(view.outputs, column, inside, strict=False):
                if held or len(self._known) < _MOST_KNOWN:
                    self._known.setdefault(key, output)

    def outputs(self) -> Outputs | None:
        """Return the counted outputs, or None.

        None is returned if a side has no outputs, or if nothing in the event can be counted.
        """
        first = self._first
        if first is None or not all(self._columns):
            return None
        inside = [np.concatenate(flags) for flags in self._inside]
        weights = [np.ones(len(flags)) for flags in inside]
        if isinstance(first, AtomIn):
            keys = [list(chain(*columns)) for columns in self._columns]
            name = _name if isinstance(first.feature, Whole) else first.feature.show
            return _by_name(first.feature.words, self._known, keys, weights, inside, name=name)
        columns = [np.concatenate(parts) for parts in self._columns]
        return _by_number(first.feature.words, columns, weights, inside, first.intervals)

    @property
    def _first(self) -> NumberIn | AtomIn | None:
        """The event's first condition on a number, else the first on a value.

        It is None for a region of a law.
        """
        found = (each for kind in (NumberIn, AtomIn) for each in self.event.conditions if type(each) is kind)
        return next(found, None)


def outputs_by_law(region: Region, left: Law, right: Law, *, of: str = "the output") -> Outputs | None:
    """Return the outputs under two exact laws, counted in bins.

    For each bin, the part inside the event is also given. For laws that cannot be counted in bins, return
    None.

    Parameters
    ----------
    region
        The event. If it is a box, the first coordinate that it restricts is counted.
    left, right
        The laws.
    of
        What is counted.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> laws = Density.laplace(0.0), Density.laplace(1.0)
    >>> found = outputs_by_law(Region(intervals=((1.0, math.inf),)), *laws)
    >>> found.edges[:2], found.edges[-1], round(sum(found.right_inside), 4)
    ((-5.0, -4.0), 6.0, 0.5)
    >>> tossed = Finite([0, 1], [0.25, 0.75]), Finite([0, 1], [0.5, 0.5])
    >>> outputs_by_law(Region(outcomes=(1,)), *tossed).left_inside
    (0.0, 0.75)
    """
    if isinstance(left, Product) and isinstance(right, Product):
        if not region.coordinates:
            return None
        index, part = region.coordinates[0]
        return outputs_by_law(part, left.factors[index], right.factors[index], of=f"output[{index}]")
    laws = (left, right)
    if isinstance(left, Finite) and isinstance(right, Finite):
        return _of_finite(region, (left, right), of)
    lines = [law.density if isinstance(law, Mixture) else law for law in laws]
    return _of_lines(region, laws, lines, of) if all(isinstance(line, LineLaw) for line in lines) else None


def _of_finite(region: Region, laws: Sequence[Finite], of: str) -> Outputs | None:
    """Return the outputs of two laws with finitely many outcomes.

    If all outcomes are numbers, they are counted as numbers.
    """
    weights = [np.exp(law.log_probabilities) for law in laws]
    inside = [members(law, region) for law in laws]
    columns, real = zip(*(as_numbers(law.outcomes) for law in laws), strict=True)
    if all(flags.all() for flags in real):
        return _by_number(of, columns, weights, inside, region.intervals)
    return _by_name(of, _known_of(laws), [law.exact_keys for law in laws], weights, inside)


def _known_of(laws: Iterable[Finite]) -> Known:
    return {key: law.outcome(i) for law in laws for i, key in enumerate(law.exact_keys)}


def _of_lines(region: Region, laws: Sequence[Law], lines: Sequence[Any], of: str) -> Outputs | None:
    """Return the outputs of two laws on the line. Atoms of mixtures become single values, not bins."""
    tails = [line.ppf(share) for line in lines for share in (_TAIL, 1.0 - _TAIL)]
    edges = _edges(min(tails), max(tails), region.intervals, whole=isinstance(lines[0], Countable))
    if edges is None:
        return None
    cells = list(pairwise([-math.inf, *edges[1:-1].tolist(), math.inf]))
    shares = [math.exp(law.log_weight) if isinstance(law, Mixture) else 1.0 for law in laws]
    sides = list(zip(lines, shares, strict=True))
    table = [
        [share * probability(line, Region(intervals=(cell,))) for cell in cells] for line, share in sides
    ]
    table += [[share * probability(line, _part(region, *cell)) for cell in cells] for line, share in sides]
    atoms = [law.atoms if isinstance(law, Mixture) else None for law in laws]
    known = _known_of(each for each in atoms if each is not None)
    single = [[] if each is None else each.exact_keys for each in atoms]
    weights = [
        np.zeros(0) if each is None else (1.0 - share) * np.exp(each.log_probabilities)
        for each, share in zip(atoms, shares, strict=True)
    ]
    inside = [np.zeros(0, dtype=bool) if each is None else members(each, region) for each in atoms]
    beside = _by_name(of, known, single, weights, inside)
    return _made(of, edges, np.array(table), beside)


def _part(region: Region, low: float, high: float) -> Region:
    """Return the part of a region of a line that lies in an interval."""
    inside = ((max(low, a), min(high, b)) for a, b in region.intervals)
    return Region(
        outcomes=tuple(x for x in region.outcomes if as_numbers([x])[1][0] and low < x < high),
        intervals=tuple((a, b) for a, b in inside if a < b),
    )


def _by_number(
    of: str,
    columns: Sequence[Floats],
    weights: Sequence[Floats],
    inside: Sequence[Flags],
    intervals: Sequence[Interval],
) -> Outputs | None:
    """Return numbers counted in bins, or one by one if there are few. NaN counts as a single value."""
    numbers = np.unique(np.concatenate(columns))  # NaN is one of them
    if len(numbers) <= MOST_NAMES:
        codes = [np.searchsorted(numbers, column) for column in columns]
        names = ["no number" if math.isnan(x) else f"{x:.{_DIGITS}g}".replace("-", "−") for x in numbers]
        if len({*names}) < len(names):
            names = [repr(float(x)) for x in numbers]
        return _made(of, None, _table(codes, weights, inside, len(numbers)), names)
    finite = numbers[np.isfinite(numbers)]
    sides = list(zip(columns, weights, strict=True))
    ends = [_quantile(*side, share) for side in sides for share in (_TAIL, 1.0 - _TAIL)]
    known = [end for end in ends if math.isfinite(end)]
    if not known:
        return None
    edges = _edges(min(known), max(known), intervals, whole=bool((finite == np.floor(finite)).all()))
    if edges is None:
        return None
    bins = len(edges) - 1
    codes = [bins_of(column, edges[1:-1]) for column in columns]  # the outer bins extend to ±∞
    table = _table(codes, weights, inside, bins + 1)
    names = ["no number"] if table[:, bins].any() else []
    return _made(of, edges, table[:, : bins + len(names)], names)


def _by_name(
    of: str,
    known: Known,
    keys: Sequence[Sequence[Hashable]],
    weights: Sequence[Floats],
    inside: Sequence[Flags],
    *,
    name: Callable[[Any], str] = _name,
) -> Outputs | None:
    """Return counts of the most frequent values, and of all others together.

    The values are the most frequent ones overall and inside the event.
    """
    if not known:
        return None
    places, size = {key: i for i, key in enumerate(known)}, len(known)
    codes = [np.array([places.get(key, size) for key in each], dtype=np.intp) for each in keys]
    counted = _table(codes, weights, inside, size + 1)
    table, outputs = counted[:, :size], [*known.values()]
    kept = np.argsort(-table[:2].max(axis=0), kind="stable")
    if len(kept) > MOST_NAMES:
        held = np.argsort(-table[2:].max(axis=0), kind="stable")[: MOST_NAMES // 2]
        first = list(dict.fromkeys([*held.tolist(), *kept.tolist()]))[: MOST_NAMES - 1]
        kept = np.array([place for place in kept.tolist() if place in first])
    others = np.delete(counted, kept, axis=1).sum(axis=1, keepdims=True)
    listed = [name(outputs[place]) for place in kept.tolist()]
    table = table[:, kept]
    if others.any():
        table, listed = np.concatenate([table, others], axis=1), [*listed, "any other"]
    return _made(of, None, table, listed)


def _table(codes: Sequence[Ints], weights: Sequence[Floats], inside: Sequence[Flags], size: int) -> Floats:
    """Return weights by bin or value, shape (4, size).

    The rows are left, right, then left and right inside the event.
    """
    columns = list(zip(codes, weights, inside, strict=True))
    whole = [np.bincount(code, weight, size) for code, weight, _ in columns]
    return np.array(whole + [np.bincount(code, weight * flags, size) for code, weight, flags in columns])


def _quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return a quantile of the finite ones of weighted numbers. If no number is finite, return NaN."""
    finite = np.isfinite(values)
    if not finite.any():
        return math.nan
    order = np.argsort(values[finite], kind="stable")
    below = np.cumsum(weights[finite][order])
    place = min(int(np.searchsorted(below, share * below[-1])), len(order) - 1)
    return float(values[finite][order][place])


def _edges(low: float, high: float, intervals: Iterable[Interval], *, whole: bool) -> Floats | None:
    """Return round edges of about `MOST_BINS` bins, or None.

    The bins also cover ends of the event that are close to the outputs. Whole numbers lie in the middle of
    their bins. If the numbers are too large for bins, or too close together, return None.
    """
    low, high = max(low, -MOST_EDGE), min(high, MOST_EDGE)
    span = high - low
    far = max(low - span, -MOST_EDGE), min(high + span, MOST_EDGE)
    near = [end for end in chain(*intervals) if far[0] <= end <= far[1]]
    low, high = min([low, *near]), max([high, *near])
    if not high - low >= LEAST_SPAN:
        return None
    least = (high - low + whole) / MOST_BINS
    width = float(math.ceil(least)) if whole else _step(least)
    shift = 0.5 if whole else 0.0
    first, last = math.floor((low + shift) / width), math.floor((high + shift) / width) + 1
    edges = np.array([float(f"{k * width - shift:.12g}") for k in range(first, last + 1)])
    return edges if (np.diff(edges) > 0).all() else None


def _step(least: float) -> float:
    """Return the smallest round number that is at least `least`.

    Round numbers are 1, 2, 2.5 and 5 times a power of ten.
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next((times * power for times in (1, 2, 2.5, 5) if times * power >= least), 10.0 * power)


def _made(of: str, edges: Floats | None, table: Floats, names: Sequence[str] | Outputs | None) -> Outputs:
    """Return the outputs counted in a table.

    The table has shape (4, number of bins and names). If `names` is an `Outputs` of single values, its
    columns are added to the table.
    """
    if isinstance(names, Outputs):
        beside = (names.on_left, names.on_right, names.left_inside, names.right_inside)
        table, names = np.concatenate([table, np.array(beside)], axis=1), names.names
    columns = (tuple(float(f"{x:.6g}") for x in column) for column in table.tolist())
    return Outputs(of, () if edges is None else tuple(edges.tolist()), tuple(names or ()), *columns)
