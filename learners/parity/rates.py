"""The two probabilities of A, and the resulting sample sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from audit.errors import InvalidValue, probability

__all__ = ["LARGEST_PRINTED", "Rates", "printed_sample_size"]

LARGEST_PRINTED = 2.0
"""The largest epsilon that the algebra of K11 Lemma 4.2 reaches: 2p/(1 − p) ≤ epsilon for p = epsilon/4."""


@dataclass(frozen=True)
class Rates:
    """The two probabilities of A.

    Parameters
    ----------
    inclusion
        p, of taking an example, in (0, 1).
    refusal
        q, of refusing at once, in (0, 1).

    Examples
    --------
    >>> printed, tight = Rates.printed(1.0, owner="ParityLearner"), Rates.tight(1.0)
    >>> printed.inclusion, printed.refusal, round(printed.loss, 6)
    (0.25, 0.5, 0.510826)
    >>> round(tight.inclusion, 6), round(tight.refusal, 6), round(tight.loss, 6)
    (0.462117, 0.211942, 1.0)
    """

    inclusion: float
    refusal: float

    @classmethod
    def printed(cls, epsilon: float, *, owner: str) -> Rates:
        """Return p = epsilon/4 and q = 1/2.

        Raises
        ------
        InvalidValue
            `epsilon` > 2, which the proof does not cover.
        """
        if epsilon > LARGEST_PRINTED:
            raise InvalidValue(
                f"The `epsilon` of `{owner}` must be ≤ 2 for p = epsilon/4, as its proof needs "
                f"(tight=True takes any); got {epsilon:g}."
            )
        return cls(epsilon / 4.0, 0.5)

    @classmethod
    def tight(cls, epsilon: float) -> Rates:
        """Return the largest p, and the smallest q, for epsilon.

        p = tanh(epsilon/2), and q = (1 − p)/(3 − p).
        """
        p = math.tanh(epsilon / 2.0)
        for _ in range(2):  # rounded down, so that p < 1 and the loss is at most epsilon
            p = math.nextafter(p, 0.0)
        return cls(p, (1.0 - p) / (3.0 - p))

    @property
    def loss(self) -> float:
        """The privacy loss of A.

        It is the larger of ln((1 + p)/(1 − p)) for a parity and ln(1 − p + p/q) for ⊥.
        """
        p = self.inclusion
        return max(2.0 * math.atanh(p), math.log1p(p / self.refusal - p))

    def bad(self, count: int, *, dimension: int, alpha: float) -> float:
        """Return a bound on the probability of a bad answer without refusal.

        The answer is bad if its error is above `alpha`.

        Guarantee
        ---------
        For examples of a parity the bound is 2^d·(1 − p·alpha)^count, at most 1. An r with error > alpha
        stays in the space of solutions only if no chosen example separates it from the target. Independently
        of the others, each example is chosen and separates them with probability p·error > p·alpha. No
        Chernoff bound is needed.
        """
        log = dimension * math.log(2.0) + count * math.log1p(-self.inclusion * alpha)
        return math.exp(min(0.0, log))

    def needed(self, bad: float, *, dimension: int, alpha: float) -> int:
        """Return the least number of examples with `Rates.bad` at most `bad`.

        Examples
        --------
        >>> Rates.printed(1.0, owner="ParityLearner").needed(0.5, dimension=8, alpha=0.1)
        247
        """
        log = dimension * math.log(2.0) - math.log(bad)
        return max(0, math.ceil(log / -math.log1p(-self.inclusion * alpha)))

    def sample_size(self, beta: float, *, dimension: int, alpha: float) -> int:
        """Return a sample size at which a run fails with probability at most `beta`.

        Guarantee
        ---------
        For every distribution of the examples, the failure probability is at most q + (1 − q)·b, where b is
        the bound `bad` at this number of examples.

        Raises
        ------
        InvalidValue
            `beta` is not above q, the probability of refusing.
        """
        probability(beta, what="The `beta` of `sample_size`", zero=False, one=False)
        if beta <= self.refusal:
            raise InvalidValue(
                f"The `beta` of one run must be above its probability of refusing, {self.refusal:.4g}; "
                f"got {beta:g}."
            )
        bad = (beta - self.refusal) / (1.0 - self.refusal)
        return self.needed(bad, dimension=dimension, alpha=alpha)


def printed_sample_size(bad: float, *, dimension: int, alpha: float, epsilon: float) -> int:
    """Return the sample size of K08 Lemma 3.1.

    It is (8/(epsilon·alpha))·(d·ln 2 + ln(1/bad)), rounded up. With `bad` = 1/4 it is the size of K11 Lemma
    4.1.

    Examples
    --------
    >>> printed_sample_size(0.25, dimension=8, alpha=0.1, epsilon=1.0)
    555
    """
    return math.ceil(8.0 / (epsilon * alpha) * (dimension * math.log(2.0) - math.log(bad)))
