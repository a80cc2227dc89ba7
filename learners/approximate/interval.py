"""The proper learner of thresholds by algorithm Rec (BNS §3.2-3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from audit.catalogue import Entry
from audit.errors import InvalidKind, check_word
from learners.approximate.budgets import Split, even_split, fitted_split
from learners.approximate.samples import threshold_errors
from learners.approximate.sizes import interval_size, promise_at
from learners.approximate.thresholds import ThresholdLearner
from learners.formulas import numbers
from mechanisms.concave import ConcavePromise
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    import numpy as np

    from audit.claims import ApproximateDP, PureDP
    from audit.distributions import Finite
    from mechanisms.concave.recursion import Level

__all__ = ["IntervalLearner", "SplitPromise"]


@dataclass(frozen=True, kw_only=True)
class SplitPromise(ConcavePromise):
    """Rec with a separate budget for each level.

    Parameters
    ----------
    split
        The budgets; `epsilon` and `delta` are not used.
    top, promise, alpha, quality, relation, records, size
        As in `ConcavePromise`.

    Guarantee
    ---------
    Rec has the privacy of the composition of its calls, whatever their budgets. So the split's claim holds.

    Examples
    --------
    >>> split = fitted_split(64, epsilon=1.0, delta=1e-3, failure=0.05)
    >>> print(SplitPromise(top=64, promise=100.0, beta=None, split=split).claim)
    ApproximateDP(epsilon=1, delta=0.001)
    """

    split: Split | None = None

    name: ClassVar[str] = "split-concave-promise"

    def __post_init__(self) -> None:
        if not isinstance(self.split, Split):
            raise InvalidKind(f"The `split` of `SplitPromise` must be a `Split`; got {self.split!r:.40}.")
        super().__post_init__()

    @property
    def budgets(self) -> Split:
        """The budget of each level."""
        assert self.split is not None
        return self.split

    @property
    def claim(self) -> PureDP | ApproximateDP:
        """The total privacy."""
        return self.budgets.claim

    def _chain(self, database: Any) -> list[Level]:
        return [
            replace(
                level,
                settings=replace(
                    level.settings, epsilon=budget.choice, test=budget.test or level.settings.test
                ),
            )
            for level, budget in zip(super()._chain(database), self.budgets.levels, strict=True)
        ]


@dataclass(frozen=True, kw_only=True)
class IntervalLearner(ThresholdLearner):
    """Learn a threshold by algorithm Rec.

    A database is a list of (x, y) or a `NumberSample`. x is an integer below 2^dimension; y is 0 or 1. The
    output j ∈ {0 … 2^dimension} is the concept that labels x with 1 if x < j.

    Parameters
    ----------
    dimension
        d, from 1 to 4,096.
    epsilon, delta
        The total privacy, epsilon > 0 and 0 < delta ≤ 1/2.
    alpha, beta
        Error in (0, 1) and failure probability in (0, 1/2).
    split
        "fitted": every call of Rec gets the budget that it needs (`fitted_split`). "even": all calls get the
        same.
    points
        The numbers in audited databases. Default: all numbers if d ≤ 2, else 0, 1 and 2^d − 1.
    size
        The number of records in audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of range, or an example is invalid. For delta = 0 see `PureIntervalLearner`.

    Guarantee
    ---------
    (epsilon, delta)-differential privacy when one record is replaced. The number of errors of each threshold
    changes by at most 1. Rec has the privacy of its 3·N + 1 calls combined (`Split`). This is one call up to
    d = 5, four up to d = 32, seven beyond.

    *Utility*, on `sample_size` examples or more, labelled by a threshold t. Rec runs with the promise r and
    its own α = 1/2 on the shifted score q(j) = r − errors(j) (N9). Then q(t) = r, and q is quasi-concave on
    its positive levels. Except with probability beta/2, Rec returns j with q(j) ≥ r/2 (`Split`). So j makes
    at most r/2 errors on the sample.

    Let j* be the largest threshold below t with error above alpha. j* errs only on {j* … t − 1}. Every
    smaller threshold errs on all of these numbers. So if any bad threshold below t makes at most r/2 errors
    on the sample, so does j*. The same holds above t. So some bad threshold makes at most r/2 errors with
    probability at most 2·Pr[Bin(m, alpha) ≤ r/2]. The choice of r makes this at most beta/2 (`promise_at`).
    `sample_size` is the least m whose r is enough for Rec.

    Examples
    --------
    >>> import numpy as np
    >>> learner = IntervalLearner(dimension=64)
    >>> learner.sample_size()
    21055
    >>> database = [(2**63 - 5, 1), (2**63, 0)] * (learner.sample_size() // 2 + 1)
    >>> 2**63 - 5 < learner(database, np.random.default_rng(0)) <= 2**63
    True
    """

    split: Literal["fitted", "even"] = "fitted"
    points: tuple[int, ...] | None = None
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "interval-learner"
    reference: ClassVar[str] = "BNS §3.2-3.3, Theorem 2 (with the shifted score)"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_word(self.split, Literal["fitted", "even"], what=f"The `split` of `{type(self).__name__}`")

    @cached_property
    def budgets(self) -> Split:
        """The split of the budget."""
        told = {"epsilon": self.epsilon, "delta": self.delta}
        if self.split == "even":
            return even_split(self.top, **told)
        return fitted_split(self.top, failure=self.beta / 2.0, **told)

    @cached_property
    def _needed(self) -> int:
        return interval_size(self.budgets, alpha=self.alpha, beta=self.beta)

    def promise_for(self, size: int) -> float:
        """Return the largest promise that databases of `size` records allow."""
        return promise_at(size, alpha=self.alpha, failure=self.beta / 2.0)

    def mechanism(self, size: int) -> SplitPromise:
        """Return Rec for databases with `size` records.

        The quality of threshold j is the promise minus the errors of j.
        """
        return SplitPromise(
            top=self.top, promise=self.promise_for(size), alpha=0.5, beta=None, split=self.budgets
        )

    def quality(self, database: Any) -> StepFunction:
        """Return the score of every threshold."""
        sample = self.counted(database)
        errors = threshold_errors(sample, top=self.top)
        return StepFunction(errors.starts, self.promise_for(len(sample)) - errors.values, top=self.top)

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` thresholds, as an array if they fit into 64 bits."""
        counted = self.counted(database)
        return self.mechanism(len(counted)).sample(self.quality(counted), size, rng)

    def distribution(self, database: Any) -> Finite:
        """Return the exact law of the threshold."""
        counted = self.counted(database)
        return self.mechanism(len(counted)).distribution(self.quality(counted))

    def suggested_pairs(self) -> list[tuple[list[tuple[int, int]], list[tuple[int, int]]]]:
        """Return neighbours on which many thresholds differ by one error."""
        most = self.size if isinstance(self.size, int) else self.size[1]
        points = self.audited_points
        low, high = points[0], points[-1]
        left = [((low, 1), (high, 0))[place % 2] for place in range(most)]
        spread = math.ceil(most / 2)
        split = [(low, 1)] * spread + [(high, 0)] * (most - spread)
        return [
            (database, [(high, 1), *database[1:]]) for database in (left, split) if database[0] != (high, 1)
        ]


entry = Entry(
    "interval-learner",
    partial(IntervalLearner, epsilon=2.0, delta=0.05),
    reference=IntervalLearner.reference,
    summary="INTERVAL_2, all samples of 3",
    formulas=numbers.intervals,
)
