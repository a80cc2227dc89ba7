"""The noisy binary searches of BNS §3.2."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from audit.catalogue import Entry
from audit.errors import check_word, finite_number
from audit.relations import Relation
from learners.approximate.of_numbers import OfNumbers
from learners.approximate.samples import LONG_BITS, NumberSample, check_dimension, sample_of
from learners.formulas import searches
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["MOST_LISTED_LENGTHS", "By", "LengthSearch", "most_mixed"]

By = Literal["power", "length"]
"""Whether the lengths searched are 2^0 … 2^d, or 1 … 2^d."""

MOST_LISTED_LENGTHS = 1 << 8
"""With up to this many lengths the law of a search is listed."""


def most_mixed(sample: NumberSample, length: int) -> float:
    """Return the largest min(zeros, ones) over windows of `length` numbers.

    Examples
    --------
    >>> some = NumberSample.counted([1, 2, 6, 7], [1, 1, 0, 0])
    >>> [most_mixed(some, length) for length in (4, 5, 6, 7, 2**64)]
    [0.0, 1.0, 1.0, 2.0, 2.0]
    """
    points = sample.points
    if not len(points):
        return 0.0
    if points.dtype == object:
        last = points + (length - 1)
    else:
        last = points + np.minimum(np.uint64(min(length, 1 << 64) - 1), ~points)
    ends = np.searchsorted(points, last, side="right")
    zeros, ones = (np.concatenate([[0], np.cumsum(counts)]) for counts in (sample.zeros, sample.ones))
    return float(np.minimum(zeros[ends] - zeros[:-1], ones[ends] - ones[:-1]).max())


@dataclass(frozen=True, kw_only=True)
class LengthSearch(OfNumbers, ClaimsItsEpsilon):
    """Search noisily for the least length with many zeros and ones.

    Q(J) is the largest min(zeros, ones) over all windows of J consecutive numbers. The answer is the least J
    with Q(J) ≥ level, or 0 if no length seems to reach it. A database is a list of (x, y) or a
    `NumberSample`. x is a whole number below 2^dimension; y is 0 or 1.

    Parameters
    ----------
    dimension
        d, from 1 to 4,096.
    epsilon
        The privacy claimed, > 0.
    by
        "length": J is one of 1 … 2^d, the first attempt in BNS. "power": J is one of 2^0 … 2^d, the second.
    level
        The value that Q(J) must reach. It is public and must not depend on the data.
    points, size
        The numbers, and the number of examples, in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or a record is not an example (x, y) of the class.

    Guarantee
    ---------
    epsilon-differential privacy when one record is replaced. Q(J) is a maximum of minima of counts, so it
    moves by at most 1. So a comparison of Q(J) + Lap(c/epsilon) with the level costs epsilon/c. For n
    lengths, a run makes at most c = ⌈log2(n + 1)⌉ comparisons. This is d + 1 if `by` is "length", and ⌈log2(d
    + 2)⌉ if it is "power". If every Q(J) falls from the level to 1 below it, the answer 1 has a privacy loss
    of exactly epsilon.

    *Utility.* Let slack be `slack(beta)` = (c/epsilon)·ln(c/(2·beta)). If Q(J) is further than slack from the
    level, its comparison errs with probability at most beta/c. Only noise in one direction makes it err. With
    probability 1 − beta no such comparison errs. Then Q(J) ≥ level − slack for the answer J, unless J = 0.
    Let K be the length before J in the list, or 2^d if J = 0. Then Q(K) ≤ level + slack.

    Examples
    --------
    >>> searches = [LengthSearch(dimension=64, by=by) for by in ("power", "length")]
    >>> [search.comparisons for search in searches]
    [7, 65]
    >>> database = [(5, 1), (10, 0)] * 500
    >>> LengthSearch(dimension=64, by="power", level=250.0)(database, np.random.default_rng(0))
    8
    """

    dimension: int = 2
    epsilon: float = 1.0
    by: By = "power"
    level: float = 1.0
    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "length-search"
    reference: ClassVar[str] = "BNS §3.2, computing the interval length J"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        check_dimension(self.dimension, owner=owner, most=LONG_BITS)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.level, what=f"The `level` of `{owner}`")
        check_word(self.by, By, what=f"The `by` of `{owner}`")

    @property
    def lengths(self) -> int:
        """How many lengths there are."""
        return self.dimension + 1 if self.by == "power" else 1 << self.dimension

    @property
    def comparisons(self) -> int:
        """The most comparisons of a run, called c."""
        return self.lengths.bit_length()

    @cached_property
    def test(self) -> ThresholdTest:
        """The mechanism of one comparison."""
        return ThresholdTest(self.comparisons / self.epsilon, self.level)

    def slack(self, beta: float) -> float:
        """Return how far Q(J) must be from the level for a reliable comparison.

        With probability 1 − `beta` no comparison errs whose Q(J) is at least this far from the level.
        """
        return self.test.scale * float(np.log(self.comparisons / (2.0 * beta)))

    def length(self, place: int) -> int:
        """Return the length at a place in the list of lengths, or 0 past its end."""
        if place == self.lengths:
            return 0
        return 1 << place if self.by == "power" else place + 1

    def outcomes(self, sample: NumberSample) -> Iterator[tuple[float, int]]:
        """Yield the log-probability of every answer, with the answer."""
        waiting = [(0.0, 0, self.lengths)]
        while waiting:
            log, low, high = waiting.pop()
            if low == high:
                yield log, self.length(low)
                continue
            middle = (low + high) // 2
            value = most_mixed(sample, self.length(middle))
            waiting.append((log + self.test.log_pass(value), low, middle))
            waiting.append((log + self.test.log_fail(value), middle + 1, high))

    def runs(
        self, sample: NumberSample, size: int, *, rng: np.random.Generator
    ) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each answer, with the indices of the runs that gave it."""
        noise = rng.laplace(0.0, self.test.scale, (self.comparisons, size))
        waiting = [(0, 0, self.lengths, np.arange(size))]
        while waiting:
            step, low, high, rows = waiting.pop()
            if low == high:
                yield self.length(low), rows
                continue
            middle = (low + high) // 2
            large = most_mixed(sample, self.length(middle)) + noise[step, rows] >= self.level
            for part, first, last in ((rows[large], low, middle), (rows[~large], middle + 1, high)):
                if len(part):
                    waiting.append((step + 1, first, last, part))

    def __call__(self, database: Any, rng: np.random.Generator) -> int:
        """Return one length."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[int]:
        """Return `size` lengths."""
        found = [0] * size
        for length, rows in self.runs(self._counted(database), size, rng=rng):
            for row in rows.tolist():
                found[row] = length
        return found

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law of the length; None for more than 256 lengths."""
        from audit.distributions import Finite

        if self.lengths > MOST_LISTED_LENGTHS:
            return None
        logs, lengths = zip(*self.outcomes(self._counted(database)), strict=True)
        return Finite(lengths, log_probabilities=logs)

    def suggested_pairs(self) -> list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
        """Return neighbours on which Q differs at every length."""
        most = self.size if isinstance(self.size, int) else self.size[1]
        point = self.audited_points[0]
        alike = [(point, 1)] * most
        return [(alike, [(point, 0), *alike[1:]])] if most > 1 else []

    def _counted(self, database: Any) -> NumberSample:
        return sample_of(database, dimension=self.dimension, owner=type(self).__name__)


entries = tuple(
    Entry(
        f"length-search-by-{by}",
        partial(LengthSearch, by=by),
        reference=LengthSearch.reference,
        summary=f"noisy binary search by {by}, d = 2, all samples of 3: ε is reached",
        formulas=searches.length_search,
    )
    for by in ("power", "length")
)
