"""The split of an (ε, δ) budget over the calls of algorithm Rec."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidValue
from mechanisms.composition.accounting import advanced_bound, composed_epsilon, sequential_bound
from mechanisms.concave import calls, lemma_2, levels, log_star
from mechanisms.concave.bounds import ceiling
from mechanisms.selection.stability import StableSelection, TightStableSelection

if TYPE_CHECKING:
    from collections.abc import Callable

    from mechanisms.comparison.threshold import ThresholdTest

__all__ = ["LevelBudget", "Split", "accounts", "even_split", "fitted_split"]

MEMBERS = 32
"""The largest number of points in H, the set from which a level of Rec chooses."""


@dataclass(frozen=True)
class LevelBudget:
    """What one level of Rec may spend.

    Parameters
    ----------
    choice
        Epsilon of the level's exponential mechanism.
    candidates
        The largest number of solutions that this mechanism chooses from.
    test
        The test of gaps by A_dist. None at the innermost level, which has no A_dist.
    stable
        The privacy of each of the two calls of A_dist. None at the innermost level.
    room
        The least difference of qualities that this level relies on, as a multiple of the innermost level's.
    """

    choice: float
    candidates: int
    test: ThresholdTest | None = None
    stable: ApproximateDP | None = None
    room: float = 1.0

    def failure(self, gap: float) -> float:
        """Return a bound on the level's failure probability if the innermost difference is `gap`."""
        ahead = self.room * gap
        chosen = (self.candidates - 1) * math.exp(-self.choice * ahead / 2.0)
        return chosen + (0.0 if self.test is None else math.exp(self.test.log_fail(ahead)))


@dataclass(frozen=True)
class Split:
    """The budgets of all levels of Rec, outermost first.

    Parameters
    ----------
    levels
        N + 1 budgets.
    claim
        The privacy of all calls together.

    Guarantee
    ---------
    *Privacy.* Rec makes the calls in `claims`, adaptively (`mechanisms.concave.calls`). `claim` bounds their
    composition.

    *Utility*, in the notation of BNS Fig. 1, with α = 1/2. Let Q be quasi-concave with maximum at least r.
    Level l has the promise r_l = r/4^l. Let p be a best point of level l. Suppose that the inner call
    returned k with q(k) ≥ r_l/8. Let K = 2^k.

    (i) Because q(k) ≥ r_l/8, L(k + 1) ≤ 7r_l/8 and L(k) ≥ 5r_l/8. So {Q > 7r_l/8} has fewer than 2K points,
    and {Q ≥ 5r_l/8} has at least K. These sets are intervals around p.

    (ii) The borders of all A_i and B_i are multiples of 4K. In one of the two families, p is at least 2K away
    from every border. Let I be the interval of that family that contains p. I contains {Q > 7r_l/8}, so I
    leads by r_l/8 or is the only interval. I also contains K adjacent points of {Q ≥ 5r_l/8}. None of these K
    is among the last K of the 8K points of I.

    (iii) If A_dist releases I, then H contains points of I at distance K/2. One of these has quality at least
    5r_l/8. The exponential mechanism then chooses a quality below r_l/2 with probability at most
    31·e^(−ε·r_l/16). A release of the other family can only add points to H.

    (iv) The promise holds in the inner call: q(j) ≥ r_l/4 = r_(l+1) for the largest j with L(j) ≥ 3r_l/4.
    After padding with zeros, {Q ≥ x} is still an interval for every x > 0.

    (v) The innermost exponential mechanism must come within g = r_N/2 = 4^(−N)·r/2 of the best. Level l < N
    relies on the difference 4^(N−1−l)·g. `failure_at` adds up the failure bounds of all levels.

    Examples
    --------
    >>> split = fitted_split(2**64, epsilon=1.0, delta=1e-6, failure=0.05)
    >>> len(split.claims), round(split.least_promise(0.05)), split.claim.epsilon
    (7, 4040, 1.0)
    """

    levels: tuple[LevelBudget, ...]
    claim: ApproximateDP | PureDP

    @property
    def rounds(self) -> int:
        """N, the number of levels above the innermost."""
        return len(self.levels) - 1

    @property
    def claims(self) -> list[PureDP | ApproximateDP]:
        """The privacy claims of the calls that Rec makes."""
        stable = [level.stable for level in self.levels if level.stable is not None]
        return [*(PureDP(level.choice) for level in self.levels), *stable, *stable]

    @property
    def pieces(self) -> float:
        """The promise divided by the innermost difference."""
        return 2.0 * 4.0**self.rounds

    def failure_at(self, promise: float) -> float:
        """Return a bound on the probability of a quality below promise/2."""
        return math.fsum(level.failure(promise / self.pieces) for level in self.levels)

    def least_promise(self, failure: float) -> float:
        """Return the least promise with `failure_at` at most `failure`, to a relative 1e-9."""
        return _least(lambda r: self.failure_at(r) <= failure)


@lru_cache(maxsize=64)  # a subject is copied for many runs
def fitted_split(top: int, *, epsilon: float, delta: float, failure: float) -> Split:
    """Return the split of the budget with the least promise.

    Parameters
    ----------
    top
        T, the last threshold, at least 2.
    epsilon, delta
        The budget of all calls together.
    failure
        The failure probability of Rec, in (0, 1).

    Guarantee
    ---------
    The composition of `claims` is (epsilon, delta)-private. Two ways are tried: the claims add up to epsilon
    and delta, or half of delta goes to the optimal composition of Kairouz, Oh and Viswanath. The smaller
    promise wins.

    There are 2N + 1 kinds of failure, and each gets an equal share b. Let g be the innermost difference
    (`Split`). With c candidates, the innermost choice needs the epsilon (2/g)·ln((c − 1)/b). Every other
    level relies on a difference G ≥ g. Its choice needs the epsilon (2/G)·ln(31/b). Each tight A_dist with
    delta δ′ needs (2/(G − 2))·ln(1/(4·b·δ′)). The least g whose calls fit into the budget is taken.

    Examples
    --------
    >>> fitted_split(32, epsilon=1.0, delta=1e-6, failure=0.05).claims
    [PureDP(epsilon=1.0)]
    """
    whole = ApproximateDP(epsilon, delta)
    summed = _split(top, epsilon=epsilon, delta=delta, failure=failure, claim=whole)
    if not summed.rounds:
        return summed

    def composed(nominal: float) -> Split:
        return _split(top, epsilon=nominal, delta=delta / 2.0, failure=failure, claim=whole)

    nominal = epsilon
    for factor in _FACTORS:
        if composed_epsilon(composed(epsilon * factor).claims, delta=delta) > epsilon:
            break
        nominal = epsilon * factor
    best = composed(nominal)
    fits = composed_epsilon(best.claims, delta=delta) <= epsilon
    better = best.least_promise(failure) < summed.least_promise(failure)
    return best if fits and better else summed


_FACTORS = [1.0 + 0.02 * step for step in range(1, 101)]
"""Factors by which the calls may spend more than epsilon under optimal composition; tried in this order."""


def _split(top: int, *, epsilon: float, delta: float, failure: float, claim: ApproximateDP | PureDP) -> Split:
    rounds = levels(top)
    share = failure / (2 * rounds + 1)
    inner = _inner_candidates(top)
    if not rounds:
        return Split((LevelBudget(epsilon, inner),), claim)
    stable = delta / (2 * rounds)
    nats = (math.log((inner - 1) / share), math.log((MEMBERS - 1) / share))
    sure = max(0.0, -math.log(4.0 * share * stable))
    rooms = [4.0 ** (rounds - 1 - level) for level in range(rounds)]

    def spent(gap: float) -> float:
        outer = math.fsum(2.0 * nats[1] / (room * gap) + 4.0 * sure / (room * gap - 2.0) for room in rooms)
        return 2.0 * nats[0] / gap + outer

    gap = _least(lambda g: g > 2.0 and spent(g) <= epsilon)
    made = [
        _level(2.0 * nats[1] / (room * gap), 2.0 * sure / (room * gap - 2.0), stable, room) for room in rooms
    ]
    return Split((*made, LevelBudget(2.0 * nats[0] / gap, inner)), claim)


def _level(choice: float, epsilon: float, delta: float, room: float) -> LevelBudget:
    test = TightStableSelection(epsilon=epsilon, delta=delta).test
    return LevelBudget(choice, MEMBERS, test, ApproximateDP(epsilon, delta), room)


def even_split(top: int, *, epsilon: float, delta: float) -> Split:
    """Return the split in which every call gets the same budget.

    A_dist is as printed, and counts as (ε/2, δ/2)-private. The claims of all 3·N + 1 calls add up to the
    budget.

    Examples
    --------
    >>> round(even_split(2**64, epsilon=1.0, delta=1e-6).least_promise(0.05))
    10823
    """
    each, part = accounts(top, epsilon=epsilon, delta=delta)["tight"]
    rounds, inner = levels(top), _inner_candidates(top)
    test = StableSelection(epsilon=each, delta=part).test if rounds else None
    stable = ApproximateDP(each / 2.0, part / 2.0) if rounds else None
    outer = [LevelBudget(each, MEMBERS, test, stable, 4.0 ** (rounds - 1 - level)) for level in range(rounds)]
    return Split((*outer, LevelBudget(each, inner)), ApproximateDP(epsilon, delta))


def accounts(top: int, *, epsilon: float, delta: float) -> dict[str, tuple[float, float]]:
    """Return the epsilon and delta of a call of Rec, under five ways to add up.

    - "lemma 2": as printed.
    - "calls": the claims of all 3·N + 1 calls are added.
    - "tight": the same, with A_dist as (ε/2, δ/2)-private, which it is.
    - "advanced": the calls of "tight", composed by `advanced_bound` with half of delta as slack. - "optimal":
      the same with optimal composition.

    Examples
    --------
    >>> told = accounts(2**64, epsilon=1.0, delta=1e-6)
    >>> {name: round(each, 4) for name, (each, _) in told.items()}
    {'lemma 2': 0.0441, 'calls': 0.1429, 'tight': 0.2, 'advanced': 0.2, 'optimal': 0.2}
    """
    rounds, depth = levels(top), log_star(top)
    if not delta < 1.0:
        raise InvalidValue(f"The `delta` of a budget must be below 1; got {delta:g}.")
    printed, half = delta / (4 * depth), delta / (2 * rounds) if rounds else delta

    def composed(each: float) -> list[PureDP | ApproximateDP]:
        return calls(top, epsilon=each, delta=half, tight=True)

    bounds: dict[str, tuple[Callable[[float], float], float]] = {
        "lemma 2": (lambda e: lemma_2(top, epsilon=e, delta=printed).epsilon, printed),
        "calls": (
            lambda e: sequential_bound(calls(top, epsilon=e, delta=delta)).epsilon,
            delta / max(1, 2 * rounds),
        ),
        "tight": (
            lambda e: sequential_bound(calls(top, epsilon=e, delta=delta, tight=True)).epsilon,
            delta / max(1, rounds),
        ),
        "advanced": (lambda e: advanced_bound(composed(e), slack=delta / 2.0).epsilon, half),
        "optimal": (lambda e: composed_epsilon(composed(e), delta=delta), half),
    }
    return {name: (_largest(bound, epsilon), part) for name, (bound, part) in bounds.items()}


def _inner_candidates(top: int) -> int:
    for _ in range(levels(top)):
        top = ceiling(top).bit_length() - 1
    return top + 1


def _least(enough: Callable[[float], bool]) -> float:
    """Return the least positive x that `enough` accepts, rounded up by at most 1e-10·x."""
    high = 1.0
    while not enough(high):
        high *= 2.0
    low = 0.0
    while high - low > 1e-10 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _largest(bound: Callable[[float], float], limit: float) -> float:
    """Return the largest positive x with bound(x) ≤ limit, rounded down by at most 1e-10·x."""
    return 1.0 / _least(lambda inverse: bound(1.0 / inverse) <= limit)
