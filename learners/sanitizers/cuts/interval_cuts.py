"""Cuts between which few records lie."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from audit.catalogue import Entry
from audit.claims import ApproximateDP
from learners.formulas import budgets
from learners.sanitizers.base import NumberSanitizer
from learners.sanitizers.cuts.dyadic import tree_of
from learners.sanitizers.cuts.laws import cut_law
from learners.sanitizers.cuts.runs import cut_runs
from learners.sanitizers.cuts.search import CutSearch
from learners.sanitizers.spending import affordable
from learners.sanitizers.swaps import swaps
from mechanisms.comparison.threshold import ThresholdTest
from mechanisms.concave import ConcavePromise, calls, levels

if TYPE_CHECKING:
    import numpy as np

    from audit.claims import PureDP
    from audit.distributions import Finite
    from audit.problems import Problem
    from learners.sanitizers.cuts.dyadic import DyadicTree, Node
    from learners.sanitizers.spending import Spending

__all__ = ["IntervalCuts"]

_ROUNDING = 1e-12
_MOST_SEQUENCES = 20_000
"""A law with more sequences of intervals than this is not listed."""

_FEW_POINTS = 4
"""With up to this many points, runs that have the same points left (at most 2^4 sets) are drawn together."""

_MOST_ROUNDS = 20
"""With two intervals or more, this many rounds give more than `_MOST_SEQUENCES` sequences."""


@dataclass(frozen=True, kw_only=True)
class IntervalCuts(NumberSanitizer):
    """Take out dyadic intervals until few records are left.

    The output is a tuple of intervals (low, high) in the order in which they were taken out.

    Parameters
    ----------
    dimension, epsilon, delta, alpha, beta, size, records
        See `NumberSanitizer`. No accuracy is claimed here.

    Guarantee
    ---------
    *Privacy*: (epsilon, delta) when one record is replaced. Let L(j) be the largest number of records left in
    a dyadic interval of 2^j points, L(−1) = 0, and t = alpha·size. A round has two steps.

    (i) Rec runs on {0 … d} with promise t and the quality q(j) = min(L(j), 2t − L(j − 1)). Earlier outputs
    tell which intervals are out. So each L moves by at most 1 between neighbours, and q has sensitivity 1.

    (ii) With the j that Rec returned, the choosing mechanism chooses among the dyadic intervals of 2^j points
    by the number of records left in them. One more record raises one of these numbers by 1.

    Each round makes the calls of `mechanisms.concave.calls` and one call of the choosing mechanism.
    `spending` composes the claims of all `rounds`. The deltas of all these claims add up to delta/2.

    *What is found* (`failure_bound`). As long as at least t records are left, a round takes out an interval
    with at least 3t/8 of them, and each half of the interval holds at most 3t/2. L increases, so q is
    quasi-concave. At the least j with L(j) ≥ t, q is at least t, which is the promise. Rec runs with its own
    alpha = 1/2 and returns a j with q(j) ≥ t/2. So L(j) ≥ t/2 and L(j − 1) ≤ 3t/2. The choosing mechanism
    runs with alpha/2. Its test asks for t/4, and it returns an interval within t/8 of the best. At j = 0 the
    interval is a single heavy point, with no halves. So after k = ⌈(1 − alpha)/(3·alpha/8)⌉ rounds, or at the
    first refusal, at most t records are left.

    Rec's depth on {0 … d} is N = 0 for d ≤ 32 and N = 1 for larger d (`rec_failure`).

    Examples
    --------
    >>> import numpy as np
    >>> cuts = IntervalCuts(dimension=3, alpha=0.5, delta=0.01)
    >>> cuts([6] * cuts.size, np.random.default_rng(0))
    ((6, 6),)
    """

    name: ClassVar[str] = "interval-cuts"
    reference: ClassVar[str] = "BNS §4.2, Theorem 4 (the construction is ours)"

    @property
    def choosing_alpha(self) -> float:
        """The approximation parameter of the choosing mechanism."""
        return self.alpha / 2.0

    @property
    def rounds(self) -> int:
        """The largest number of rounds, called k."""
        return max(1, math.ceil((1.0 - self.alpha) / (0.375 * self.alpha) * (1.0 - _ROUNDING)))

    @property
    def top(self) -> int:
        """The last point of Rec's range."""
        return max(2, self.dimension)

    @property
    def choosing_delta(self) -> float:
        """The delta of each call of the choosing mechanism and of A_dist."""
        return self.delta / 2.0 / self.rounds / (levels(self.top) + 1)

    def step_claims(self, step: float) -> list[PureDP | ApproximateDP]:
        """Return the claims of all steps if each has epsilon `step`."""
        rec = calls(self.top, epsilon=step, delta=self.choosing_delta, tight=True)
        return [*rec, ApproximateDP(step, self.choosing_delta)] * self.rounds

    @cached_property
    def spending(self) -> Spending:
        """The composed cost of all steps."""
        return affordable(self.step_claims, epsilon=self.epsilon, delta=self.delta, largest=self.largest_step)

    @property
    def utility_claim(self) -> Any:
        """No accuracy, because the intervals alone give no estimate."""
        return None

    def problems(self) -> list[Problem]:
        """Return no problems, because no accuracy is claimed."""
        return []

    def rec_failure(self, promise: float) -> float:
        """Return a bound on the probability that Rec fails.

        Rec fails if the quality is below promise/2.

        Guarantee
        ---------
        The quality must be quasi-concave and reach the promise r. On a range of at most 33 points Rec is one
        exponential mechanism, and the bound is (T + 1)·e^(−step·r/4).

        If Rec calls itself once (T ≤ 64, Rec's alpha = 1/2), three failures add up. (i) The inner call has
        the promise r/4 on {0 … log T′}. It returns a power of quality below r/8 with probability at most (log
        T′ + 1)·e^(−step·r/16). (ii) Otherwise one of the two families has a gap of at least r/8. A_dist
        refuses it with probability e^(−step·(r/8 − 2)/4)/(2·delta). (iii) If A_dist accepts it, H has a point
        of quality at least 5r/8. A point of quality below r/2 is then chosen from H with probability at most
        32·e^(−step·r/16). (BNS Lemma 3 asks for r ≥ 4^log*(T)·(32/step)·ln(32/(β·δ)) instead.)

        Examples
        --------
        >>> cuts = IntervalCuts(dimension=64)
        >>> cuts.rec_failure(cuts.alpha * cuts.size) * cuts.rounds <= cuts.beta
        True
        """
        step = self.spending.step
        if levels(self.top) == 0:
            return min(1.0, (self.top + 1) * math.exp(-step * promise / 4.0))
        points = (self.top - 1).bit_length() + 1 + 32
        refused = 0.5 * math.exp(
            min(0.0, -step * (promise / 8.0 - 2.0) / 4.0 - math.log(self.choosing_delta))
        )
        return min(1.0, points * math.exp(-step * promise / 16.0) + refused)

    def failure_bound(self, size: int) -> float:
        """Return a bound on the failure probability with `size` records."""
        t, step = self.alpha * size, self.spending.step
        choosing = 0.5 * math.exp(-step * t / 16.0) + size * math.exp(-step * t / 32.0)
        return min(1.0, self.rounds * (self.rec_failure(t) + choosing))

    @property
    def rec(self) -> ConcavePromise:
        """The mechanism that finds the level."""
        return ConcavePromise(
            epsilon=self.spending.step,
            delta=self.choosing_delta,
            top=self.top,
            promise=self.alpha * self._m,
            beta=None,
            accounting="tight",
        )

    @cached_property
    def test(self) -> ThresholdTest:
        """The noisy test of the best count before each choice."""
        return ThresholdTest(4.0 / self.spending.step, self.alpha * self._m / 4.0)

    @property
    def search(self) -> CutSearch:
        """The search that is run."""
        return CutSearch(
            dimension=self.dimension,
            rounds=self.rounds,
            rec=self.rec,
            test=self.test,
            least=self.alpha * self._m,
            weight=self.spending.step / 4.0,
        )

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return the intervals taken out."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs.

        If two databases both have at most four distinct points, or both have more, run i draws the same
        numbers on them.
        """
        tree = tree_of(self.tally(database), self.dimension)
        return [self._shown(nodes) for nodes in self.runs(tree, size, rng)]

    def runs(self, tree: DyadicTree, size: int, rng: np.random.Generator) -> list[tuple[Node, ...]]:
        """Return the intervals that each of `size` runs takes out."""
        search = self.search
        if len(tree.tally.points) <= _FEW_POINTS:
            return cut_runs(search, tree, size, rng)
        return [search.run(tree, one) for one in rng.spawn(size)]

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it is too large."""
        from audit.distributions import Finite

        masses = self.law(tree_of(self.tally(database), self.dimension))
        if masses is None:
            return None
        return Finite([self._shown(nodes) for nodes in masses], list(masses.values()))

    def listable(self, distinct: int) -> bool:
        """Whether the sequences of intervals are few enough to list."""
        nodes = min(2 << self.dimension, distinct * (self.dimension + 1))
        sequences: int = nodes ** min(self.rounds, distinct, _MOST_ROUNDS)
        return sequences <= _MOST_SEQUENCES

    def law(self, tree: DyadicTree) -> dict[tuple[Node, ...], float] | None:
        """Return the probability of every sequence, or None for too many."""
        return cut_law(self.search, tree) if self.listable(len(tree.tally.points)) else None

    def _shown(self, nodes: tuple[Node, ...]) -> Any:
        return tuple((node.low, node.high) for node in nodes)


entry = Entry(
    "interval-cuts",
    partial(IntervalCuts, dimension=2, alpha=0.5, epsilon=4.0, delta=0.01, size=648),
    options={"pairs": [*swaps(0, 1, size=648, many=324), budgets.CUT], "budget": 2_000},
    reference=IntervalCuts.reference,
    summary="where INTERVAL_2 is cut, exact: all but the noise",
    formulas=budgets.cuts,
)
