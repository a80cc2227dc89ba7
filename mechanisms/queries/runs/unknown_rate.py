"""Learning from noisy labels of unknown rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int, probability
from mechanisms.queries.oracles.chunks import whole
from mechanisms.queries.oracles.classification_noise import NoisyLabelOracle, rate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["Candidate", "candidate_rates", "learn_from_noisy_labels", "rate_test_size"]


def candidate_rates(bound: float, *, tau: float, width: float = 1.0) -> tuple[float, ...]:
    """Return noise rates of which one is close to the true rate.

    Parameters
    ----------
    bound
        The largest possible noise rate, in [0, 1/2).
    tau
        The least tolerance of the learner's queries.
    width
        The greatest length of the queries' ranges.

    Guarantee
    ---------
    Let γ = min(tau/(2·width), 1/2). For every eta ≤ bound some candidate eta′ has |(1 − 2·eta)/(1 − 2·eta′) −
    1| ≤ γ. So the label term of a query, at most width/2, is off by at most tau/4 (`NoisyLabelOracle`). In
    terms of u = 1 − 2·eta, the candidates are u′ = (1 − 2·bound)/(1 − γ)·((1 + γ)/(1 − γ))^i below 1 and, if
    needed, 1 itself. A candidate u′ covers [(1 − γ)u′, (1 + γ)u′]. These intervals cover all u from 1 −
    2·bound to 1. There are at most 1 + ln(1/(1 − 2·bound))/ln((1 + γ)/(1 − γ)) candidates. For tau ≤ width
    this is O((width/tau)·log(1/(1 − 2·bound))).

    Examples
    --------
    >>> [round(eta, 3) for eta in candidate_rates(0.4, tau=0.5)]
    [0.367, 0.278, 0.13, 0.0]
    """
    bound = rate(bound, what="The `bound` of `candidate_rates`")
    tau = finite_number(tau, what="The `tau` of `candidate_rates`", above=0)
    width = finite_number(width, what="The `width` of `candidate_rates`", above=0)
    gamma = min(tau / (2.0 * width), 0.5)
    least, step = 1.0 - 2.0 * bound, (1.0 + gamma) / (1.0 - gamma)
    kept, found = least / (1.0 - gamma), []
    while kept < 1.0:
        found.append((1.0 - kept) / 2.0)
        kept *= step
    if not found or (1.0 - 2.0 * found[-1]) * (1.0 + gamma) < 1.0:
        found.append(0.0)
    return tuple(found)


def rate_test_size(candidates: int, *, bound: float, excess: float, beta: float) -> int:
    """Return how many noisy examples a choice of predictor needs.

    Guarantee
    ---------
    ⌈2·ln(2N/beta)/(excess²·(1 − 2·bound)²)⌉ for N candidates. A predictor of error e disagrees with the noisy
    labels with probability eta + (1 − 2·eta)·e. By Hoeffding, all N observed shares are within s = excess·(1
    − 2·bound)/2 of these probabilities, with probability 1 − beta. Then the error of the predictor with the
    least share exceeds the least error by at most 2s/(1 − 2·eta) ≤ excess.

    Examples
    --------
    >>> rate_test_size(4, bound=0.4, excess=0.1, beta=0.05)
    25376
    """
    candidates = positive_int(candidates, what="The `candidates` of `rate_test_size`", maximum=None)
    bound = rate(bound, what="The `bound` of `rate_test_size`")
    excess = finite_number(excess, what="The `excess` of `rate_test_size`", above=0)
    beta = probability(beta, what="The `beta` of `rate_test_size`", zero=False, one=False)
    return whole(2.0 * math.log(2.0 * candidates / beta) / (excess * (1.0 - 2.0 * bound)) ** 2)


@dataclass(frozen=True)
class Candidate:
    """A noise rate with the learner's predictor and its test result.

    Parameters
    ----------
    eta
        The rate.
    predictor
        A function of x that returns −1 or 1.
    disagreement
        Share of the noisy labels in the test that differ from the predictions.

    Examples
    --------
    >>> Candidate(0.1, lambda x: 1, 0.25).disagreement
    0.25
    """

    eta: float
    predictor: Callable[[Any], int]
    disagreement: float


def learn_from_noisy_labels(
    learn: Callable[[SQOracle], Callable[[Any], int]],
    oracle: Callable[[], SQOracle],
    *,
    rates: Sequence[float],
    test: Sequence[tuple[Any, int]] | Callable[[Callable[[Any], int]], float],
) -> list[Candidate]:
    """Return an SQ learner's results at each rate, the best first.

    Parameters
    ----------
    learn
        A function of an oracle that asks queries of tolerance tau or more and returns a predictor.
    oracle
        A function that makes a fresh oracle for the distribution of noisy examples.
    rates
        `candidate_rates` for tau and the bound on the noise.
    test
        Noisy examples that no oracle has seen, as many as `rate_test_size` says. Or a function of a predictor
        that returns how often it disagrees with noisy labels, within excess·(1 − 2·bound)/2.

    Guarantee
    ---------
    Let `learn` have error at most alpha with every valid oracle. Let all oracles be valid for the noisy
    distribution. Then the first predictor has error at most alpha + excess with probability 1 − beta. One
    candidate rate eta′ is close to the true one. With that rate, an answer is off by at most tau/4 for the
    label term, tau/4 for the wrong rate, and tau/2 for the other term. (The label term is asked within (1 −
    2·eta′)·tau/4.) So the oracle is valid. `rate_test_size` covers the choice among the predictors.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery, noisy_labels
    >>> noisy = noisy_labels(Population([(0, -1), (1, 1)]), 0.1)
    >>> def learn(oracle):
    ...     agree = oracle.ask(StatisticalQuery.fraction(lambda z: (z[0] == 1) == (z[1] == 1), tau=0.25))
    ...     return (lambda x: 2 * x - 1) if agree > 0.5 else (lambda x: 1 - 2 * x)
    >>> best, *_ = learn_from_noisy_labels(
    ...     learn, lambda: ExactOracle(noisy), rates=candidate_rates(0.2, tau=0.25), test=[(1, 1), (0, -1)]
    ... )
    >>> best.predictor(1), best.disagreement
    (1, 0.0)
    """
    if not (callable(test) or hasattr(test, "__len__")):
        raise InvalidKind(
            f"The `test` of `learn_from_noisy_labels` must be a list of (x, y) or a function; "
            f"got {test!r:.60}."
        )
    if not rates or not (callable(test) or len(test)):
        raise InvalidValue("`learn_from_noisy_labels` must have a candidate rate and a test example.")
    found = []
    for eta in rates:
        predictor = learn(NoisyLabelOracle(oracle(), eta=eta, label_share=0.25))
        found.append(Candidate(eta, predictor, _disagreement(predictor, test)))
    return sorted(found, key=lambda candidate: candidate.disagreement)


def _disagreement(predictor: Callable[[Any], int], test: Any) -> float:
    if callable(test):
        return finite_number(test(predictor), what="The disagreement that `test` returns")
    return float(np.mean([predictor(x) != y for x, y in test]))
