"""The smallest true ε that the same bets would probably have refuted.

**Guarantee.** The guarantee is about simulated audits, not about the subject. Suppose the named event has
probability p on one side and (p − δ)/e^ε on the other. Then at least 90 % of audits with the same batches and
stakes as this audit reach the threshold of a refutation. This is estimated from `AUDITS` simulations under
common random numbers. The search for the pair and the confirmation are not simulated. The share of the wealth
that is bet on all cells of a table (`audit.evidence.goals`) is not simulated either. The rest of the wealth
has to reach the threshold alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.distributions.law import Floats
from audit.events.event import Event
from audit.evidence.bets import backtest, coupled_payoffs, log_payoffs, log_sum, matched, outcomes
from audit.evidence.coupled import coupled_outcomes
from audit.evidence.growth import growth_rate
from audit.evidence.memory import PairMemory
from audit.evidence.reserve import Reserved

AUDITS = 200
POWER = 0.9
#: `fixed_sample_epsilon` returns ∞ if the true ε would have to exceed the claim by more than this.
_MOST = 50.0
#: Larger: a finer detectable ε. Number of excesses over the claim that are tried, in steps of 3 per cent.
_GRID = 400
#: The search on the grid of ε begins this many steps above the first step at which the expected growth
#: suffices. A start closer to the answer saves simulations.
_MARGIN = 10
_SCALES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True)
class Section:
    """The batches of runs that one audit bet on, for one pair of databases.

    Parameters
    ----------
    look
        Number of pairs of runs before the first bet.
    sizes
        Number of pairs of runs in each batch that was bet on.
    coupled_look, coupled
        The same for coupled pairs (`audit.evidence.coupled`), which were bet on later.
    """

    look: int
    sizes: tuple[int, ...]
    coupled_look: int = 0
    coupled: tuple[int, ...] = ()

    @property
    def pairs(self) -> int:
        """Number of pairs of runs that were bet on."""
        return sum(self.sizes) + sum(self.coupled)


@dataclass(frozen=True)
class Power:
    """The smallest ε that would probably have been refuted, and its event.

    Parameters
    ----------
    epsilon
        The detectable ε. If the runs are too few to detect any event of probability p, it is None.
    event
        The event; None for the generic event (`generic`).
    p
        The probability of the event on the p side.
    """

    epsilon: float | None
    event: Event | None
    p: float


def detectable(
    memory: PairMemory | None,
    sections: Sequence[Section],
    *,
    epsilon: float,
    delta: float,
    significance: float,
    rarer: Callable[[Event], float] | None = None,
) -> Power:
    """Return the smallest true ε that audits like this one refute.

    At this ε, 90 % of simulated audits refute the claim.

    Parameters
    ----------
    memory
        What was learned about the pair of databases that was bet on.
    sections
        The batches of this audit and of each earlier audit that it continues. Each audit learned the pair
        from scratch.
    epsilon, delta, significance
        The claim, and the significance times the share of the wealth that is bet on events.
    rarer
        Takes an event and returns the factor of `coupled_outcomes`. By default 1.
    """
    bet = sum(section.pairs for section in sections)
    grid = epsilon + np.geomspace(1e-4, max(epsilon, 1.0) + 12.0, _GRID)

    def sufficient(option: _Option) -> int:
        """Return the index of the first ε with enough expected growth."""
        p = np.array(option.p)
        grown = bet * growth_rate(p, (p - delta) / np.exp(grid), epsilon, delta)
        return int(np.searchsorted(grown, option.limit(significance)))

    promising = [option for option in _options(memory, epsilon, delta) if option.p > delta]
    best = min(promising or [_Option(None, generic(delta), 1)], key=sufficient)

    lonely = 1.0 if best.event is None or rarer is None else rarer(best.event)

    def refuted(k: int) -> bool:
        event = np.array(best.p), np.array((best.p - delta) / math.exp(grid[k]))
        paths = _simulated(*event, lonely, sections, epsilon=epsilon, delta=delta)
        return float((paths >= best.limit(significance)).any(axis=1).mean()) >= POWER

    found = _first(refuted, count=_GRID, guess=sufficient(best) + _MARGIN)
    return Power(None if found is None else float(grid[found]), best.event, best.p)


def generic(delta: float) -> float:
    """Return the probability of the event that is assumed if none looks promising. It is (1 + δ)/2.

    Examples
    --------
    >>> generic(0.0), generic(0.5)
    (0.5, 0.75)
    """
    return (1 + delta) / 2


def fixed_sample_epsilon(pairs: int, *, epsilon: float, delta: float, significance: float) -> float:
    """Return the smallest true ε at which a z-test refutes the claimed ε.

    The z-test has power 0.9. The number of runs is fixed beforehand. The test of p − e^ε·q ≤ δ looks once, at
    the end. The probability of the event is p = (1 + δ)/2 on the p side and q = (p − δ)/e^(true ε) on the q
    side.

    Parameters
    ----------
    pairs
        Runs on each database.
    epsilon, delta, significance
        The claim, and the error probability of the test.

    Examples
    --------
    >>> 1.0 < fixed_sample_epsilon(100_000, epsilon=1.0, delta=0.0, significance=1e-6) < 1.1
    True
    """
    from scipy.optimize import brentq
    from statsmodels.stats.power import normal_sample_size_one_tail  # type: ignore[import-untyped]

    p, ratio = generic(delta), math.exp(epsilon)

    def spread(q: float) -> float:
        return math.sqrt(p * (1 - p) + ratio**2 * q * (1 - q))

    def missing(excess: float) -> float:
        q = (p - delta) * math.exp(-epsilon - excess)
        move, null = p - ratio * q - delta, spread((p - delta) / ratio)
        needed = normal_sample_size_one_tail(move, POWER, significance, null, spread(q))
        return math.log(needed) - math.log(pairs)

    if missing(_MOST) > 0:
        return math.inf
    return epsilon + float(brentq(missing, 1e-9, _MOST))


def _first(holds: Callable[[int], bool], *, count: int, guess: int) -> int | None:
    """Return the least index from which on a condition holds, or None.

    The search goes outwards from `guess`.
    """
    low, high, step = -1, count, 4
    here = min(guess, count - 1)
    while low + 1 < high:
        if holds(here):
            high, here = here, here - step
        else:
            low, here = here, here + step
        step *= 2
        if not low < here < high:
            here = (low + high) // 2
    return high if high < count else None


@dataclass(frozen=True)
class _Option:
    """An event on which bets may have been placed.

    `p` is its probability. `rivals` is the number of events that shared the wealth.
    """

    event: Event | None
    p: float
    rivals: int

    def limit(self, significance: float) -> float:
        """Return the log wealth that a bet with 1/`rivals` of the wealth must reach."""
        return -math.log(significance) + math.log(self.rivals)


def _options(memory: PairMemory | None, epsilon: float, delta: float) -> list[_Option]:
    """Return the events on which bets promise the largest growth.

    The bets are against the claim and against smaller ε. If the claim holds, bets against the claim alone
    would find events that promise growth by chance.
    """
    if memory is None:
        return []
    found: list[tuple[Event, float]] = []
    rivals = 0
    for scale in _SCALES:
        best, best_growth = None, 0.0
        for chosen in memory.choose(epsilon * scale, delta):
            growth = growth_rate(chosen.candidates.p, chosen.candidates.q, epsilon * scale, delta)
            rivals += len(growth)
            k = int(np.argmax(growth))
            if chosen.candidates.past * growth[k] > 3.0 and growth[k] > best_growth:
                best, best_growth = (memory.event(chosen, k), float(chosen.candidates.p[k])), growth[k]
        found += [] if best is None else [best]
    return [_Option(event, p, rivals) for event, p in found]


def _simulated(
    p: Floats, q: Floats, rarer: float, sections: Sequence[Section], *, epsilon: float, delta: float
) -> Floats:
    """Return the log wealth of simulated audits that bet on one event.

    `rarer` is the factor of `coupled_outcomes`. The result has shape (audits, 1 + bets).
    """
    rng = np.random.default_rng(0)  # common random numbers: the share is then (nearly) monotone in ε
    growths = []
    for each in sections:
        if each.sizes:
            counts, past = _drawn(rng, outcomes(p, q), 2, each.look, each.sizes)
            seen_p = (past[..., 0] + 0.5) / (past[..., :2].sum(axis=-1) + 1)
            seen_q = (past[..., 2] + 0.5) / (past[..., 2:].sum(axis=-1) + 1)
            payoffs = log_payoffs(seen_p, seen_q, epsilon, delta)
            growths.append(_growths(counts, past.sum(axis=-1), outcomes(seen_p, seen_q), payoffs))
        if each.coupled:
            cells = coupled_outcomes(p, q, rarer)
            counts, past = _drawn(rng, cells, 1, each.coupled_look, each.coupled)
            known = past.sum(axis=-1)
            shares = (past + 0.25) / (known[..., None] + 1)
            growths.append(_growths(counts, known, shares, coupled_payoffs(epsilon, delta)))
    return Reserved.new(AUDITS).path(np.concatenate(growths).T)


def _drawn(
    rng: np.random.Generator, cells: Floats, each: int, look: int, sizes: Sequence[int]
) -> tuple[Floats, Floats]:
    """Return the counts of each batch, and of all runs before it. Both have shape (bets, audits, 4)."""
    draws = each * np.array([look, *sizes])[:, None]
    batches = rng.multinomial(draws, cells, size=(len(draws), AUDITS)).astype(np.float64)
    return batches[1:], np.cumsum(batches, axis=0)[:-1]


def _growths(counts: Floats, past: Floats, shares: Floats, payoffs: Floats) -> Floats:
    """Return the log growth of each bet. The result has shape (bets, audits)."""
    raw = backtest(shares, past, payoffs)
    return log_sum(raw + matched(counts, payoffs)) - log_sum(raw)
