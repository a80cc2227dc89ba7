"""The outputs on both databases, in bins or by value, and the part of each that is in an event."""

import math
from dataclasses import dataclass
from itertools import pairwise

from audit.results.saved_value import SavedValue

#: Larger: files with more bins are read. An audit keeps about 20.
_MOST = 100
#: Larger: bins reach further. The outer bins count all values beyond. Differences must stay finite.
MOST_EDGE = 1e300
#: Smaller: closer numbers have bins. The width of a bin must stay a normal number.
LEAST_SPAN = 1e-300


@dataclass(frozen=True, eq=False)
class Outputs(SavedValue):
    """The outputs on both databases, as counts or probabilities: bins of numbers, then single values.

    Attributes
    ----------
    of : str
        Description of the counted quantity, the first feature of the event, such as "the output".
    edges : tuple of float
        Edges of the bins, one more than the number of bins; empty without numbers. The outer bins include all
        values beyond them.
    names : tuple of str
        Short texts of the single values. Their entries follow those of the bins in the tuples below.
    on_left, on_right : tuple of float
        Counts of runs or, by exact laws, probabilities.
    left_inside, right_inside : tuple of float
        The part of these that is inside the event.

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
        """`on_left`, `on_right`, `left_inside` and `right_inside`, each divided by the total of its side."""
        totals = [sum(side) or 1.0 for side in (self.on_left, self.on_right)]
        columns = (self.on_left, self.on_right, self.left_inside, self.right_inside)
        scaled = zip(columns, totals * 2, strict=True)
        return tuple(tuple(each / total for each in column) for column, total in scaled)

    @property
    def is_coherent(self) -> bool:
        """Whether the columns belong together; a file that was changed by hand may say otherwise."""
        bins = max(len(self.edges) - 1, 0) + len(self.names)
        columns = self.on_left, self.on_right, self.left_inside, self.right_inside
        held = all(len(column) == bins and all(0 <= x < math.inf for x in column) for column in columns)
        finite = all(abs(edge) < 2 * MOST_EDGE for edge in self.edges)
        apart = not self.edges or self.edges[-1] - self.edges[0] >= LEAST_SPAN
        rising = apart and all(a < b for a, b in pairwise(self.edges))
        return 0 < bins <= _MOST and held and finite and rising
