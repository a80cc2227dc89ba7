"""A proper sanitizer of thresholds (BNS Theorem 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC, PureDP
from learners.formulas import budgets
from learners.sanitizers.base import NOISE_SHARE, NumberSanitizer
from learners.sanitizers.cuts.dyadic import tree_of
from learners.sanitizers.cuts.interval_cuts import IntervalCuts
from learners.sanitizers.noise import clamped_geometric, straying
from learners.sanitizers.rounding import rounded
from learners.sanitizers.spending import affordable
from learners.sanitizers.swaps import LOOSE, swaps
from learners.sanitizers.tables import CountTable
from learners.sanitizers.tallies import cell_counts
from mechanisms.noise.noises import GeometricNoise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from audit.problems import Problem
    from learners.sanitizers.cuts.dyadic import Node
    from learners.sanitizers.spending import Spending
    from learners.sanitizers.tallies import Tally

__all__ = ["IntervalSanitizer"]

_MOST_OUTCOMES = 2**17
"""The law is listed only up to this many combinations of noisy counts."""


@dataclass(frozen=True, kw_only=True)
class IntervalSanitizer(IntervalCuts):
    """Release a database with nearly the same share below every threshold.

    A database is a list of ints or an array of numbers 0 … 2^dimension − 1. The numbers are cut into cells
    with few records, and each cell is counted with noise. The output is a sorted tuple of `output_size`
    numbers.

    Parameters
    ----------
    dimension, epsilon, delta, alpha, beta, size, records
        See `NumberSanitizer`.

    Guarantee
    ---------
    *Privacy*: (epsilon, delta) when one record is replaced. The cuts are private (`IntervalCuts`). They
    divide the numbers into cells. The count of each cell gets two-sided geometric noise of rate epsilon/16. A
    replaced record moves two counts by 1, which costs epsilon/8. `spending` composes the claims of the k
    rounds and of the counts by sums, by advanced and by optimal composition. The rest is computed from the
    cuts and the noisy counts.

    *Accuracy*: on every database of at least `sample_size` records the share of x < j is off by at most alpha
    for all j, except with probability beta. Let t = alpha·size.

    (i) At most t records are left at the end (`IntervalCuts`). Every cell that was taken out is a single
    point, or lies in a half of the interval with which it was first taken out. Such a half holds at most 3t/2
    records. Half of a cell's records are put on its first point and half on its last. So strictly inside a
    cell the answer is off by at most 3t/4, plus the error of the sums before it.

    (ii) There are at most 3k + 1 cells. Except with the probability of `straying`, the noise before every cut
    adds up to at most 3t/16 in absolute value. Clamping to [0, size] and taking the running maximum do not
    enlarge the largest error, as the true sums lie in that range and rise.

    (iii) Rounding to ⌈8/alpha⌉ records costs alpha/16. In units of alpha the errors add up to 3/4 + 3/16 +
    1/16 = 1.

    The text states only the result, with m = O(α^(−2.5)·ε^(−1)·8^log*(d)·…) (`learners.sanitizers.sizes`).

    Examples
    --------
    >>> sanitizer = IntervalSanitizer(alpha=0.25)
    >>> database = [2**63] * (sanitizer.size // 2) + list(range(sanitizer.size - sanitizer.size // 2))
    >>> output = sanitizer(database, np.random.default_rng(0))
    >>> len(output), sanitizer.measure(output, sanitizer.tally(database)) <= 0.25
    (32, True)
    """

    name: ClassVar[str] = "interval-sanitizer"

    @cached_property
    def spending(self) -> Spending:
        """The composed cost of the steps and the noisy counts."""
        noise = PureDP(NOISE_SHARE * self.epsilon)
        return affordable(
            lambda step: [*self.step_claims(step), noise],
            epsilon=self.epsilon,
            delta=self.delta,
            largest=self.largest_step,
        )

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None if `size` is too small."""
        return PAC(self.alpha, self.beta) if self._m >= self.sample_size() else None

    def problems(self) -> list[Problem]:
        """Return fixed, hard databases of `size` records."""
        return NumberSanitizer.problems(self)

    @cached_property
    def noise(self) -> GeometricNoise:
        """The noise on every count."""
        return GeometricNoise(NOISE_SHARE * self.epsilon / 2.0)

    @property
    def output_size(self) -> int:
        """The number of records of the output."""
        return math.ceil(8.0 / self.alpha * (1.0 - 1e-12))

    def failure_bound(self, size: int) -> float:
        """Return a bound on the failure probability with `size` records.

        Examples
        --------
        >>> sanitizer = IntervalSanitizer(alpha=0.25)
        >>> sanitizer.failure_bound(sanitizer.sample_size()) <= 0.1
        True
        """
        far = 3.0 * self.alpha * size / 16.0
        noisy = straying(far, terms=3 * self.rounds + 1, rate=self.noise.rate)
        return min(1.0, super().failure_bound(size) + noisy)

    def measure(self, output: Any, counted: Tally) -> float:
        """Return the largest error of an output's answers over the whole class."""
        return counted.interval_error(output)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs."""
        return [self.released(self.cuts(nodes), noisy) for nodes, noisy in self.counted(database, size, rng)]

    def counted(
        self, database: Any, size: int, rng: np.random.Generator
    ) -> list[tuple[tuple[Node, ...], NDArray[np.int64]]]:
        """Return the intervals taken out and the noisy counts, run by run."""
        tree = tree_of(self.tally(database), self.dimension)
        first, *others = rng.spawn(size + 1)
        runs, noisy = self.runs(tree, size, first), []
        known = {nodes: cell_counts(tree.tally, self.cuts(nodes)) for nodes in set(runs)}
        for nodes, one in zip(runs, others, strict=True):
            counts = known[nodes]
            noise = self.noise.sample(len(counts), one)
            noisy.append((nodes, np.clip(counts + noise, -self._m, 2 * self._m)))
        return noisy

    def cuts(self, nodes: Iterable[Node]) -> list[int]:
        """Return where the cells begin."""
        places = {0, *(cut for node in nodes for cut in node.cuts)}
        return sorted(places - {1 << self.dimension})

    def released(self, cuts: list[int], noisy: NDArray[np.int64]) -> tuple[int, ...]:
        """Return the output for cells with these cuts and noisy counts.

        Examples
        --------
        >>> sanitizer = IntervalSanitizer(dimension=3, alpha=0.9, size=2000)
        >>> sanitizer.released([0, 4], np.array([502, 1490]))
        (0, 3, 4, 4, 4, 4, 7, 7, 7)
        """
        sums = np.clip(np.cumsum(noisy), 0, self._m)
        sums[-1] = self._m
        ends = np.maximum.accumulate(sums) / self._m
        middles = (ends + np.concatenate([[0.0], ends[:-1]])) / 2.0
        lasts = [*(cut - 1 for cut in cuts[1:]), (1 << self.dimension) - 1]
        points = [point for pair in zip(cuts, lasts, strict=True) for point in pair]
        return rounded(points, np.stack([middles, ends], axis=1).ravel(), size=self.output_size)

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it is too large."""
        from audit.distributions import Finite

        wide = min(2**self.dimension, 3 * self.rounds + 1, 64)
        if (3 * self._m + 1) ** (wide - 1) > _MOST_OUTCOMES:
            return None
        seen = self.tally(database)
        sequences = self.law(tree_of(seen, self.dimension))
        if sequences is None:
            return None
        masses: dict[Any, float] = {}
        for nodes, mass in sequences.items():
            key = tuple(self.cuts(nodes))
            masses[key] = masses.get(key, 0.0) + mass
        outputs: dict[Any, float] = {}
        for cuts, mass in masses.items():
            for output, share in self._counted(cuts, seen).items():
                outputs[output] = outputs.get(output, 0.0) + mass * share
        return Finite(list(outputs), list(outputs.values()))

    def _counted(self, cuts: tuple[int, ...], seen: Tally) -> dict[Any, float]:
        """Return the probability of every output, given the cuts."""
        counts = cell_counts(seen, list(cuts))[:-1].tolist()
        laws = [clamped_geometric(times, self.noise.rate, -self._m, 2 * self._m) for times in counts]
        return self._table(cuts).law(laws)

    def _table(self, cuts: tuple[int, ...]) -> CountTable:
        if cuts not in self._tables:
            self._tables[cuts] = CountTable.of(
                lambda counts: self.released(list(cuts), np.array([*counts, 0])),
                range(-self._m, 2 * self._m + 1),
                length=len(cuts) - 1,
            )
        return self._tables[cuts]

    @cached_property
    def _tables(self) -> dict[tuple[int, ...], CountTable]:
        return {}


entry = Entry(
    "interval-sanitizer",
    partial(IntervalSanitizer, dimension=1, **LOOSE, size=241),
    options={"pairs": swaps(0, 1, size=241, many=241), "budget": 2_000},
    reference=IntervalSanitizer.reference,
    summary="INTERVAL_1 by Rec and choosing, exact: all pairs",
    formulas=budgets.interval_sanitizer,
)
