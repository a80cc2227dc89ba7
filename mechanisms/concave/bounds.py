"""The privacy and utility of algorithm Rec (BNS Lemmas 2 and 3)."""

from __future__ import annotations

import math

from audit.claims import ApproximateDP, PureDP
from audit.errors import InvalidValue, finite_number, positive_int, probability

__all__ = ["calls", "ceiling", "least_promise", "lemma_2", "levels", "log_star"]

SMALL = 32
"""Largest top for which Rec is one exponential mechanism (BNS Fig. 1, step 1)."""


def log_star(number: int) -> int:
    """Return how many times log2 brings a number to at most 1.

    Examples
    --------
    >>> log_star(2), log_star(16), log_star(2**64)
    (1, 3, 5)
    """
    value: float = number
    count = 0
    while value > 1:
        value, count = math.log2(value), count + 1
    return count


def ceiling(top: int) -> int:
    """Return the smallest power of two that is at least `top` (BNS Fig. 1, step 2).

    Examples
    --------
    >>> ceiling(33), ceiling(64)
    (64, 64)
    """
    return 1 << (top - 1).bit_length()


def levels(top: int) -> int:
    """Return the number N of Rec's recursive calls on {0 … top}.

    Examples
    --------
    >>> levels(32), levels(2**32), levels(2**64)
    (0, 1, 2)
    """
    top = _range(top)
    count = 0
    while top > SMALL:
        top, count = ceiling(top).bit_length() - 1, count + 1
    return count


def lemma_2(top: int, *, epsilon: float, delta: float) -> ApproximateDP:
    """Return the privacy that BNS Lemma 2 claims for Rec, exactly as printed.

    Guarantee
    ---------
    Write log* for log*(top). For top ≥ 2, Rec is (√(6·log*·ln(1/(log*·delta)))·epsilon + 6·log*·epsilon²,
    4·log*·delta)-private. (At top = 1, log* is 0 and the claim is false.) This is the advanced composition of
    3·log* calls with slack log*·delta.

    Raises
    ------
    InvalidValue
        `top` is below 2, or 4·log*·delta is at least 1.

    Examples
    --------
    >>> claim = lemma_2(2**16, epsilon=0.1, delta=1e-6)
    >>> round(claim.epsilon, 6), claim.delta
    (1.96714, 1.6e-05)
    """
    depth = log_star(_range(top))
    epsilon = finite_number(epsilon, what="The `epsilon` of `lemma_2`", above=0)
    delta = finite_number(delta, what="The `delta` of `lemma_2`", above=0)
    if 4 * depth * delta >= 1:
        raise InvalidValue(
            f"The `delta` must be below 1/(4·log*(top)) = {1 / (4 * depth):g} for Lemma 2 to say anything; "
            f"got {delta:g}."
        )
    spread = math.sqrt(6 * depth * math.log(1 / (depth * delta)))
    return ApproximateDP(spread * epsilon + 6 * depth * epsilon * epsilon, 4 * depth * delta)


def calls(top: int, *, epsilon: float, delta: float, tight: bool = False) -> list[PureDP | ApproximateDP]:
    """Return the claims of the mechanisms that one run of Rec calls.

    Rec makes at most 3·N + 1 calls, where N is `levels(top)`.

    Parameters
    ----------
    top
        The last point of the range, at least 2.
    epsilon, delta
        The privacy parameters of each call.
    tight
        If false, A_dist counts as (epsilon, delta)-private, as in BNS Proposition 2. If true, it counts as
        (epsilon/2, delta/2)-private.

    Guarantee
    ---------
    Each of the N levels calls A_dist twice and the exponential mechanism once. Rec calls the exponential
    mechanism once more on the innermost range. Everything else is public or computed from their outputs. So
    the loss of Rec is at most that of an adaptive composition of this list, in any order. At top = 2^16 there
    are 4 calls, while Lemma 2 counts 12.

    A_dist releases the best solution if its gap plus Lap(4/epsilon) reaches (4/epsilon)·ln(1/delta) + 2. The
    gap is the lead of the best solution over the second. If two neighbours have the same best solution, its
    gap changes by at most 2. Then the probability of a release changes by a factor of at most e^(epsilon/2).
    If their best solutions differ, the two gaps add up to at most 2. With a gap of at most 2, a release has
    probability at most delta/2 (for delta ≤ 1/2).

    Examples
    --------
    >>> [len(calls(top, epsilon=1.0, delta=1e-6)) for top in (32, 2**16, 2**64)]
    [1, 4, 7]
    """
    rounds = levels(top)
    share = 0.5 if tight else 1.0
    stable = ApproximateDP(share * epsilon, share * probability(delta, what="The `delta` of `calls`"))
    return [*[PureDP(epsilon)] * (rounds + 1), *[stable] * (2 * rounds)]


def least_promise(top: int, *, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """Return the smallest quality promise for which BNS Lemma 3 holds.

    Guarantee
    ---------
    Let alpha ≤ 1/2, log* = log*(top) and r ≥ (2/alpha)^log*·(16/(alpha·epsilon))·ln(32/(beta·delta)). Let the
    quality be quasi-concave, of sensitivity 1, with maximum at least r. Then Rec returns a point of quality
    below (1 − alpha)·r with probability at most 2·beta·log*(top).

    Examples
    --------
    >>> round(least_promise(4096, alpha=0.5, beta=0.01, epsilon=1.0, delta=1e-6))
    179294
    """
    depth = log_star(_range(top))
    failure = math.log(32) - math.log(beta) - math.log(delta)
    return (2 / alpha) ** depth * 16 / (alpha * epsilon) * failure


def _range(top: int) -> int:
    return positive_int(top, what="The `top` of a range for Rec", minimum=2, maximum=None)
