"""Sets of outputs that exact comparisons find."""

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.distributions import Countable, Density, Finite, Law, Mixture, Product
from audit.distributions.law import as_numbers, log_add
from audit.distributions.line import LineLaw
from audit.errors import InvalidKind
from audit.values import canonical
from audit.values.wording import ends

SHOWN = 6


@dataclass(frozen=True)
class Region:
    """A set of outputs.

    It consists of outcomes and open intervals. For vectors, it is a box with one such set for each
    coordinate.

    Parameters
    ----------
    outcomes
        Outputs that belong to the set.
    intervals
        Open intervals (low, high), ±∞ allowed. Numbers inside belong to the set unless they are `excluded`.
    excluded
        Outputs inside the intervals that do not belong to the set.
    coordinates
        For vectors, pairs (index, region of that coordinate) instead of the above. A vector belongs to the
        set if each of these coordinates lies in its region.

    Examples
    --------
    >>> region = Region(outcomes=("refused",), intervals=((2.0, math.inf),))
    >>> region.contains(3.5), region.contains("refused"), region.contains(2.0), region.words()
    (True, True, False, "the output is 'refused' or above 2")
    """

    outcomes: tuple[Any, ...] = ()
    intervals: tuple[tuple[float, float], ...] = ()
    excluded: tuple[Any, ...] = ()
    coordinates: "tuple[tuple[int, Region], ...]" = ()

    def contains(self, output: Any) -> bool:
        """Return whether an output of any kind belongs to the set."""
        if self.coordinates:
            vector = isinstance(output, (tuple, list, np.ndarray)) and np.ndim(output) != 0
            return vector and all(
                i < len(output) and part.contains(output[i]) for i, part in self.coordinates
            )
        key = canonical.key(output)
        outcomes, excluded = self._keys
        if key in outcomes:
            return True
        values, real = as_numbers([output])
        inside = bool(real[0]) and any(low < values[0] < high for low, high in self.intervals)
        return inside and key not in excluded

    def words(self, subject: str = "the output", digits: int = 6) -> str:
        """Return a text that describes the set. Interval ends have at least `digits` digits."""
        if self.coordinates:
            parts = (part.words(f"output[{index}]", digits) for index, part in self.coordinates)
            return " and ".join(parts)
        outcomes = [canonical.show(outcome) for outcome in self.outcomes]
        spans = [_span(low, high, digits) for low, high in self.intervals]
        text = _listed(outcomes + spans) or "is impossible"
        but = _listed([canonical.show(outcome) for outcome in self.excluded])
        return f"{subject} is {text}".replace("is is", "is") + (f" but not {but}" if but else "")

    @cached_property
    def _keys(self) -> tuple[frozenset[Hashable], frozenset[Hashable]]:
        """The canonical keys of `outcomes`, and those of `excluded`."""
        return frozenset(map(canonical.key, self.outcomes)), frozenset(map(canonical.key, self.excluded))


def probability(law: Law, region: Region) -> float:
    """Return the exact probability of a region under a law.

    Examples
    --------
    >>> round(probability(Density.laplace(0.0), Region(intervals=((0.0, math.inf),))), 12)
    0.5
    """
    return float(np.exp(log_probability(law, region)))


def log_probability(law: Law, region: Region) -> float:
    """Return the log-probability of a region under a law.

    It is accurate for tiny probabilities too.

    Examples
    --------
    >>> round(log_probability(Density.exponential(), Region(intervals=((1000.0, math.inf),))), 9)
    -1000.0
    """
    if isinstance(law, Product):
        return sum(log_probability(law.factors[index], part) for index, part in region.coordinates)
    if isinstance(law, Finite):
        return _of_finite(law, region)
    if isinstance(law, Density):
        return _of_intervals(law, region)
    if isinstance(law, Countable):
        points = [law.logpmf(k) for k in region.outcomes if as_numbers([k])[1][0]]
        return float(np.logaddexp(log_add(np.array(points)), _of_intervals(law, region)))
    if isinstance(law, Mixture):
        atoms = -math.inf if law.atoms is None else law.log_atoms + _of_finite(law.atoms, region)
        return float(np.logaddexp(atoms, law.log_weight + _of_intervals(law.density, region)))
    raise InvalidKind(f"A `{type(law).__name__}` gives no exact probabilities of regions.")


def members(law: Finite, region: Region) -> NDArray[np.bool_]:
    """Return which outcomes of a law belong to a region, shape (outcomes,).

    Examples
    --------
    >>> members(Finite([0, 1, 2], [0.5, 0.25, 0.25]), Region(intervals=((0.5, math.inf),))).tolist()
    [False, True, True]
    """
    values, real = as_numbers(law.outcomes) if region.intervals else (np.zeros(len(law.outcomes)), False)
    inside = np.zeros(len(law.outcomes), dtype=bool)
    for low, high in region.intervals:
        inside |= real & (values > low) & (values < high)
    for outcomes, member in ((region.excluded, False), (region.outcomes, True)):
        index = law.locate(outcomes) if outcomes else np.zeros(0, dtype=np.intp)
        inside[index[index >= 0]] = member
    return inside


def _of_finite(law: Finite, region: Region) -> float:
    return float(log_add(law.log_probabilities[members(law, region)]))


def _of_intervals(law: LineLaw, region: Region) -> float:
    return float(log_add(np.array([law.log_mass(low, high) for low, high in region.intervals])))


def _span(low: float, high: float, digits: int) -> str:
    if math.isinf(low) and math.isinf(high):
        return "any number"
    left, right = ends(low, high, digits)
    if math.isinf(low):
        return f"below {right}"
    return f"above {left}" if math.isinf(high) else f"between {left} and {right}"


def _listed(texts: list[str]) -> str:
    shown = texts[:SHOWN] + ([f"one of {len(texts) - SHOWN} more"] if len(texts) > SHOWN else [])
    return " or ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
