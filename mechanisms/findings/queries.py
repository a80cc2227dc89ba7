"""Findings about statistical queries answered from samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from audit.findings import Finding, Table
from audit.laws.divergence import epsilon_at
from mechanisms.findings import densities, simulations
from mechanisms.queries.oracles.adversarial import AdversarialOracle
from mechanisms.queries.oracles.chunks import sample_size, sampling_size
from mechanisms.queries.oracles.classification_noise import NoisyLabelOracle, noisy_labels, noisy_sample_size
from mechanisms.queries.oracles.ideal import ExactOracle
from mechanisms.queries.oracles.private import stated_chunk_size
from mechanisms.queries.population import Population
from mechanisms.queries.runs.private_answers import LiteralQueryAnswers, PrivateQueryAnswers
from mechanisms.queries.runs.unknown_rate import candidate_rates, learn_from_noisy_labels, rate_test_size
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = ["FINDINGS", "e1", "n12", "thm_6", "thm_8"]

_BETA, _TAU = 0.05, 0.1


def _ones(queries: int) -> tuple[StatisticalQuery, ...]:
    return (StatisticalQuery.fraction(bool, tau=_TAU),) * queries


def e1() -> Finding:
    """Compute private answers with the noise of the proofs, which are inaccurate.

    Examples
    --------
    >>> round(e1().found, 3)
    0.979
    """
    cases = ((2, 1.0, 20), (2, 1.0, 50), (2, 0.1, 5), (2, 0.1, 10), (8, 1.0, 100), (8, 1.0, 200))
    rows = tuple(_noise(*case) for case in cases)
    worst = rows[-1][5]
    heads = (
        "c",
        "ε",
        "M",
        "c(1 + ε/τ)",
        "chunk",
        "proofs' noise exceeds τ",
        "log10 of the same, corrected noise",
        "an answer misses τ, proofs' noise",
        "an answer misses τ, corrected noise",
    )
    held = (
        f"exact, τ = {_TAU}, β = {_BETA}, chunks of ⌈c(1/ετ + 1/τ²)ln(2M/β)⌉; misses on fair coins, sampling "
        "error and noise together"
    )
    losses = tuple(_losses(queries) for queries in (1, 2, 5, 20))
    return Finding(
        "E1",
        "B Thm 7, C Thm 1",
        "Noise of scale M/(ε|S_i|) on M disjoint chunks is ε-private, and answers are within τ.",
        "proof only",
        "The algorithm of the proofs is (ε/M)-private. With c = 8, ε = 1, M = 200 its noise exceeds τ with "
        f"probability {worst:.3f}, where β = {_BETA} is claimed. M times less noise proves the theorems: "
        f"answers from the same chunks then miss with probability at most {max(r[8] for r in rows):.1g}.",
        row="M12",
        errata=("E1", "B Definition 2"),
        corrected="Noise of scale 1/(ε|S_i|) is ε-private, because a record is in one chunk, and stays "
        "within τ.",
        claimed=_BETA,
        found=worst,
        tables=(
            Table(heads, rows, held),
            Table(("M", "proofs' ε", "corrected ε", "claimed ε"), losses, "exact losses, chunks of 2"),
        ),
    )


def _noise(constant: float, epsilon: float, queries: int) -> tuple[float, ...]:
    """Return c, ε, M, c(1 + ε/τ), the chunk size, and four probabilities.

    Two are the chances that noise exceeds τ in some answer. Two are the chances that some answer is off by
    more than τ. Within each two, the noise of the proofs comes before the corrected noise. The chance that
    corrected noise exceeds τ is a log10.
    """
    chunk = stated_chunk_size(queries, tau=_TAU, beta=_BETA, epsilon=epsilon, constant=constant)
    literal, corrected = (
        kind(epsilon=epsilon, queries=_ones(queries), beta=_BETA, chunk=chunk)
        for kind in (LiteralQueryAnswers, PrivateQueryAnswers)
    )
    printed = literal.failure_of_noise()
    misses = (_missed(subject) for subject in (literal, corrected))
    limit = constant * (1.0 + epsilon / _TAU)
    return constant, epsilon, queries, limit, chunk, printed, _log10(corrected), *misses


def _missed(subject: PrivateQueryAnswers) -> float:
    """Return the probability that some answer is off by more than τ.

    An answer is a mean of fair coins plus Laplace noise.
    """
    from scipy.stats import binom

    size, scale = subject.chunk_size, float(subject.scales[0])
    counts = np.arange(size + 1)
    off = np.abs(counts / size - 0.5)  # the law of the deviation is symmetric, as is the noise
    beyond = np.exp(-np.abs(_TAU - off) / scale) / 2.0
    above = np.where(off <= _TAU, beyond, 1.0 - beyond)
    below = np.exp(-(_TAU + off) / scale) / 2.0
    return _some(float(binom.pmf(counts, size, 0.5) @ (above + below)), len(subject.queries))


def _log10(subject: PrivateQueryAnswers) -> float:
    """Return log10 of the probability that the noise of some answer exceeds τ.

    Let the noise of answer i exceed τ with probability e_i. If all e_i are tiny, the result is log10 Σ e_i,
    with a relative error below Σ e_i.
    """
    logs = -_TAU / subject.scales
    if logs.max() > -40.0:
        return math.log10(subject.failure_of_noise())
    return float(logs.max() + np.log(np.exp(logs - logs.max()).sum())) / math.log(10.0)


def _losses(queries: int) -> tuple[float, ...]:
    literal, corrected = (
        _loss(kind(epsilon=1.0, queries=_ones(queries), chunk=2))
        for kind in (LiteralQueryAnswers, PrivateQueryAnswers)
    )
    return queries, literal, corrected, 1.0


def _loss(subject: PrivateQueryAnswers) -> float:
    laws = [(subject.distribution(a), subject.distribution(b)) for a, b in subject.suggested_pairs()]
    return max(epsilon_at(left, right) for left, right in laws)


def n12() -> Finding:
    """Compute the error of answers with too large a noise rate.

    Examples
    --------
    >>> round(n12().found, 12)
    2.0
    """
    cases = ((0.2, 0.2), (0.2, 0.3), (0.2, 0.4), (0.0, 0.45))
    rows = tuple(_wrong_rate(eta, used) for eta, used in cases)
    rates, size, error = _unknown_rate()
    return Finding(
        "N12",
        "B Thm 8",
        "Noisy examples answer every query about clean ones within τ.",
        "hidden condition",
        "The noise rate must be known. If the bound 0.4 is used for η = 0.2, a query whose answer is 1 gets "
        f"the answer {rows[2][3]:.3f}.",
        row="M13",
        errata=("N12",),
        corrected="With a bound on η, run the learner with each rate of a grid and keep the result that does "
        f"best on fresh noisy examples. For η ≤ 0.4 this takes {rates} rates and {size} examples, and the "
        f"threshold learned from labels of rate 0.3 errs on {error:.0%}.",
        claimed=1.0,
        found=rows[2][3],
        tables=(
            Table(("η", "rate used", "true answer", "answer"), rows, "φ = 1[y = 1], c* = 1, exact oracle"),
        ),
    )


def _wrong_rate(eta: float, used: float) -> tuple[float, ...]:
    query = StatisticalQuery.fraction(lambda z: z[1] == 1, tau=_TAU)
    oracle = NoisyLabelOracle(ExactOracle(noisy_labels(Population([(0, 1)]), eta)), eta=used)
    return eta, used, 1.0, oracle.ask(query)


def _unknown_rate() -> tuple[int, int, float]:
    """Return the number of rates tried, the test size, and the learner's error.

    Labels are flipped at rate 0.3. The learner knows only that the rate is at most 0.4.
    """
    points = [(x, 1 if x >= 2 else -1) for x in range(4)]
    noisy = noisy_labels(Population(points), 0.3)
    rates = candidate_rates(0.4, tau=0.09)
    size = rate_test_size(len(rates), bound=0.4, excess=0.2, beta=1e-7)
    best, *_ = learn_from_noisy_labels(
        _threshold,
        lambda: AdversarialOracle(noisy, "towards-zero"),
        rates=rates,
        test=noisy.sample(size, np.random.default_rng(0)),
    )
    return len(rates), size, sum(best.predictor(x) != y for x, y in points) / len(points)


def _threshold(oracle: SQOracle) -> Callable[[int], int]:
    """Return the threshold predictor with the least estimated error."""
    wrong = oracle.ask_all([StatisticalQuery.fraction(_Wrong(t), tau=0.09) for t in range(5)])
    best = int(np.argmin(wrong))
    return lambda x: 1 if x >= best else -1


@dataclass(frozen=True)
class _Wrong:
    threshold: int

    def __call__(self, example: tuple[int, int]) -> bool:
        x, y = example
        return (x >= self.threshold) != (y == 1)


def thm_6() -> Finding:
    """Compute B Theorem 6's sample size and its failures.

    Examples
    --------
    >>> thm_6().found < 0.05
    True
    """
    rows = tuple(_chunks(*case) for case in ((1, 0.1), (10, 0.1), (100, 0.1), (10, 0.02)))
    worst = max(row[3] for row in rows)
    return Finding(
        "B Thm 6",
        "B Thm 6",
        "O((M/τ²)·log(M/δ)) examples answer M queries within τ with probability 1 − δ.",
        "holds",
        "It holds by its proof, with the constant 1/2: M·⌈ln(2M/β)/(2τ²)⌉ examples. Averages of fair coins "
        f"then miss with probability at most {worst:.4f}, for β = {_BETA}.",
        row="M11",
        method="lower bound",
        claimed=_BETA,
        found=worst,
        tables=(
            Table(("M", "τ", "examples", "some answer misses"), rows, f"exact, fair coins, β = {_BETA}"),
        ),
    )


def _chunks(queries: int, tau: float) -> tuple[float, ...]:
    size = sampling_size(tau=tau, beta=_BETA / queries)
    return queries, tau, sample_size(queries, tau=tau, beta=_BETA), _some(_miss(size, 0.5, tau), queries)


def _miss(size: int, share: float, tau: float) -> float:
    """Return Pr[|average of `size` coins − share| > tau]."""
    from scipy.stats import binom

    counts = np.arange(size + 1)
    off = np.abs(counts / size - share) > tau * (1.0 + 1e-12)
    return float(binom.pmf(counts, size, share)[off].sum())


def _some(each: float, queries: int) -> float:
    return -math.expm1(queries * math.log1p(-each))


def thm_8() -> Finding:
    """Compute B Theorem 8's sample size and its failures.

    Examples
    --------
    >>> thm_8().found < 0.05
    True
    """
    rows = tuple(_noisy(*case) for case in ((1, 0.1, 0.1), (10, 0.1, 0.3), (10, 0.1, 0.45)))
    worst = max(row[4] for row in rows)
    return Finding(
        "B Thm 8",
        "B Thm 8",
        "At a known rate η, O((M/(τ²(1 − 2η)²))·log(M/δ)) noisy examples answer M queries about clean ones "
        "within τ.",
        "holds",
        "It holds by its proof, with M·(⌈2ln(4M/β)/(τ(1 − 2η))²⌉ + ⌈2ln(4M/β)/τ²⌉) examples. The text does "
        "not say that the rate must be known (N12). For φ = 1[y = 1] and c* = 1 some answer misses with "
        f"probability at most {worst:.2g}, for β = {_BETA}.",
        row="M13",
        method="lower bound",
        errata=("N12",),
        claimed=_BETA,
        found=worst,
        tables=(Table(("M", "τ", "η", "examples", "some answer misses"), rows, f"exact, β = {_BETA}"),),
    )


def _noisy(queries: int, tau: float, eta: float) -> tuple[float, ...]:
    """Return M, τ, η, the sample size, and the probability that an answer misses by τ.

    The query is 1[y = 1], and all clean labels are 1. With the mean ȳ of the noisy labels, an answer is 1/2 +
    ȳ/(2(1 − 2η)).
    """
    keep = 1.0 - 2.0 * eta
    size = sampling_size(tau=keep * tau / 2.0, beta=_BETA / (2.0 * queries))
    needed = noisy_sample_size(queries, tau=tau, beta=_BETA, eta=eta)
    return queries, tau, eta, needed, _some(_miss(size, 1.0 - eta, keep * tau), queries)


FINDINGS: Mapping[str, Callable[[], Finding]] = {
    "E1": e1,
    "N12": n12,
    "B Thm 6": thm_6,
    "B Thm 8": thm_8,
    **simulations.FINDINGS,
    **densities.FINDINGS,
}
"""The findings about answers to statistical queries, then those about simulations."""
