"""Lower bounds on ε and δ. They come from the wealth that an audit's bets have against other claims."""

import math
from collections.abc import Callable, Iterator
from itertools import islice, takewhile

import numpy as np

from audit.distributions.law import Flags, Floats
from audit.evidence.bets import EPSILON_CAP, Ledger
from audit.evidence.standing import Standing

#: Larger: faster, but more values are tested needlessly. Maximum number of lattice values tested at once.
_VALUES = 32
#: The lattice of `_few_epsilons` ends here, or at twice the claim if that is larger. n runs can show at most
#: ε = ln n, which is less than 40.
_FAR = 40.0


def epsilon_lattice(epsilon: float) -> Iterator[float]:
    """Yield a fixed rising lattice of ε.

    Its steps are 5 per cent up to half of the claimed ε, and half a per cent beyond.
    """
    unit = epsilon if epsilon > 1e-6 else 0.01  # steps in proportion to a tiny claim would not reach far
    yield 0.0
    if 0 < epsilon < unit:
        yield epsilon
    yield from (unit * 1.005**step for step in range(-458, -138, 10))
    for step in range(-138, 10_000):
        value = unit * 1.005**step if step else unit
        if value > EPSILON_CAP:
            return
        yield value


def delta_lattice() -> Iterator[float]:
    """Yield a fixed rising lattice of δ. It is 0, then from 1e-9 to 1 in steps of 2 per cent."""
    yield 0.0
    for step in range(1048):
        yield min(1.0, 1e-9 * 1.02**step)


def lower_bound(lattice: Iterator[float], rejected: Callable[[Floats], Flags]) -> float:
    """Return the largest lattice value up to which all values are rejected.

    If the first value is not rejected, the bound is 0.

    **Guarantee.** The bound exceeds the true value t with probability at most the level of a single test. The
    lattice is fixed before the data. Let v be the least lattice value at or above t. The claim at v is true,
    and the bound exceeds t only if v is rejected. No monotonicity is needed.
    """
    bound, many = 0.0, 1
    while values := list(islice(lattice, many)):
        kept = np.flatnonzero(~rejected(np.array(values)))
        if len(kept):
            return values[kept[0] - 1] if kept[0] else bound
        bound, many = values[-1], min(2 * many, _VALUES)
    return bound


def epsilon_bound(ledger: Ledger, *, epsilon: float, delta: float, significance: float) -> float:
    """Return a lower bound on the true ε at this δ. Its confidence is 1 − significance."""
    lattice = epsilon_lattice(epsilon) if ledger.start is None else _few_epsilons(epsilon)
    return lower_bound(lattice, lambda each: ledger.rejects(each, np.full_like(each, delta), significance))


def delta_bound(ledger: Ledger, *, epsilon: float, significance: float) -> float:
    """Return a lower bound on the true δ at this ε. Its confidence is 1 − significance."""
    lattice = delta_lattice() if ledger.start is None else _few_deltas()
    return lower_bound(lattice, lambda each: ledger.rejects(np.full_like(each, epsilon), each, significance))


def standing(ledger: Ledger, *, epsilon: float, delta: float, significance: float) -> Standing:
    """Return what a later audit needs to continue this ledger.

    This is the wealth against the claim and against the claims that later bounds will test.
    """
    claims = claims_of(epsilon, delta)
    epsilons, deltas = np.array(claims).T
    account, goal = ledger.opening(epsilons, deltas)
    lost = np.array([ledger.lost(*claim) for claim in claims])
    states = account.states(ledger.growths(epsilons, deltas))
    account, own = states[-1], np.column_stack([state.log_wealth for state in states])
    wealth = own
    if ledger.goals is not None:
        aimed = np.vstack([goal, ledger.goals.path(ledger.aims, epsilons, deltas, goal)])
        goal, wealth = aimed[-1], ledger.together(own, aimed.T)
    rejected = lost + wealth.max(axis=1) >= -math.log(significance)
    return Standing.of(claims, account, goal, lost=lost, rejected=rejected)


def claims_of(epsilon: float, delta: float) -> tuple[tuple[float, float], ...]:
    """Return the claims against which wealth is kept to continue the audit. The audited claim comes first."""
    by_epsilon = ((each, delta) for each in _few_epsilons(epsilon))
    by_delta = ((epsilon, each) for each in _few_deltas())
    return tuple(dict.fromkeys(((epsilon, delta), *by_epsilon, *by_delta)))


def _few_epsilons(epsilon: float) -> Iterator[float]:
    """Yield some values of the ε lattice.

    These are every 4th value up to twice the claim, then every 16th value up to `_FAR`.
    """
    fine = list(takewhile(lambda each: each <= max(_FAR, 2 * epsilon), epsilon_lattice(epsilon)))
    first = fine.index(epsilon)
    for place, value in enumerate(fine):
        if value == 0 or (place - first) % (4 if value <= 2 * epsilon else 16) == 0:
            yield value


def _few_deltas() -> Iterator[float]:
    return islice(delta_lattice(), 0, None, 10)
