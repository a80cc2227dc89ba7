"""Findings about the simplest mechanisms and about composition."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.claims import PureDP
from audit.findings import Finding, Table
from audit.laws.divergence import epsilon_at
from audit.laws.exact import compare_pairs
from mechanisms.composition.accounting import advanced_bound, composed_epsilon, sequential_bound
from mechanisms.composition.parallel import Parallel
from mechanisms.composition.sequential import Sequential
from mechanisms.noise.geometric import GeometricMechanism, TruncatedGeometricMechanism
from mechanisms.noise.laplace import LaplaceMechanism
from mechanisms.responses.binary import RandomizedResponse
from mechanisms.responses.kary import KaryRandomizedResponse

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "FINDINGS",
    "b_posterior",
    "bns_advanced",
    "c_geometric",
    "k11_claim_2_2",
    "k11_theorem_2_3",
    "k11_warner",
]


def _worst_loss(subject: Any, size: int) -> float:
    """Return the largest exact loss over all neighbouring databases of this size."""
    databases = [list(rows) for rows in product(subject.records, repeat=size)]
    pairs = [(x, y) for x in databases for y in databases if subject.relation.are_neighbours(x, y)]
    return compare_pairs(pairs, subject.distribution, subject.claim).epsilon


def c_geometric() -> Finding:
    """C §2: geometric noise of parameter α, clamped or not, is ε-private.

    Here e^ε = α^Δ, for sensitivity Δ.

    Examples
    --------
    >>> round(c_geometric().ratio, 12)
    1.0
    """
    rows = []
    for alpha, step in ((2.0, 1), (1.1, 1), (2.0, 3)):
        epsilon = step * math.log(alpha)
        told: dict[str, Any] = {"epsilon": epsilon, "sensitivity": step, "records": (0, step)}
        plain, clamped = GeometricMechanism(**told), TruncatedGeometricMechanism(**told, upper=3 * step)
        law = plain.distribution([0, 0, 0])
        total = math.fsum(law.pmf(k) for k in range(-600, 601))
        normaliser = (alpha - 1.0) / (alpha + 1.0)
        rows.append(
            (
                alpha,
                step,
                epsilon,
                _worst_loss(plain, 3),
                _worst_loss(clamped, 3),
                law.pmf(0),
                normaliser,
                total,
            )
        )
    heads = ("α", "Δ", "Δ·ln α", "exact loss", "clamped", "Pr[0]", "(α − 1)/(α + 1)", "Σ over |k| ≤ 600")
    return Finding(
        "C §2",
        "C §2",
        "An integer answer of sensitivity Δ plus noise with Pr[k] ∝ α^(−|k|) is ε-private for e^ε = α^Δ.",
        "holds",
        f"Equality holds: the loss is {rows[0][3]:.6f} at α = 2, Δ = 1, and {rows[2][3]:.6f} at Δ = 3. "
        "Clamping the answer costs nothing. The normaliser is (α − 1)/(α + 1).",
        row="M2",
        errata=("N18", "N22"),
        claimed=rows[0][2],
        found=rows[0][3],
        tables=(Table(heads, tuple(rows), "all neighbouring databases of three records"),),
        command="dp-audit run geometric",
    )


def _histogram(database: Any) -> Any:
    return np.bincount(database, minlength=3).astype(float)


def k11_theorem_2_3() -> Finding:
    """K11 Theorem 2.3: noise in proportion to a vector's L1 sensitivity is private.

    Examples
    --------
    >>> round(k11_theorem_2_3().ratio, 12)
    1.0
    """
    told: dict[str, Any] = {"query": _histogram, "dimension": 3, "records": (0, 1, 2), "size": 2}
    rows = []
    for epsilon in (0.5, 1.0, 2.0):
        mechanism = LaplaceMechanism(epsilon=epsilon, sensitivity=2.0, **told)
        rows.append((epsilon, mechanism.scale, _worst_loss(mechanism, 2)))
    return Finding(
        "K11 Theorem 2.3",
        "K11 Theorem 2.3; B Definition 2, generalised; BNS Theorem 1",
        "f(z) plus independent Laplace noise of scale Δf/ε on every coordinate is ε-private, Δf in L1 norm.",
        "holds",
        f"Equality holds for a histogram, which moves by 2 in L1 norm when a record is replaced: it loses "
        f"{rows[1][2]:.6f} at ε = 1.",
        row="M1",
        errata=("B Definition 2",),
        claimed=rows[1][0],
        found=rows[1][2],
        tables=(
            Table(("ε", "scale", "exact loss"), tuple(rows), "a histogram of two records in three cells"),
        ),
        command="dp-audit run laplace",
    )


def k11_warner() -> Finding:
    """K11 §1.1: randomized response with truth probability 2/3 has loss ln 2.

    Examples
    --------
    >>> finding = k11_warner()
    >>> round(finding.found, 12) == round(finding.claimed, 12) == 0.693147180560
    True
    """
    kinds: list[tuple[str, KaryRandomizedResponse]] = [("Warner, 2/3", RandomizedResponse())]
    kinds += [(f"{k} answers", KaryRandomizedResponse(epsilon=1.0, categories=k)) for k in (3, 10)]
    losses = tuple((name, it.truth, it.epsilon, _worst_loss(it, 1)) for name, it in kinds)
    estimates = tuple(_estimate(ones, size=30) for ones in (0, 12, 30))
    return Finding(
        "K11 §1.1, Warner",
        "K11 §1.1, Definition 5.1",
        "A person who answers truthfully with probability 2/3 and lies otherwise has ε-local privacy, and "
        "the proportion can be estimated.",
        "holds",
        f"ε = ln 2 exactly ({losses[0][3]:.6f}). The estimate's mean is the proportion "
        f"({estimates[1][2]:.6f} for 12 of 30) and its standard deviation √(2/n).",
        row="M7",
        errata=("N16",),
        claimed=math.log(2.0),
        found=losses[0][3],
        tables=(
            Table(("response", "Pr[truth]", "ε", "exact loss"), losses, "all pairs of answers"),
            Table(
                ("n", "proportion", "mean of the estimate", "its standard deviation", "√(2/n)"),
                estimates,
                "exact: two binomial laws",
            ),
        ),
        command="dp-audit run randomized-response",
    )


def _estimate(ones: int, *, size: int) -> tuple[float, ...]:
    """Return n, the share of ones, the estimate's mean and deviation, and √(2/n)."""
    from scipy.stats import binom

    kept, turned = (
        binom.pmf(range(ones + 1), ones, 2 / 3),
        binom.pmf(range(size - ones + 1), size - ones, 1 / 3),
    )
    law = np.convolve(np.asarray(kept), np.asarray(turned))
    response = RandomizedResponse(size=size)
    values = np.array([response.proportion([1] * k + [0] * (size - k)) for k in range(size + 1)])
    mean = float(law @ values)
    return size, ones / size, mean, math.sqrt(float(law @ (values - mean) ** 2)), math.sqrt(2.0 / size)


def k11_claim_2_2() -> Finding:
    """K11 Claim 2.2: losses add up on the same records, but not on disjoint parts.

    Examples
    --------
    >>> round(k11_claim_2_2().ratio, 12)
    1.0
    """
    parts = [RandomizedResponse(epsilon=0.5), RandomizedResponse(epsilon=0.25)]
    three = [*parts, RandomizedResponse(epsilon=1.0)]
    counts = [GeometricMechanism(epsilon=e, size=1) for e in (0.5, 0.25, 1.0)]
    rows = (
        ("two on one record", 0.75, _together(parts)),
        ("three on one record", 1.75, _together(three)),
        ("three on a part each", 1.0, _apart(counts)),
    )
    return Finding(
        "K11 Claim 2.2",
        "K11 Claim 2.2; K08 Claim 2.1; B, Composition",
        "Algorithms that are ε_1-, …, ε_k-private on the same records are together (Σ ε_i)-private.",
        "holds",
        f"Equality holds: 0.5 and 0.25 lose {rows[0][2]:.6f} together. On disjoint parts the loss is only "
        f"the largest ε_i: {rows[2][2]:.6f} for 0.5, 0.25 and 1.",
        row="M10",
        errata=("N17",),
        claimed=rows[0][1],
        found=rows[0][2],
        tables=(Table(("what", "ε claimed", "exact loss"), rows, "exact, all neighbouring databases"),),
        command="dp-audit run count-and-survey",
    )


def _together(parts: list[RandomizedResponse]) -> float:
    both = Sequential(parts=parts)
    left, right = both.distribution([0]), both.distribution([1])
    assert left is not None  # a product of finite laws
    assert right is not None
    return float(epsilon_at(left, right))


def _apart(parts: list[GeometricMechanism]) -> float:
    whole = Parallel(parts=parts)
    databases = [list(rows) for rows in product((0, 1), repeat=len(parts))]
    pairs = [(x, y) for x in databases for y in databases if sum(map(abs, map(int.__sub__, x, y))) == 1]
    law: Any = whole.distribution
    return compare_pairs(pairs, law, PureDP(1.0)).epsilon


def bns_advanced() -> Finding:
    """Advanced composition, used by BNS Lemma 2: the bound holds.

    For few mechanisms the plain sum of the ε may be smaller. For ε ≥ 1/2 it always is.

    Examples
    --------
    >>> bns_advanced().judgement
    'holds'
    """
    rows = []
    for epsilon, many in ((0.1, 10), (0.1, 100), (0.1, 400), (1.0, 12)):
        claims = [PureDP(epsilon)] * many
        quoted = math.sqrt(2.0 * many * math.log(1e6)) * epsilon + 2.0 * many * epsilon**2
        sharper = advanced_bound(claims, slack=1e-6).epsilon
        exact = composed_epsilon(claims, delta=1e-6)
        rows.append((epsilon, many, sequential_bound(claims).epsilon, quoted, sharper, exact))
    heads = ("ε", "k", "sum", "√(2k·ln(1/δ))·ε + 2k·ε²", "with k·ε·tanh(ε/2)", "optimal")
    return Finding(
        "Advanced composition",
        "BNS §3.3, the theorem of composition that is used there",
        "k mechanisms, each ε-private, are together (√(2k·ln(1/δ))·ε + 2k·ε², δ)-private for ε ≤ 1.",
        "holds",
        f"For 100 mechanisms with ε = 0.1 it gives {rows[1][3]:.3f} at δ = 1e-6. Their sum is "
        f"{rows[1][2]:.0f}, and optimal composition gives {rows[1][5]:.3f}. For twelve mechanisms with ε = 1 "
        f"it gives {rows[3][3]:.1f}, and the sum is 12.",
        row="M10",
        errata=("N26",),
        claimed=rows[1][3],
        found=rows[1][5],
        tables=(Table(heads, tuple(rows), "δ = 1e-6; optimal: exact, for k randomized responses"),),
    )


def b_posterior() -> Finding:
    """B §1.1.1: what an observer learns about one record, by Bayes' rule.

    Examples
    --------
    >>> round(b_posterior().ratio, 9)
    1.0
    """
    survey, counted = RandomizedResponse(epsilon=1.0), GeometricMechanism(epsilon=1.0, records=(0, 1))
    laws: dict[str, list[Any]] = {
        "randomized response": [survey.distribution([truth]) for truth in (0, 1)],
        "geometric noise on a count of three": [counted.distribution([truth, 1, 0]) for truth in (0, 1)],
    }
    rows = []
    for (name, (false, true)), prior in product(laws.items(), (0.5, 0.1, 0.001)):
        said = (0, 1) if name == "randomized response" else range(-20, 21)
        after = [_posterior(true.pmf(one), false.pmf(one), prior=prior) for one in said]
        ratios = [posterior / (1.0 - posterior) / (prior / (1.0 - prior)) for posterior in after]
        rows.append((name, prior, min(after), max(after), min(ratios), max(ratios)))
    found = max(row[5] for row in rows)
    return Finding(
        "B §1.1.1, posterior",
        "B §1.1.1, Bayes' rule after Definition 1",
        "If A is ε-private, the ratio of two posterior probabilities of a record is close to the ratio of "
        "the prior ones.",
        "holds",
        f"The ratio changes by a factor within e^±ε, with equality: by {min(row[4] for row in rows):.4f} to "
        f"{found:.4f} at ε = 1. An answer raises a prior of 0.001 to at most {rows[2][3]:.5f}, and one of "
        f"0.5 to at most {rows[0][3]:.3f}.",
        row="M2, M7",
        claimed=math.e,
        found=found,
        tables=(
            Table(
                ("mechanism", "prior", "least posterior", "largest", "least quotient", "largest "),
                tuple(rows),
                "ε = 1, all answers; quotient: posterior odds ÷ prior odds of a 1 if all other records are "
                "known",
            ),
        ),
    )


def _posterior(true: float, false: float, *, prior: float) -> float:
    """Return the posterior probability of a case, given an answer.

    The answer has probability `true` in this case, and `false` otherwise.
    """
    return prior * true / (prior * true + (1.0 - prior) * false)


FINDINGS: dict[str, Callable[[], Finding]] = {
    "B §1.1.1, posterior": b_posterior,
    "K11 Theorem 2.3": k11_theorem_2_3,
    "C §2": c_geometric,
    "K11 §1.1, Warner": k11_warner,
    "K11 Claim 2.2": k11_claim_2_2,
    "Advanced composition": bns_advanced,
}
