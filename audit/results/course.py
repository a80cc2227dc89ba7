"""How a number changed during an audit.

Examples are wealth against runs, and largest loss against pairs tried.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from audit.results.saved_value import SavedValue

#: A larger number gives finer plots and larger files. A `Course` keeps at most this many points.
MOST_POINTS = 60
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class Course(SavedValue):
    """How a number changed during an audit, at a few points.

    The first and the last point are included.

    Attributes
    ----------
    places : tuple of int
        How many runs, or pairs, the audit had made at each point, in rising order.
    values : tuple of float
        The number at each of these points, to six significant digits.

    Examples
    --------
    >>> Course.of([(40, 1.5), (80, 0.25)], before=Course((0, 100), (0.0, 2.0)), start=100)
    Course(places=(0, 100, 140, 180), values=(0.0, 2.0, 1.5, 0.25))
    """

    places: tuple[int, ...] = ()
    values: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, points: Iterable[tuple[int, float]], *, before: Self | None = None, start: int = 0
    ) -> Self | None:
        """Return a `Course` through some points; None without points.

        The points are appended to those of an earlier `Course`.

        Parameters
        ----------
        points
            Pairs (place, number), in rising order of the places. Of points with the same place, the last one
            counts.
        before
            The `Course` of the audit that this one continues.
        start
            The number of runs or pairs of that audit. It is added to the places.
        """
        earlier = () if before is None else zip(before.places, before.values, strict=True)
        known = dict([*earlier, *((start + place, value) for place, value in points)])
        if not known:
            return None
        places, values = zip(*spread([*known.items()], MOST_POINTS), strict=True)
        return cls(places, tuple(float(f"{value:.{_DIGITS}g}") for value in values))

    @property
    def is_coherent(self) -> bool:
        """Whether each place has a number, and the places do not decrease."""
        size = len(self.places)
        whole = size == len(self.values) and 0 < size <= MOST_POINTS and not any(map(math.isnan, self.values))
        return whole and all(a <= b for a, b in pairwise(self.places))


def spread(points: list[tuple[int, float]], most: int) -> list[tuple[int, float]]:
    """Return at most `most` of the points, at equal steps in the list.

    The first and the last point are included.
    """
    last = len(points) - 1
    return points if last < most else [points[round(i * last / (most - 1))] for i in range(most)]
