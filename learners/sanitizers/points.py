"""A sanitizer of points by repeated choosing (BNS Theorem 3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count, islice
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.claims import ApproximateDP, PureDP
from audit.errors import flag
from learners.formulas import budgets
from learners.sanitizers.base import NOISE_SHARE, NumberSanitizer
from learners.sanitizers.choices import RepeatedChoosing
from learners.sanitizers.noise import clamped_geometric
from learners.sanitizers.rounding import completed, rounded
from learners.sanitizers.spending import affordable
from learners.sanitizers.swaps import LOOSE, swaps
from learners.sanitizers.tables import CountTable
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.noise.noises import GeometricNoise

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from audit.distributions import Finite
    from learners.sanitizers.spending import Spending
    from learners.sanitizers.tallies import Tally

__all__ = ["PointSanitizer"]

_SLACK = 0.25
"""A round chooses a point whose count is at most this share of a·m below the best count."""

_MOST_OUTCOMES = 2**13
"""A law with more outcomes than this is not listed."""


@dataclass(frozen=True, kw_only=True)
class PointSanitizer(NumberSanitizer):
    """Release the heavy points with noisy counts.

    A database is a list of ints or an array of numbers 0 … 2^dimension − 1. The output is a tuple of (point,
    count). The estimate of c_x is count/size, or 0 for a point without a count. If `proper`, the output is a
    tuple of `output_size` points.

    Parameters
    ----------
    proper
        Whether the output is a database.
    dimension, epsilon, delta, alpha, beta, size, records
        See `NumberSanitizer`.

    Guarantee
    ---------
    *Privacy*: (epsilon, delta) when one record is replaced. There are at most k rounds. Each is the choosing
    mechanism over the points x not yet chosen, and the score of x is the number of records equal to x. One
    more record raises the score of one point by 1, so the score has 1-bounded growth. Earlier outputs tell
    which points were already chosen. So each round is (step, delta/2k)-private if size ≥ `private_size` (BNS
    Lemma 4). A smaller size is refused.

    After the last round the counts of the chosen points get two-sided geometric noise of rate epsilon/16. A
    replaced record moves two counts by 1, which costs epsilon/8 for all rounds together. `spending` composes
    k claims (step, delta/2k) and one (epsilon/8, 0) by sums, by advanced and by optimal composition. The step
    is the largest for which one of these bounds is within (epsilon, delta). The rest is computed from the
    noisy counts.

    *Accuracy*: on every database of at least `sample_size` records all |Q_c(S) − est(c)| ≤ alpha, except with
    probability beta. Let a be alpha (proper: 3·alpha/4) and k = ⌈(1 − a)/(3a/4)⌉. Let opt be the largest
    count of a point left. `failure_bound` adds up the probabilities of three failures.

    (i) While opt > a·m, a round refuses with probability at most e^(−step·a·m/8)/2, because the test asks for
    a·m/2.

    (ii) Such a round chooses a point of count below opt − a·m/4 with probability at most m·e^(−step·a·m/16).

    (iii) The absolute value of some noise exceeds a·m (proper: a·m/2) with the probability of the geometric
    tail.

    Without (i) and (ii) every such round takes out more than 3a·m/4 records. If a point above a·m were left
    after k rounds, there would be more than k·3a·m/4 + a·m ≥ m records. So every point left has a count of at
    most a·m. Proper: `completed` turns counts that are off by a·m/2 into shares that are off by a, and
    rounding to ⌈4/alpha⌉ records costs alpha/4.

    The text states only the result, with m = O(α^(−1.5)·ε^(−1)·√ln(1/δ)·ln(1/αβεδ))
    (`learners.sanitizers.sizes`).

    Examples
    --------
    >>> sanitizer = PointSanitizer(alpha=0.25)
    >>> sanitizer.rounds, sanitizer.sample_size() == sanitizer.size
    (4, True)
    >>> from numpy.random import default_rng
    >>> half = sanitizer.size // 2
    >>> found = sanitizer([2**63] * half + list(range(sanitizer.size - half)), default_rng(0))
    >>> found[-1][0] == 2**63, abs(sanitizer.estimate(found, 2**63) - 0.5) < 0.25
    (True, True)
    """

    proper: bool = False

    name: ClassVar[str] = "point-sanitizer"
    reference: ClassVar[str] = "BNS §4.2, Theorem 3 (the construction is ours)"

    def __post_init__(self) -> None:
        flag(self.proper, what=f"The `proper` of `{type(self).__name__}`")
        super().__post_init__()

    @property
    def choosing_alpha(self) -> float:
        """The approximation parameter of the choosing mechanism."""
        return self.alpha * (0.75 if self.proper else 1.0)

    @property
    def rounds(self) -> int:
        """The largest number of rounds, called k."""
        a = self.choosing_alpha
        return max(1, math.ceil((1.0 - a) / ((1.0 - _SLACK) * a) * (1.0 - 1e-12)))

    @property
    def choosing_delta(self) -> float:
        """The delta of one round."""
        return self.delta / 2.0 / self.rounds

    @cached_property
    def spending(self) -> Spending:
        """The composed cost of all steps."""
        noise = PureDP(NOISE_SHARE * self.epsilon)
        return affordable(
            lambda step: [ApproximateDP(step, self.choosing_delta)] * self.rounds + [noise],
            epsilon=self.epsilon,
            delta=self.delta,
            largest=self.largest_step,
        )

    @cached_property
    def noise(self) -> GeometricNoise:
        """The noise on every count."""
        return GeometricNoise(NOISE_SHARE * self.epsilon / 2.0)

    @property
    def output_size(self) -> int:
        """The number of points of a proper output."""
        return math.ceil(4.0 / self.alpha * (1.0 - 1e-12))

    def failure_bound(self, size: int) -> float:
        """Return a bound on the failure probability with `size` records.

        Examples
        --------
        >>> PointSanitizer(alpha=0.25).failure_bound(PointSanitizer(alpha=0.25).sample_size()) <= 0.1
        True
        """
        exponent = self.spending.step * self.choosing_alpha * size
        off = math.floor(self.choosing_alpha * size / (2.0 if self.proper else 1.0))
        rate = self.noise.rate
        noisy = 2.0 * math.exp(-rate * (off + 1)) / (1.0 + math.exp(-rate))
        wrong = 0.5 * math.exp(-exponent / 8.0) + size * math.exp(-_SLACK * exponent / 4.0)
        return min(1.0, self.rounds * (wrong + noisy))

    def estimate(self, output: Any, concept: int) -> float:
        """Return the estimated share of records equal to a point.

        Examples
        --------
        >>> sanitizer = PointSanitizer(alpha=0.25, size=10_000)
        >>> sanitizer.estimate(((5, 2500),), 5), sanitizer.estimate(((5, 2500),), 6)
        (0.25, 0.0)
        """
        return self.shares(output).get(concept, 0.0)

    def shares(self, output: Any) -> dict[int, float]:
        """Return all estimates above 0 that an output gives."""
        if not self.proper:
            return {point: times / self._m for point, times in output}
        return {point: output.count(point) / len(output) for point in dict.fromkeys(output)}

    def measure(self, output: Any, counted: Tally) -> float:
        """Return the largest error of an output's answers over the whole class."""
        return counted.point_error(self.shares(output))

    def choosing(self, database: Any) -> RepeatedChoosing:
        """Return the rounds of the choosing mechanism on a database."""
        step = self.spending.step
        test = ThresholdTest(4.0 / step, self.choosing_alpha * self._m / 2.0)
        return RepeatedChoosing(self.tally(database), test, weight=step / 4.0, rounds=self.rounds)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the counts found, or a database if `proper`."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        choosing = self.choosing(database)
        runs = choosing.sample(size, rng)
        noise = self.noise.sample(size * self.rounds, rng).reshape(size, self.rounds)
        points, counts = choosing.tally.points, choosing.tally.counts
        return [
            self._released(
                {
                    int(points[place]): min(max(int(counts[place] + extra), 0), self._m)
                    for place, extra in zip(chosen, row.tolist(), strict=False)
                }
            )
            for chosen, row in zip(runs, noise, strict=True)
        ]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it is too large."""
        from audit.distributions import Finite

        if not self.listable:
            return None
        choosing = self.choosing(database)
        masses: dict[Any, float] = {}
        for chosen, mass in choosing.law().items():
            for output, share in self._counted(sorted(chosen), choosing.tally).items():
                masses[output] = masses.get(output, 0.0) + mass * share
        return Finite(list(masses), list(masses.values()))

    @property
    def listable(self) -> bool:
        """Whether the outcomes are few enough to list."""
        points = min(1 << self.dimension, self._m)
        most = min(points, self.rounds)
        outcomes: int = sum(math.comb(points, r) * (self._m + 1) ** r for r in range(most + 1))
        return outcomes <= _MOST_OUTCOMES

    def _counted(self, places: list[int], seen: Tally) -> dict[Any, float]:
        laws = [clamped_geometric(int(seen.counts[i]), self.noise.rate, 0, self._m) for i in places]
        return self._table(tuple(seen.points[places].tolist())).law(laws)

    def _table(self, points: tuple[int, ...]) -> CountTable:
        if points not in self._tables:
            self._tables[points] = CountTable.of(
                lambda counts: self._released(dict(zip(points, counts, strict=True))),
                range(self._m + 1),
                length=len(points),
            )
        return self._tables[points]

    @cached_property
    def _tables(self) -> dict[tuple[int, ...], CountTable]:
        return {}

    def _released(self, named: Mapping[int, int]) -> Any:
        if not self.proper:
            return tuple(sorted(named.items()))
        unnamed = 2**self.dimension - len(named)
        enough = min(unnamed, math.ceil(1.0 / self.choosing_alpha) + 1)
        others = islice((point for point in count() if point not in named), enough)
        shares = completed(
            {point: times / self._m for point, times in named.items()},
            cap=self.choosing_alpha,
            unnamed=unnamed,
            others=others,
        )
        return _database(shares, self.output_size)


def _database(shares: Mapping[int, float], size: int) -> tuple[int, ...]:
    import numpy as np

    points = sorted(shares)
    cumulative = np.cumsum([shares[point] for point in points])
    return rounded(points, np.minimum(cumulative / cumulative[-1], 1.0), size=size)


entries = (
    Entry(
        "point-sanitizer",
        partial(PointSanitizer, dimension=1, **LOOSE, size=42),
        options={"pairs": swaps(0, 1, size=42, many=42), "budget": 2_000},
        reference=PointSanitizer.reference,
        summary="POINT_1 by repeated choosing, exact: all pairs",
        formulas=budgets.point_sanitizer,
    ),
    Entry(
        "point-sanitizer-proper",
        partial(PointSanitizer, dimension=1, **LOOSE, size=85, proper=True),
        options={"pairs": swaps(0, 1, size=85, many=85), "budget": 2_000},
        reference=PointSanitizer.reference,
        summary="the same, a database comes out: all pairs",
        formulas=budgets.point_sanitizer,
    ),
)
