"""Power: the smallest true ε that the same bets would most likely have refuted.

**Guarantee.** A statement about simulated audits, not about the subject: were the named event to have
probability p on one side and (p − δ)/e^ε on the other, with the batches and stakes of this audit, then at
least 90 % of audits (estimated from `AUDITS` simulations under common random numbers) would have reached the
threshold of a refutation. The search for the pair and the confirmation are not simulated, nor is the share of
the wealth that is bet on whole tables (`audit.evidence.goals`): the other share has to reach it alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from audit.distributions.law import Floats
from audit.events.event import Event
from audit.evidence.bets import backtest, log_payoffs, log_sum, matched, outcomes
from audit.evidence.memory import PairMemory, growth_rate
from audit.evidence.reserve import Reserved

AUDITS = 200
POWER = 0.9
#: The largest excess over the claim that is looked for.
_MOST = 50.0
#: Excesses over the claim that are asked about, some 3 per cent apart, and as a first guess how many of these
#: steps lie between where the expected growth suffices and where most audits refute.
_GRID = 400
_MARGIN = 10
_SCALES = (1.0, 0.9, 0.75, 0.5, 0.25, 0.0)


@dataclass(frozen=True)
class Section:
    """How one audit bet on a pair.

    Parameters
    ----------
    look
        Pairs of runs seen before the first bet.
    sizes
        Pairs of runs in each batch that was bet on.
    """

    look: int
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Power:
    """The smallest ε that would most likely have been refuted, and by which event.

    Parameters
    ----------
    epsilon
        The detectable ε, or None if these runs could not refute even p against 0.
    event
        The event, or None for a generic one.
    p
        Its probability.
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
) -> Power:
    """Return the smallest true ε at which 90 % of simulated audits like this one refute.

    Parameters
    ----------
    memory
        What was learned of the pair that was bet on.
    sections
        How this audit, and those that it goes on from, bet on the pair. Each learned it anew.
    epsilon, delta, significance
        The claim, and the audit's significance times the share of the wealth that is bet on events.
    """
    bet = sum(sum(section.sizes) for section in sections)
    grid = epsilon + np.geomspace(1e-4, max(epsilon, 1.0) + 12.0, _GRID)

    def sufficient(option: _Option) -> int:
        """Return from which step of the grid on the expected growth suffices; it rises along the grid."""
        p = np.array(option.p)
        grown = bet * growth_rate(p, (p - delta) / np.exp(grid), epsilon, delta)
        return int(np.searchsorted(grown, option.limit(significance)))

    promising = [option for option in _options(memory, epsilon, delta) if option.p > delta]
    best = min(promising or [_Option(None, generic(delta), 1)], key=sufficient)

    def refuted(k: int) -> bool:
        q, limit = (best.p - delta) / math.exp(grid[k]), best.limit(significance)
        return _share_refuted(best.p, q, sections, epsilon=epsilon, delta=delta, limit=limit) >= POWER

    found = _first(refuted, count=_GRID, guess=sufficient(best) + _MARGIN)
    return Power(None if found is None else float(grid[found]), best.event, best.p)


def generic(delta: float) -> float:
    """Return the probability, above δ, of the event that is assumed if no event looks promising.

    Examples
    --------
    >>> generic(0.0), generic(0.5)
    (0.5, 0.75)
    """
    return (1 + delta) / 2


def fixed_sample_epsilon(pairs: int, *, epsilon: float, delta: float, significance: float) -> float:
    """Return the smallest true ε that a z-test of p − e^ε·q ≤ δ with fixed runs refutes with power 0.9.

    The event is the generic one, p = (1 + δ)/2 and q = (p − δ)/e^(true ε). The test looks once, at the
    end: it is a yardstick for the bets, which may stop at any time.

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
    """Return the first of `count` indices from which on a condition holds."""
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
    """An event that the bets may have been on, its probability, and how many events it was chosen from."""

    event: Event | None
    p: float
    rivals: int

    def limit(self, significance: float) -> float:
        """Return the log-wealth that a bet on it has to reach, its share of the stakes paid."""
        return -math.log(significance) + math.log(self.rivals)


def _options(memory: PairMemory | None, epsilon: float, delta: float) -> list[_Option]:
    """Return the events that promise most at the claim and at smaller ε.

    Those of a claim that holds promise nothing at the claim itself but by chance, and such an event is often
    too rare to show anything.
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


def _share_refuted(
    p: float, q: float, sections: Sequence[Section], *, epsilon: float, delta: float, limit: float
) -> float:
    """Simulate audits that bet on one event of known probabilities with the stakes of `evidence`."""
    rng = np.random.default_rng(0)  # common random numbers: the share is then (nearly) monotone in ε
    growths = [_growths(rng, (p, q), each, epsilon=epsilon, delta=delta) for each in sections]
    paths = Reserved.new(AUDITS).path(np.concatenate(growths).T)
    return float((paths >= limit).any(axis=1).mean())


def _growths(
    rng: np.random.Generator, event: tuple[float, float], section: Section, *, epsilon: float, delta: float
) -> Floats:
    """Return the log growth of each bet of a section, shape (bets, audits)."""
    draws = 2 * np.array([section.look, *section.sizes])[:, None]
    cells = outcomes(*map(np.array, event))
    batches = rng.multinomial(draws, cells, size=(len(draws), AUDITS)).astype(np.float64)
    counts, batches = np.cumsum(batches, axis=0)[:-1], batches[1:]
    past = counts.sum(axis=-1)
    seen_p = (counts[..., 0] + 0.5) / (counts[..., :2].sum(axis=-1) + 1)
    seen_q = (counts[..., 2] + 0.5) / (counts[..., 2:].sum(axis=-1) + 1)
    payoffs = log_payoffs(seen_p, seen_q, epsilon, delta)
    raw = backtest(outcomes(seen_p, seen_q), past, payoffs)
    return log_sum(raw + matched(batches, payoffs)) - log_sum(raw)
