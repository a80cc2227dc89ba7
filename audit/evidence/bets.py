"""The decision rule: betting against the claim, call by call.

Each call draws its side of the pair (z, z′) by a fair coin of its own, and is one trial. For an event E let
p = Pr[M(z) ∈ E] and q = Pr[M(z′) ∈ E] *in the state that the subject is in when called*, R = e^ε, and

    D = 2·1[p side]·1[E] − 2R·1[q side]·1[E] − δ − h·(1[p side] − 1[q side])

for any number h fixed beforehand. The coin is independent of the past, so E[D | past] = p − R·q − δ, which
the claim (ε, δ) says is at most 0, whatever earlier calls left behind: a call that sees what the other side
wrote is judged by the claim about *that* call. The least values of D are −δ − h (p side, outside E) and
−2R − δ + h (q side, inside E); with M = max(h + δ, 2R + δ − h) and a stake λ = s/M, 0 ≤ s < 1, fixed before
the call, 1 + λ·D > 0 and E[1 + λ·D | past] ≤ 1. The variance of D is least at h = p + R·q, so h is that of
the past's estimates.

A *bet* spreads the whole wealth over (event, stake) components before a batch is drawn, by weights that
depend on the past alone; the wealth is multiplied by Σ_c w_c ∏_i (1 + λ_c·D_i(c)).

**Guarantee.** Each factor has conditional expectation ≤ 1 (a weighted mean of products of such terms), so
the wealth is a non-negative supermartingale from 1, and by Ville's inequality Pr[sup wealth ≥
1/significance] ≤ significance, whatever the events, weights, batch sizes and stopping rule, as long as they
look at the past only, and whatever state the subject keeps, as long as each call keeps the claim given what
was returned before.

**Databases k steps apart.** On a path of k neighbours the claim says something of the ends, at another ε and
δ (`audit.claims.at_distance`). So E[D | past] ≤ 0 for D of *that* claim, and a bet on the ends against it is
one of the factors above, whatever path was chosen before its batch was drawn. Its wealth speaks against
(ε, δ) for neighbours: bounds read off the ledger are bounds at one step, whatever the distances of its bets.

**Two accounts.** A share of the wealth, fixed before the audit, is bet on whole tables with the last run in
view (`audit.evidence.goals`); the rest is bet on events as above, a part of it only later
(`audit.evidence.reserve`). Each account is a supermartingale, and so is their sum, which the guarantee is
about. An audit that goes on from another one starts with what its accounts held (`audit.evidence.standing`).

The counts of a bet do not depend on the claim, and h and the weights at any (ε, δ) are functions of stored
numbers, so the same calls give the wealth against every other claim: that is how bounds are found (`Ledger`).
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv

from audit.claims import at_distance
from audit.distributions.law import Floats, Ints
from audit.evidence.goals import Aim, Goals, coupled_gains
from audit.evidence.reserve import Reserved
from audit.evidence.standing import Flags, Standing

#: Stakes as fractions of the largest admissible one: a fixed grid, no tuning; 0 abstains.
STAKES = np.append(np.geomspace(0.985, 0.01, 17), 0.0)
#: Weight of the stakes before anything is known. Abstaining has much, so that a fair mechanism costs little.
LOG_STAKE_PRIOR = np.log(np.append(np.full(len(STAKES) - 1, 0.7 / (len(STAKES) - 1)), 0.3))
#: Above this ε the claim allows everything that a double can show.
EPSILON_CAP = 500.0
#: Rows of events times claims that are looked at together at most.
_ROWS = 4_096


def log_payoffs(p: Floats, q: Floats, epsilon: Floats | float, delta: Floats | float) -> Floats:
    """Give log(1 + λ·D) for the four outcomes of a call and every stake, with h = p + R·q.

    Parameters
    ----------
    p, q
        The past's estimates for each event, shape (…).
    epsilon, delta
        The claim, or claims in a shape that p's broadcasts to.

    Returns
    -------
    array of shape (…, 4, stakes)
        Of the four: the p side inside the event and outside, the q side inside and outside.

    Examples
    --------
    >>> log_payoffs(np.array(1.0), np.array(0.0), 1.0, 0.0).shape
    (4, 18)
    """
    ratio = np.exp(np.minimum(epsilon, EPSILON_CAP))
    h = p + ratio * q
    gains = np.stack([2.0 - h, -h, h - 2.0 * ratio, h], axis=-1) - np.asarray(delta)[..., None]
    most = np.maximum(h + delta, 2.0 * ratio + delta - h)
    return np.asarray(np.log1p((gains / most[..., None])[..., None] * STAKES))


def coupled_payoffs(epsilon: Floats | float, delta: Floats | float) -> Floats:
    """Give log(1 + λ·D) for the four outcomes of a coupled pair and every stake (`audit.evidence.coupled`).

    Parameters
    ----------
    epsilon, delta
        The claim, or claims of one shape.

    Returns
    -------
    array of shape (…, 4, stakes)
        Of the four: both inside the event, only the p side, only the q side, neither.

    Examples
    --------
    >>> coupled_payoffs(1.0, 0.0).shape
    (4, 18)
    """
    ratio = np.asarray(np.exp(np.minimum(epsilon, EPSILON_CAP)))
    gains = coupled_gains(ratio, np.asarray(delta))
    return np.asarray(np.log1p((gains / np.asarray(ratio + delta)[..., None])[..., None] * STAKES))


def outcomes(p: Floats, q: Floats) -> Floats:
    """Give the probabilities of the four outcomes of a call, shape (…, 4), in the order of `log_payoffs`.

    Examples
    --------
    >>> outcomes(np.array(1.0), np.array(0.0)).tolist()
    [0.5, 0.0, 0.0, 0.5]
    """
    return np.stack([p, 1 - p, q, 1 - q], axis=-1) / 2


@dataclass(frozen=True)
class Bet:
    """What was fixed before a batch, and what the batch then showed.

    Parameters
    ----------
    log_prior
        Log weight of each event before anything is known of it, shape (events,).
    p, q
        The past's estimates for each event, strictly between 0 and 1.
    past
        How many calls the estimates rest on, shape (events,).
    counts
        The batch: calls of the p side inside and outside, of the q side so too; shape (events, 4).
    distance
        How many steps of neighbours lie between the two databases.
    shares
        For a batch of coupled pairs (`audit.evidence.coupled`), what the past says of the four outcomes of a
        pair: both inside, only the p side, only the q side, neither. Then `counts` are pairs by these, and
        `past` too is pairs.
    """

    log_prior: Floats
    p: Floats
    q: Floats
    past: Floats
    counts: Floats
    distance: int = 1
    shares: Floats | None = None

    @classmethod
    def on_one(cls, p: float, q: float, past: float, counts: Floats, distance: int = 1) -> "Bet":
        """Return the bet on a single event; the counts have shape (4,)."""
        return cls(np.zeros(1), np.array([p]), np.array([q]), np.array([past]), counts[None, :], distance)

    @property
    def calls(self) -> int:
        """How many calls the batch had."""
        return int(self.counts[0].sum()) * (1 if self.shares is None else 2)

    def log_growth(self, epsilon: float, delta: float) -> float:
        """Give the log of the factor by which this batch multiplied the wealth against (ε, δ) per step."""
        claim, shares = at_distance(epsilon, delta, self.distance), self.shares
        if shares is None:
            shares, payoffs = outcomes(self.p, self.q), log_payoffs(self.p, self.q, *claim)
        else:
            payoffs = coupled_payoffs(*claim)
        raw = self.log_prior[:, None] + backtest(shares, self.past, payoffs)
        grown = raw + matched(self.counts, payoffs)
        return float(log_sum(grown.ravel()) - log_sum(raw.ravel()))

    def at_worst(self) -> "Bet":
        """Return the bet with the batch that costs it most given its coins: what a broken-off batch loses.

        Of the p side all fell outside, of the q side all inside: the least D of either side, in every event
        and against every claim, so that any batch with these coins leaves at least as much.
        """
        nothing = np.zeros(len(self.p))
        if self.shares is not None:
            of_all = self.counts.sum(axis=1)
            return replace(self, counts=np.stack([nothing, nothing, of_all, nothing], axis=1))
        p_side, q_side = self.counts[:, :2].sum(axis=1), self.counts[:, 2:].sum(axis=1)
        return replace(self, counts=np.stack([nothing, p_side, q_side, nothing], axis=1))


def backtest(shares: Floats, past: Floats, payoffs: Floats) -> Floats:
    """Give the log weight of each stake on an event: what it would have earned on the past.

    Parameters
    ----------
    shares
        Estimated probabilities of the four outcomes, shape (…, 4).
    past
        Calls that they rest on, shape (…).
    payoffs
        As `log_payoffs` gives them, shape (…, 4, stakes).

    Returns
    -------
    array of shape (…, stakes)
    """
    return np.asarray(LOG_STAKE_PRIOR + past[..., None] * matched(shares, payoffs))


def matched(counts: Floats, payoffs: Floats) -> Floats:
    """Sum what the counted outcomes pay, (…, 4) by (…, 4, stakes) giving (…, stakes)."""
    return np.asarray((counts[..., None, :] @ payoffs)[..., 0, :])


@dataclass
class Ledger:
    """All bets of an audit in order, and the wealth that they give against any claim.

    Parameters
    ----------
    bets
        The bets.
    goals
        How a share of the wealth is bet on whole tables at once; without it all is bet as `bets` say.
    aims
        What that share was bet on beside each bet, None where nothing.
    before
        Bets of a beginning that was given up. Against each claim what they lost stays lost, and what they
        won is given up too: min(1, their wealth) is at most their wealth, so the guarantee stands.
    start
        What the accounts held before the first bet, if this audit goes on from another one.

    Examples
    --------
    >>> import numpy as np
    >>> ledger = Ledger()
    >>> p, q, past = np.array([0.97]), np.array([0.03]), np.array([32.0])
    >>> sure = Bet(np.zeros(1), p, q, past, counts=np.array([[45.0, 0, 0, 45]]))
    >>> ledger.add(sure)
    >>> bool(ledger.log_wealth(1.0, 0.0) > np.log(1e6))
    True
    """

    bets: list[Bet] = field(default_factory=list)
    before: "Ledger | None" = None
    goals: Goals | None = None
    aims: list[Aim | None] = field(default_factory=list)
    start: Standing | None = None
    _stacked: Any = field(default=None, repr=False)
    _distances: dict[int, Any] = field(default_factory=dict, repr=False)

    def add(self, bet: Bet, aim: Aim | None = None) -> None:
        """Append a finished bet, and what the goals' share was bet on beside it."""
        self.bets.append(bet)
        self.aims.append(aim)
        self._stacked = None

    def by_calls(self) -> "Ledger":
        """Return the ledger of the bets on calls alone: the others need a subject that keeps no state."""
        bets = [bet for bet in self.bets if bet.shares is None]
        aims = [aim for bet, aim in zip(self.bets, self.aims, strict=True) if bet.shares is None]
        return replace(self, bets=bets, aims=aims, _stacked=None)

    def keep(self, first: int) -> None:
        """Forget all bets but the first ones."""
        del self.bets[first:], self.aims[first:]
        self._stacked = None

    def rejects(self, epsilons: Floats, deltas: Floats, significance: float) -> Flags:
        """Tell whether the wealth against each claim ever reached 1/significance, shape (claims,)."""
        limit, lost = -math.log(significance), self._lost_to(epsilons, deltas)
        account, goal = self.opening(epsilons, deltas)
        own = account.path(self.growths(epsilons, deltas))
        rejected: Flags = lost + self._share(own.max(axis=1)) >= limit
        rest = np.flatnonzero(~rejected)
        if self.goals is not None and len(rest):  # the others need no look at what costs more to replay
            path = self.goals.path(self.aims, epsilons[rest], deltas[rest], goal[rest])
            aimed = np.column_stack([goal[rest], path.T])
            rejected[rest] = lost[rest] + self.together(own[rest], aimed).max(axis=1) >= limit
        return rejected

    def opening(self, epsilons: Floats, deltas: Floats) -> tuple[Reserved, Floats]:
        """Return what both accounts hold against each claim before the first bet."""
        if self.start is not None:
            return self.start.at(epsilons, deltas)
        return Reserved.new(len(epsilons)), np.zeros(len(epsilons))

    def log_wealth(self, epsilon: float, delta: float) -> float:
        """Give the log wealth after the last bet."""
        return float(self.path(epsilon, delta)[-1])

    def lost(self, epsilon: float, delta: float) -> float:
        """Give what the bets before this beginning lost, a log wealth of at most 0."""
        return 0.0 if self.before is None else min(0.0, self.before.log_wealth(epsilon, delta))

    def path(self, epsilon: float, delta: float) -> Floats:
        """Give the log wealth before the first bet and after each, shape (1 + bets,)."""
        claim = np.array([epsilon]), np.array([delta])
        account, goal = self.opening(*claim)
        path: Floats = account.path(self.growths(*claim))[0]
        if self.goals is not None:
            path = self.together(path, np.append(goal, self.goals.path(self.aims, *claim, goal)[:, 0]))
        return self.lost(epsilon, delta) + path

    def _lost_to(self, epsilons: Floats, deltas: Floats) -> Floats:
        return np.array([self.lost(*claim) for claim in zip(epsilons, deltas, strict=True)])

    def _share(self, own: Any) -> Any:
        return own if self.goals is None else own + math.log1p(-self.goals.share)

    def together(self, own: Floats | float, aimed: Floats | float) -> Floats:
        """Give the log of the wealth of both accounts."""
        assert self.goals is not None
        return np.asarray(np.logaddexp(self._share(own), aimed + math.log(self.goals.share)))

    def growths(self, epsilons: Floats, deltas: Floats) -> Floats:
        """Give the log of the factor of each bet on events against each claim, shape (claims, bets)."""
        if not self.bets:
            return np.zeros((len(epsilons), 0))
        log_prior, p, q, past, counts, shares, coupled, starts = self._stack()
        growths, many = np.empty((len(epsilons), len(self.bets))), max(1, _ROWS // len(p))
        for some in (slice(k, k + many) for k in range(0, len(epsilons), many)):
            claims = list(zip(epsilons[some].tolist(), deltas[some].tolist(), strict=True))
            payoffs = np.empty((len(claims), len(p), 4, len(STAKES)))
            for steps, here in self._distances.items():
                epsilon, delta = np.array([at_distance(*claim, steps) for claim in claims]).T[..., None]
                payoffs[:, here] = log_payoffs(p[here], q[here], epsilon, delta)
                if len(pairs := here[coupled[here]]):
                    payoffs[:, pairs] = coupled_payoffs(epsilon, delta)
            raw = log_prior[:, None] + backtest(shares, past, payoffs)
            growths[some] = log_sums(raw + matched(counts, payoffs), starts) - log_sums(raw, starts)
        return growths

    def _stack(self) -> Any:
        """Return all bets as columns, one row for each event, and where each bet begins."""
        if self._stacked is None:
            lengths = np.array([len(bet.p) for bet in self.bets])
            distances = np.repeat([bet.distance for bet in self.bets], lengths)
            self._distances = {int(k): np.flatnonzero(distances == k) for k in np.unique(distances)}
            columns = [
                np.concatenate([getattr(bet, name) for bet in self.bets])
                for name in ("log_prior", "p", "q", "past", "counts")
            ]
            shares = [outcomes(bet.p, bet.q) if bet.shares is None else bet.shares for bet in self.bets]
            coupled = np.repeat([bet.shares is not None for bet in self.bets], lengths)
            self._stacked = (*columns, np.concatenate(shares), coupled, np.cumsum(lengths) - lengths)
        return self._stacked


def log_sum(values: Floats) -> Floats:
    """Give the log of the sum of the exponentials over the last axis (scipy's, without what it costs a call).

    Examples
    --------
    >>> np.exp(log_sum(np.log([[1.0, 3.0]]))).round(9).tolist()
    [4.0]
    """
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])


def log_sums(values: Floats, starts: Ints) -> Floats:
    """Give the log of the sum of exponentials over groups of rows, shape (…, rows, k) giving (…, groups).

    Parameters
    ----------
    values
        Shape (…, rows, k).
    starts
        The first row of each group, rising from 0.

    Examples
    --------
    >>> np.exp(log_sums(np.log([[1.0, 3.0], [2.0, 2.0], [5.0, 1.0]]), np.array([0, 2]))).round(9).tolist()
    [8.0, 6.0]
    """
    row = values.max(axis=-1)
    top = np.maximum.reduceat(row, starts, axis=-1)
    lengths = np.diff(np.append(starts, row.shape[-1]))
    terms = np.exp(values - np.repeat(top, lengths, axis=-1)[..., None]).sum(axis=-1)
    return np.asarray(np.log(np.add.reduceat(terms, starts, axis=-1)) + top)


def clopper_pearson(hits: Any, runs: Any, level: float) -> tuple[Any, Any]:
    """Give the two-sided Clopper–Pearson interval of a proportion, or of each of an array of them.

    **Guarantee.** Covers the true proportion with probability at least `level` when `runs` was fixed
    beforehand.

    Examples
    --------
    >>> low, high = clopper_pearson(0, 10, 0.95)
    >>> low, round(high, 4)
    (0.0, 0.3085)
    """
    tail = (1 - level) / 2
    low = np.where(hits > 0, betaincinv(hits, runs - hits + 1, tail), 0.0)
    high = np.where(hits < runs, betaincinv(hits + 1, runs - hits, 1 - tail), 1.0)
    return (low, high) if np.ndim(hits) else (float(low), float(high))


def ceiling(pairs: int, significance: float) -> float:
    """Give about the largest ε that so many pairs of runs can certify: ln(n / ln(2/significance))."""
    return max(0.0, math.log(pairs / math.log(2 / significance))) if pairs > 0 else 0.0
