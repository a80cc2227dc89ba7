"""Betting on a failure probability, against the claim and for it.

A trial on problem k shows F in [0, 1] with mean p_k, the failure probability. F is 1 or 0, or the exact
conditional probability of failure given the sample. The claim says p_k ≤ β for every problem k.

*Against.* If the claim holds, E[1 + s·(F/β − 1) | past] ≤ 1 for every stake 0 ≤ s < 1, and the factor is
positive. The wealth R_k on problem k is the average, over a fixed grid of stakes, of the products of these
factors. Let the weights w_k be fixed before the first bet, and let the past alone decide which problem is
drawn next. Then R = Σ w_k R_k is a non-negative supermartingale that starts at 1.

**Guarantee.** If p_k ≤ β for all problems, Pr[sup R ≥ 1/significance] ≤ significance (Ville). Exploratory
runs may choose the problems, because they are never bet on.

*For.* On one problem with p_k ≥ β the same holds with 1 − F for F and 1 − β for β. The wealth M_k of these
bets reaches 1/significance with probability at most significance.

**Guarantee.** "Every problem is met" is stated only when every M_k has reached 1/significance. The list of
problems is fixed before the first bet. Suppose some problem on the list has p_k > β, and let j be the first
of these. The statement is made only if M_j reaches 1/significance, which has probability at most
significance. No correction for the number of problems is needed, because every M_k has to reach this value. A
claim that *some* problem is met would need a correction.

**Bounds** are found by bisection. For every F, 1 + s·(F/β − 1) decreases in β. So the wealth against the
claim decreases in the claimed β, and the wealth for the claim increases in β. Let b be the largest value that
R rejects. The statement "p_k ≥ b for some k" is wrong with probability at most significance. Let u be the
largest upper bound that an M_k gives. The statement "p_k ≤ u for all k" is wrong with probability at most
significance too.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from audit.distributions.law import Floats
from audit.evidence.bets import STAKES, log_sum

GRID: Final = STAKES[STAKES > 0]
#: A claim of β = 0 is replaced by this weaker one, because payoffs against 0 would be infinite.
LEAST_BETA: Final = 1e-12
#: Bisection steps: more steps than a double has bits gain nothing.
_STEPS: Final = 60
#: `least_runs` considers only numbers of runs below this one.
_ENDLESS: Final = 2**62


def weights(count: int) -> Floats:
    """Return each problem's share of the wealth, in descending order.

    The most promising problem comes first. The shares sum to 1.

    Examples
    --------
    >>> weights(2).tolist()
    [0.8, 0.2]
    """
    shares = 1.0 / np.arange(1, count + 1) ** 2
    return np.asarray(shares / shares.sum())


def log_payoffs(values: Floats, beta: float) -> Floats:
    """Return log(1 + s·(F/β − 1)) for each value F and each stake s.

    The result has shape (values, stakes).
    """
    return np.asarray(np.log1p(GRID * (values[:, None] / max(beta, LEAST_BETA) - 1.0)))


@dataclass
class Bets:
    """The trials bet on for one problem, in order.

    Each trial is an interval that holds its failure F in [0, 1]. The interval of a finished run is one point.
    A run without an output counts as no failure against the claim (`low`). It counts as a failure for the
    claim (`high`).

    Examples
    --------
    >>> bets = Bets()
    >>> path = bets.add(np.ones(8), np.ones(8), beta=0.1)
    >>> bool(bets.log_wealth(0.1) > np.log(1e6)), bets.log_wealth_for(0.1) < 0
    (True, True)
    """

    low: list[Floats] = field(default_factory=list)
    high: list[Floats] = field(default_factory=list)
    _against: Floats = field(default_factory=lambda: np.zeros(len(GRID)), repr=False)
    _for: Floats = field(default_factory=lambda: np.zeros(len(GRID)), repr=False)

    @property
    def runs(self) -> int:
        """Number of runs that were bet on."""
        return sum(map(len, self.low))

    @property
    def failures(self) -> float:
        """Sum of F over the finished runs."""
        return float(sum(part.sum() for part in self.low))

    @property
    def log_now(self) -> float:
        """Log wealth against the claim that was given when the trials were added."""
        return float(_mean(self._against))

    def paths(self, low: Floats, high: Floats, *, beta: float) -> tuple[Floats, Floats]:
        """Return the log wealth against the claim and for it after each further trial."""
        against = self._against + np.cumsum(log_payoffs(low, beta), axis=0)
        favour = self._for + np.cumsum(log_payoffs(1.0 - high, 1.0 - beta), axis=0)
        return _mean(against), _mean(favour)

    def add(self, low: Floats, high: Floats, *, beta: float) -> None:
        """Add trials that were bet on."""
        self.low.append(low)
        self.high.append(high)
        self._against = self._against + log_payoffs(low, beta).sum(axis=0)
        self._for = self._for + log_payoffs(1.0 - high, 1.0 - beta).sum(axis=0)

    def log_wealth(self, beta: float, *, as_failures: bool = False) -> float:
        """Return the log wealth against "the failure probability is at most beta".

        A run without an output counts as no failure or, with `as_failures`, as a failure.
        """
        return _log_wealth(_counted(self.high if as_failures else self.low), beta)

    def log_wealth_for(self, beta: float) -> float:
        """Return the log wealth against "the failure probability is at least beta"."""
        return _log_wealth(_counted([1.0 - part for part in self.high]), 1.0 - beta)


def _counted(parts: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return the distinct values of F and their counts."""
    values, counts = np.unique(np.concatenate([np.zeros(0), *parts]), return_counts=True)
    return values, counts.astype(float)


def _log_wealth(counted: tuple[Floats, Floats], beta: float) -> float:
    values, counts = counted
    return float(_mean(counts @ log_payoffs(values, beta)))


def _mean(logs: Floats) -> Floats:
    """Return the log of the mean wealth over the stakes.

    The stakes are the last axis of `logs`, the log wealth of each stake.
    """
    return np.asarray(log_sum(logs) - math.log(len(GRID)))


def lower_bound(shares: Floats, bets: Sequence[Bets], *, significance: float) -> float:
    """Return a lower bound on the failure probability of the worst of these problems.

    **Guarantee.** The bound exceeds the problems' largest failure probability with probability at most
    `significance`.
    """
    limit = -math.log(significance)
    counted = [(place, _counted(each.low)) for place, each in enumerate(bets) if each.runs]
    logs = np.log(shares)  # a problem without runs keeps its share

    def rejected(beta: float) -> bool:
        wealth = logs.copy()
        for place, each in counted:
            wealth[place] += _log_wealth(each, beta)
        return bool(log_sum(wealth) >= limit)

    return _largest(rejected)


def upper_bound(bets: Bets, *, significance: float) -> float:
    """Return an upper bound on the failure probability of one problem. Its confidence is 1 − significance."""
    if not bets.runs:
        return 1.0
    limit, counted = -math.log(significance), _counted([1.0 - part for part in bets.high])
    return 1.0 - _largest(lambda gamma: _log_wealth(counted, gamma) >= limit)


def _largest(rejected: Callable[[float], bool]) -> float:
    """Return the largest rejected value in [0, 1], 0 if none is rejected.

    Every value below a rejected one must be rejected too.
    """
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) else (low, middle)
    return low


def least_runs(beta: float, significance: float) -> int:
    """Return the number of failures in a row that refute a claim of `beta`.

    Fewer runs cannot refute it. At 1 − β, this is the least number of runs that show that a claim of β is
    met.

    Examples
    --------
    >>> least_runs(0.1, 1e-6), least_runs(0.9, 1e-6)
    (8, 161)
    """
    limit, gain = -math.log(significance), log_payoffs(np.ones(1), beta)[0]
    return bisect_left(range(_ENDLESS), limit, lo=1, key=lambda runs: float(_mean(runs * gain)))
