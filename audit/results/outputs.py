"""The outputs on both databases, counted by bins or values."""

import math
from dataclasses import dataclass
from itertools import pairwise

from audit.results.saved_value import SavedValue

#: A file with more bins than this is refused. An audit makes about 20 bins.
_MOST = 100
#: The edges of bins lie between plus and minus this number, so that their differences are finite. The outer
#: bins also count all values beyond.
MOST_EDGE = 1e300
#: Numbers that span less than this get no bins, because the width of a bin must be a normal floating-point
#: number.
LEAST_SPAN = 1e-300


@dataclass(frozen=True, eq=False)
class Outputs(SavedValue):
    """Counts or probabilities of the outputs on both databases.

    Numbers are counted in bins, other outputs as single values.

    Attributes
    ----------
    of : str
        Description of the counted quantity, such as "the output".
    edges : tuple of float
        Edges of the bins, one more than the number of bins. It is empty if no output is a number. The outer
        bins include all values beyond.
    names : tuple of str
        Short texts of the single values. In the tuples below, the bins come first, then these values.
    on_left, on_right : tuple of float
        Counts of runs or, if the laws are exact, probabilities.
    left_inside, right_inside : tuple of float
        The part of each count or probability that is inside the event.

    Examples
    --------
    >>> counts = {"on_left": (9, 3), "on_right": (4, 8), "left_inside": (0, 3), "right_inside": (0, 8)}
    >>> Outputs("the output", names=("no", "yes"), **counts).shares[0]
    (0.75, 0.25)
    """

    of: str
    edges: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    on_left: tuple[float, ...] = ()
    on_right: tuple[float, ...] = ()
    left_inside: tuple[float, ...] = ()
    right_inside: tuple[float, ...] = ()

    @property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """The four columns, each divided by the total of its side.

        They are `on_left`, `on_right`, `left_inside` and `right_inside`.
        """
        totals = [sum(side) or 1.0 for side in (self.on_left, self.on_right)]
        columns = (self.on_left, self.on_right, self.left_inside, self.right_inside)
        scaled = zip(columns, totals * 2, strict=True)
        return tuple(tuple(each / total for each in column) for column, total in scaled)

    @property
    def is_coherent(self) -> bool:
        """Whether the columns are consistent. In a file that was changed by hand they may not be."""
        bins = max(len(self.edges) - 1, 0) + len(self.names)
        columns = self.on_left, self.on_right, self.left_inside, self.right_inside
        held = all(len(column) == bins and all(0 <= x < math.inf for x in column) for column in columns)
        finite = all(abs(edge) < 2 * MOST_EDGE for edge in self.edges)
        apart = not self.edges or self.edges[-1] - self.edges[0] >= LEAST_SPAN
        rising = apart and all(a < b for a, b in pairwise(self.edges))
        return 0 < bins <= _MOST and held and finite and rising
