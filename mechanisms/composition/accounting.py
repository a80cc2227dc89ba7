"""The privacy of a composition, from claims or laws of its parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import ApproximateDP, PrivacyClaim, PureDP, check_claim
from audit.errors import InvalidValue, probability

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from audit.distributions import Finite, Law, Product

__all__ = [
    "advanced_bound",
    "claimed",
    "composed_delta",
    "composed_epsilon",
    "dominating_pair",
    "laws_delta",
    "laws_epsilon",
    "parallel_bound",
    "sequential_bound",
]

_LARGEST_DELTA = math.nextafter(1.0, 0.0)


def sequential_bound(claims: Iterable[PrivacyClaim]) -> PureDP | ApproximateDP:
    """Return the privacy claim of a sequential composition.

    The epsilons add up, and so do the deltas.

    Guarantee
    ---------
    The claim holds for mechanisms that run one after another on the same database, even if each depends on
    earlier outputs. (K11 Claim 2.2 and K08 Claim 2.1 state it for mechanisms fixed in advance.) The
    probability of a sequence of outputs is a product of conditional probabilities. The i-th of these changes
    by a factor of at most e^epsilon_i (outside an event of probability delta_i).

    Examples
    --------
    >>> print(sequential_bound([PureDP(0.5), PureDP(0.25)]))
    PureDP(epsilon=0.75)
    """
    told = [check_claim(claim) for claim in claims]
    return _claim(math.fsum(c.epsilon for c in told), math.fsum(c.delta for c in told))


def parallel_bound(claims: Iterable[PrivacyClaim]) -> PureDP | ApproximateDP:
    """Return the privacy claim of a parallel composition.

    The claim has the largest epsilon and the largest delta of the parts.

    Guarantee
    ---------
    The claim holds for mechanisms on disjoint parts of a database if neighbours differ in one part only. The
    mechanisms on the other parts see the same data on both databases. Their outputs are independent of the
    rest, so their probabilities cancel in the ratio.

    Examples
    --------
    >>> print(parallel_bound([PureDP(0.5), ApproximateDP(0.25, 0.125)]))
    ApproximateDP(epsilon=0.5, delta=0.125)
    """
    told = [check_claim(claim) for claim in claims]
    return _claim(max((c.epsilon for c in told), default=0.0), max((c.delta for c in told), default=0.0))


def advanced_bound(claims: Iterable[PrivacyClaim], *, slack: float) -> PureDP | ApproximateDP:
    """Return the privacy claim of a composition by the advanced composition theorem.

    For parts that are (ε, δ)-private, the composition is (Σ ε·tanh(ε/2) + √(2·ln(1/slack)·Σ ε²), Σ δ +
    slack)-private. If `sequential_bound` is no worse, it is returned instead.

    Parameters
    ----------
    claims
        The claims of the parts, in any order.
    slack
        The additional delta, in (0, 1), in exchange for the smaller epsilon.

    Guarantee
    ---------
    Outside an event of probability δ, the loss of a part is in [−ε, ε]. Given the outputs so far, the mean of
    the loss is at most that of randomized response, ε·(e^ε − 1)/(e^ε + 1) = ε·tanh(ε/2). By Azuma and
    Hoeffding the sum exceeds its mean by √(2·ln(1/slack)·Σ ε²) with probability at most slack. (Dwork,
    Rothblum and Vadhan bound the mean by ε·(e^ε − 1). BNS uses 2·ε², which is at least that for ε ≤ 1.256.)

    Examples
    --------
    >>> bound = advanced_bound([PureDP(0.1)] * 100, slack=1e-6)
    >>> round(bound.epsilon, 4), sequential_bound([PureDP(0.1)] * 100).epsilon
    (5.7561, 10.0)
    >>> print(advanced_bound([PureDP(0.5)] * 3, slack=1e-6))
    PureDP(epsilon=1.5)
    """
    told = [check_claim(claim) for claim in claims]
    slack = probability(slack, what="The `slack` of `advanced_bound`", zero=False, one=False)
    mean = math.fsum(c.epsilon * math.tanh(c.epsilon / 2) for c in told)
    spread = math.sqrt(-2.0 * math.log(slack) * math.fsum(c.epsilon**2 for c in told))
    plain = sequential_bound(told)
    if plain.epsilon <= mean + spread:
        return plain
    return ApproximateDP(mean + spread, min(math.fsum(c.delta for c in told) + slack, _LARGEST_DELTA))


def dominating_pair(claim: PrivacyClaim) -> tuple[Finite, Finite]:
    """Return the two laws that lie furthest apart under a privacy claim.

    These laws belong to a randomized response that sometimes leaks its input.

    Guarantee
    ---------
    Every pair of (ε, δ)-close laws is a random function of this pair (Kairouz, Oh and Viswanath 2015). So
    every composition of (ε, δ)-private mechanisms, even an adaptive one, is a random function of the product
    of these pairs.

    Examples
    --------
    >>> p, q = dominating_pair(ApproximateDP(0.0, 0.25))
    >>> p.pmf("left"), q.pmf("left"), p.pmf(0)
    (0.25, 0.0, 0.375)
    """
    from audit.distributions import Finite

    told = check_claim(claim)
    stay = -math.log1p(math.exp(-told.epsilon))  # log-probabilities: e^epsilon may overflow
    turn = stay - told.epsilon
    kept, leak = math.log1p(-told.delta), math.log(told.delta) if told.delta else -math.inf
    outcomes = ["left", 0, 1, "right"]
    return (
        Finite(outcomes, log_probabilities=[leak, kept + stay, kept + turn, -math.inf]),
        Finite(outcomes, log_probabilities=[-math.inf, kept + turn, kept + stay, leak]),
    )


def composed_epsilon(claims: Iterable[PrivacyClaim], *, delta: float) -> float:
    """Return the smallest ε at `delta` that follows from the claims alone.

    Guarantee
    ---------
    The value is the ε of the product of the dominating pairs, exact up to `audit.laws.divergence.TOLERANCE`.
    The loss of this product is a sum of independent losses with three values each. If the deltas of the
    claims exceed `delta`, the value is ∞.

    Examples
    --------
    >>> claims = [PureDP(0.1)] * 100
    >>> round(composed_epsilon(claims, delta=1e-6), 4), round(composed_epsilon(claims, delta=0.0), 9)
    (4.7746, 10.0)
    """
    left, right = _dominating(claims)
    return laws_epsilon(left, right, delta=delta)


def composed_delta(claims: Iterable[PrivacyClaim], *, epsilon: float) -> float:
    """Return the smallest δ at `epsilon` that follows from the claims alone.

    Examples
    --------
    >>> round(composed_delta([ApproximateDP(0.0, 0.25)] * 2, epsilon=0.0), 12)
    0.4375
    """
    left, right = _dominating(claims)
    return laws_delta(left, right, epsilon=epsilon)


def laws_epsilon(left: Sequence[Law], right: Sequence[Law], *, delta: float) -> float:
    """Return the smallest ε of a composition at `delta`, from its parts' laws.

    Parameters
    ----------
    left, right
        The laws of the parts' independent outputs, on two neighbouring databases.
    delta
        A number in [0, 1].

    Guarantee
    ---------
    The loss of independent outputs is the sum of their losses. If there are no parts, it is 0. Parts whose
    laws are the same on both databases lose nothing. If at most one other part has laws that are not finite,
    ε is exact, unless there are too many sums of losses. Otherwise the middle between two bounds is returned
    (`audit.laws.divergence`). The result is the larger ε of the two directions.

    Examples
    --------
    >>> from audit.distributions import Density
    >>> laws_epsilon([Density.laplace(0.0)] * 2, [Density.laplace(1.0), Density.laplace(0.5)], delta=0.0)
    1.5
    """
    from audit.laws.divergence import epsilon_at

    if not left and not right:
        return 0.0
    p, q = _product(left), _product(right)
    return max(epsilon_at(p, q, delta), epsilon_at(q, p, delta))


def laws_delta(left: Sequence[Law], right: Sequence[Law], *, epsilon: float) -> float:
    """Return the smallest δ of a composition at `epsilon`, from its parts' laws.

    Examples
    --------
    >>> from audit.distributions import Finite
    >>> p, q = Finite("ab", [0.75, 0.25]), Finite("ab", [0.25, 0.75])
    >>> round(laws_delta([p, p], [q, q], epsilon=0.0), 12)
    0.5
    """
    from audit.laws.divergence import hockey_stick

    if not left and not right:
        return 0.0
    p, q = _product(left), _product(right)
    return max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))


def claimed(subject: Any) -> PrivacyClaim:
    """Return the privacy claim of a mechanism.

    Raises
    ------
    InvalidValue
        The mechanism claims nothing.

    Examples
    --------
    >>> from audit.subject.subject import adapt
    >>> claimed(adapt(len))
    Traceback (most recent call last):
    audit.errors.InvalidValue: A part of a composition must claim its privacy; len claims nothing.
    """
    if subject.claim is None:
        raise InvalidValue(f"A part of a composition must claim its privacy; {subject.name} claims nothing.")
    return check_claim(subject.claim)


def _claim(epsilon: float, delta: float) -> PureDP | ApproximateDP:
    return ApproximateDP(epsilon, min(delta, _LARGEST_DELTA)) if delta else PureDP(epsilon)


def _dominating(claims: Iterable[PrivacyClaim]) -> tuple[list[Finite], list[Finite]]:
    alike: dict[float, list[float]] = {}
    for claim in claims:
        told = check_claim(claim)
        alike.setdefault(told.epsilon, []).append(math.log1p(-told.delta))
    pairs = [_repeated(epsilon, len(kept), math.fsum(kept)) for epsilon, kept in alike.items()]
    return [p for p, _ in pairs], [q for _, q in pairs]


def _repeated(epsilon: float, times: int, kept: float) -> tuple[Finite, Finite]:
    """Return two finite laws that stand for several draws from `dominating_pair`.

    An outcome says whether any draw leaks and, if none does, how many draws are 0. `kept` is the
    log-probability that no draw leaks. Given this event, the number of zeros is binomial, with success and
    failure exchanged between the laws.
    """
    from scipy.special import gammaln

    from audit.distributions import Finite

    stay = -math.log1p(math.exp(-epsilon))
    leak = math.log(-math.expm1(kept)) if kept else -math.inf
    zeros = np.arange(times + 1.0)
    ways = kept + gammaln(times + 1.0) - gammaln(zeros + 1.0) - gammaln(times - zeros + 1.0)
    likely, unlikely = (ways + times * stay - many * epsilon for many in (times - zeros, zeros))
    outcomes = ["left", *range(times + 1), "right"]
    return (
        Finite(outcomes, log_probabilities=[leak, *likely, -math.inf]),
        Finite(outcomes, log_probabilities=[-math.inf, *unlikely, leak]),
    )


def _product(laws: Sequence[Law]) -> Product:
    from audit.distributions import Product

    factors = [part for law in laws for part in (law.factors if isinstance(law, Product) else [law])]
    return Product(factors)
