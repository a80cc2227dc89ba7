"""The decision rule: betting against the claim, call by call.

Each call is one trial. A fresh fair coin chooses its side of the pair (z, z′). For an event E let
p = Pr[M(z) ∈ E] and q = Pr[M(z′) ∈ E] *in the state that the subject is in when called*, R = e^ε, and

    D = 2·1[p side]·1[E] − 2R·1[q side]·1[E] − δ − h·(1[p side] − 1[q side])

for any number h fixed beforehand. The coin is independent of the past, so E[D | past] = p − R·q − δ. The
claim (ε, δ) says that this is at most 0 in every state that earlier calls may leave. A call that sees what
the other side wrote is judged by the claim about *that* call. The least values of D are −δ − h (p side,
outside E) and −2R − δ + h (q side, inside E). Let M = max(h + δ, 2R + δ − h), and fix a stake λ = s/M, 0 ≤ s
< 1, before the call. Then 1 + λ·D > 0 and E[1 + λ·D | past] ≤ 1. The variance of D is least at h = p + R·q.
The bets use this h, with estimates of p and q from the past.

Before a batch is drawn, a *bet* spreads the whole wealth over components c = (event, stake). The weights w_c
depend on the past alone. The batch multiplies the wealth by Σ_c w_c ∏_i (1 + λ_c·D_i(c)).

**Guarantee.** Pr[sup wealth ≥ 1/significance] ≤ significance if each call keeps the claim given what was
returned before. Each factor is a weighted mean of products of terms 1 + λ·D, so its conditional expectation
is at most 1. The wealth is therefore a non-negative supermartingale that starts at 1, and Ville's inequality
applies. Events, weights, batch sizes and the stopping rule may be any functions of the past. The subject may
keep any state.

**Databases k steps apart.** For the ends of a path of k steps the claim implies another claim, with its own ε
and δ (`audit.claims.at_distance`). Under that claim E[D | past] ≤ 0, so a bet on the ends gives a factor like
those above. The path must be chosen before the batch is drawn. The wealth is evidence against (ε, δ) for
neighbours. Bounds from the ledger are bounds at one step, even if its bets are at larger distances.

**Two accounts.** The wealth is split before the audit. One account bets on all cells of a table, to reach the
limit by the last run (`audit.evidence.goals`). The other bets on events as above and holds back a reserve for
later (`audit.evidence.reserve`). Each account is a supermartingale, so their sum is one too; the guarantee is
about the sum. A continued audit starts with the wealth of both accounts (`audit.evidence.standing`).

Bounds come from the wealth of the same calls against other claims (`Ledger`). The counts of a bet do not
depend on the claim. At any (ε, δ), h and the weights are functions of stored numbers.
"""

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import betaincinv

from audit.claims import at_distance
from audit.distributions.law import Flags, Floats, Ints
from audit.evidence.goals import Aim, Goals, coupled_gains
from audit.evidence.reserve import Reserved
from audit.evidence.standing import Standing

#: Stakes s, as fractions of the largest stake allowed: a fixed grid, not tuned. The stake 0 means no bet.
STAKES = np.append(np.geomspace(0.985, 0.01, 17), 0.0)
#: Prior weights of the stakes. With a larger weight on stake 0 (0.3), events without a violation lose less.
LOG_STAKE_PRIOR = np.log(np.append(np.full(len(STAKES) - 1, 0.7 / (len(STAKES) - 1)), 0.3))
#: A larger ε counts as this one. It already allows every ratio of probabilities that runs can show.
EPSILON_CAP = 500.0
#: Limits memory: at most this many rows (events × claims) are computed at once.
_ROWS = 4_096


def log_payoffs(p: Floats, q: Floats, epsilon: Floats | float, delta: Floats | float) -> Floats:
    """Return log(1 + λ·D) with h = p + R·q, for four outcomes and every stake.

    Parameters
    ----------
    p, q
        Estimates from past runs for each event, shape (…).
    epsilon, delta
        The claim, or an array of claims; its shape and that of p are broadcast.

    Returns
    -------
    array of shape (…, 4, stakes)
        The four outcomes: p side inside the event, p side outside, q side inside, q side outside.

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
    """Return log(1 + λ·D) for the four outcomes of a coupled pair and every stake.

    Parameters
    ----------
    epsilon, delta
        The claim, or claims of one shape.

    Returns
    -------
    array of shape (…, 4, stakes)
        The four outcomes: both inside the event, only the p side, only the q side, neither.

    Examples
    --------
    >>> coupled_payoffs(1.0, 0.0).shape
    (4, 18)
    """
    ratio = np.asarray(np.exp(np.minimum(epsilon, EPSILON_CAP)))
    gains = coupled_gains(ratio, np.asarray(delta))
    return np.asarray(np.log1p((gains / np.asarray(ratio + delta)[..., None])[..., None] * STAKES))


def outcomes(p: Floats, q: Floats) -> Floats:
    """Return the probabilities of the four outcomes of a call, as in `log_payoffs`.

    Examples
    --------
    >>> outcomes(np.array(1.0), np.array(0.0)).tolist()
    [0.5, 0.0, 0.0, 0.5]
    """
    return np.stack([p, 1 - p, q, 1 - q], axis=-1) / 2


@dataclass(frozen=True)
class Bet:
    """A bet on one batch, with the counts of the batch.

    Parameters
    ----------
    log_prior
        Log of the prior weight of each event, shape (events,).
    p, q
        Estimates from past runs for each event, strictly between 0 and 1.
    past
        Number of calls behind the estimates, shape (events,).
    counts
        The batch: calls of the p side inside and outside, then of the q side; shape (events, 4).
    distance
        Number of steps from one database to the other; each step leads to a neighbour.
    shares
        For a batch of coupled pairs: estimated probabilities of the four outcomes of a pair, shape (events,
        4). The outcomes are both inside, only the p side, only the q side, and neither. `counts` then counts
        pairs by outcome, and `past` is a number of pairs.
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
        """Return the bet on a single event, given its four counts."""
        return cls(np.zeros(1), np.array([p]), np.array([q]), np.array([past]), counts[None, :], distance)

    @property
    def calls(self) -> int:
        """Number of calls in the batch."""
        return int(self.counts[0].sum()) * (1 if self.shares is None else 2)

    def log_growth(self, epsilon: float, delta: float) -> float:
        """Return the log growth of the wealth against a claim for neighbours."""
        claim, shares = at_distance(epsilon, delta, self.distance), self.shares
        if shares is None:
            shares, payoffs = outcomes(self.p, self.q), log_payoffs(self.p, self.q, *claim)
        else:
            payoffs = coupled_payoffs(*claim)
        raw = self.log_prior[:, None] + backtest(shares, self.past, payoffs)
        grown = raw + matched(self.counts, payoffs)
        return float(log_sum(grown.ravel()) - log_sum(raw.ravel()))

    def at_worst(self) -> "Bet":
        """Return the bet with the worst outcomes that its coins allow.

        All calls of the p side fall outside the event, and all of the q side inside. Every event and claim
        then has its smallest D on both sides, so no batch loses more.
        """
        p_side = self.counts[:, :2].sum(axis=1) * (self.shares is None)  # a coupled pair has both runs
        q_side = self.counts.sum(axis=1) - p_side
        nothing = np.zeros_like(p_side)
        return replace(self, counts=np.stack([nothing, p_side, q_side, nothing], axis=1))


def backtest(shares: Floats, past: Floats, payoffs: Floats) -> Floats:
    """Return each stake's log weight, the prior weight times growth on past runs.

    Parameters
    ----------
    shares
        Estimated probabilities of the four outcomes, shape (…, 4).
    past
        Calls behind these estimates, shape (…).
    payoffs
        As `log_payoffs` returns them, shape (…, 4, stakes).

    Returns
    -------
    array of shape (…, stakes)
    """
    return np.asarray(LOG_STAKE_PRIOR + past[..., None] * matched(shares, payoffs))


def matched(counts: Floats, payoffs: Floats) -> Floats:
    """Return counts·payoffs summed over outcomes, shape (…, stakes)."""
    return np.asarray((counts[..., None, :] @ payoffs)[..., 0, :])


@dataclass
class Ledger:
    """All bets of an audit in order, and their wealth against any claim.

    Parameters
    ----------
    bets
        The bets on events.
    goals
        The account that bets a share of the wealth on all cells of a table; None if there is no such account.
    aims
        For each bet on events, the simultaneous bet of the account `goals`; None if that account made none.
    before
        Bets made before the audit began again. If they left the wealth W, the new bets start with min(1, W).
        The guarantee holds, because min(1, W) ≤ W.
    start
        The wealth of the accounts before the first bet, if this audit continues another one.

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
        """Append a finished bet, and the simultaneous bet of the account `goals`."""
        self.bets.append(bet)
        self.aims.append(aim)
        self._stacked = None

    def by_calls(self) -> "Ledger":
        """Return the ledger without coupled bets."""
        bets = [bet for bet in self.bets if bet.shares is None]
        aims = [aim for bet, aim in zip(self.bets, self.aims, strict=True) if bet.shares is None]
        return replace(self, bets=bets, aims=aims, _stacked=None)

    def keep(self, first: int) -> None:
        """Keep the first `first` bets and forget the rest."""
        del self.bets[first:], self.aims[first:]
        self._stacked = None

    def rejects(self, epsilons: Floats, deltas: Floats, significance: float) -> Flags:
        """Return whether the wealth against each claim ever reached 1/significance."""
        limit, lost = -math.log(significance), self._lost_to(epsilons, deltas)
        account, goal = self.opening(epsilons, deltas)
        own = account.path(self.growths(epsilons, deltas))
        rejected: Flags = lost + self._share(own.max(axis=1)) >= limit
        rest = np.flatnonzero(~rejected)
        if self.goals is not None and len(rest):  # replaying `goals` is slow: only claims still open need it
            path = self.goals.path(self.aims, epsilons[rest], deltas[rest], goal[rest])
            aimed = np.column_stack([goal[rest], path.T])
            rejected[rest] = lost[rest] + self.together(own[rest], aimed).max(axis=1) >= limit
        return rejected

    def opening(self, epsilons: Floats, deltas: Floats) -> tuple[Reserved, Floats]:
        """Return the wealth of both accounts against each claim before the first bet."""
        if self.start is not None:
            return self.start.at(epsilons, deltas)
        return Reserved.new(len(epsilons)), np.zeros(len(epsilons))

    def log_wealth(self, epsilon: float, delta: float) -> float:
        """Return the log wealth against a claim after the last bet."""
        return float(self.path(epsilon, delta)[-1])

    def lost(self, epsilon: float, delta: float) -> float:
        """Return the log wealth after the bets in `before`, at most 0."""
        return 0.0 if self.before is None else min(0.0, self.before.log_wealth(epsilon, delta))

    def path(self, epsilon: float, delta: float) -> Floats:
        """Return the log wealth against a claim before the first bet and after each."""
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
        """Return the log wealth of both accounts together."""
        assert self.goals is not None
        return np.asarray(np.logaddexp(self._share(own), aimed + math.log(self.goals.share)))

    def growths(self, epsilons: Floats, deltas: Floats) -> Floats:
        """Return the log of the factor of each bet, shape (claims, bets)."""
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
        """Return the fields of all bets as arrays with one row for each event."""
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
    """Return the log of the sum of exponentials over the last axis.

    Examples
    --------
    >>> np.exp(log_sum(np.log([[1.0, 3.0]]))).round(9).tolist()
    [4.0]
    """
    top = values.max(axis=-1, keepdims=True)
    return np.asarray(np.log(np.exp(values - top).sum(axis=-1)) + top[..., 0])


def log_sums(values: Floats, starts: Ints) -> Floats:
    """Return the log-sum-exp over groups of rows, shape (…, groups).

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
    """Return the two-sided Clopper–Pearson interval of a proportion.

    **Guarantee.** The interval covers the true proportion with probability at least `level` if `runs` was
    fixed beforehand.

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
    """Return about the largest ε that pairs of runs can certify."""
    return max(0.0, math.log(pairs / math.log(2 / significance))) if pairs > 0 else 0.0
