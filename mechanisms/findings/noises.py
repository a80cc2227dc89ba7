"""Findings about Laplace and geometric noise in B, K08 and C."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

from audit.distributions import Density
from audit.findings import Finding, Table
from mechanisms.flawed.geometric import RenormalisedGeometric
from mechanisms.noise.geometric import TruncatedGeometricMechanism
from mechanisms.noise.mean import LaplaceMean
from mechanisms.noise.noises import GeometricNoise, LaplaceNoise

if TYPE_CHECKING:
    from collections.abc import Callable

    from audit.distributions import Finite

__all__ = ["FINDINGS", "b_definition_2", "b_theorem_3", "e8", "n18", "n22"]


def b_theorem_3() -> Finding:
    """B Theorem 3: the Laplace mechanism is private and accurate.

    Examples
    --------
    >>> b_theorem_3().ratio
    1.0
    """
    rows = []
    for n, beta in ((1, 0.5), (5, 0.05), (1000, 1e-6)):
        mean = LaplaceMean(epsilon=1.0, size=n)
        left, right = (mean.distribution(database) for database in mean.suggested_pairs()[0])
        assert isinstance(left, Density)
        loss = float(left.logpdf(-1.0) - right.logpdf(-1.0))
        bound = mean.error_bound(beta)
        rows.append((n, loss, beta, bound, 2.0 * float(left.cdf(-bound))))
    table = Table(
        ("n", "loss of the worst pair", "β", "(b/εn)·ln(1/β)", "Pr[error above it]"),
        tuple(rows),
        "ε = 1, b = 1; exact, from the density",
    )
    return Finding(
        "B Theorem 3",
        "B Definition 2, Theorem 3; K11 Theorem 2.3; BNS Theorem 1",
        "The mean of n values in [0, b] plus Laplace noise of rate εn/b is ε-private, and its error exceeds "
        "(b/εn)·ln(1/β) with probability at most β.",
        "holds",
        f"Both hold with equality: the worst pair loses {rows[1][1]:.6f} at ε = 1, and the error exceeds the "
        f"bound with probability {rows[1][4]:.6f} at β = {rows[1][2]:g}.",
        row="M1",
        errata=("B Definition 2",),
        claimed=1.0,
        found=round(rows[1][1], 12),
        tables=(table,),
    )


def b_definition_2() -> Finding:
    """B Definition 2 and Theorem 7: with the rate as "scale" the noise is useless.

    Examples
    --------
    >>> b_definition_2().found
    1000.0
    """
    rows = []
    for n in (10, 100, 1000):
        mean = LaplaceMean(epsilon=1.0, size=n)
        literal = LaplaceNoise(1.0 / mean.scale)
        rows.append((n, mean.scale, literal.scale, mean.error_bound(0.05), literal.bound(0.05)))
    table = Table(
        ("n", "right scale", "the rate as scale", "error at β = 0.05", "error of the literal form"),
        tuple(rows),
        "ε = 1, b = 1",
    )
    n, right, literal_scale, _, error = rows[-1]
    return Finding(
        "B Definition 2",
        "B Definition 2, Theorem 7",
        "The noise has scale parameter εn/b.",
        "typo",
        f"εn/b is the rate. Passed to a library as the scale, it makes the noise n²ε²/b² times too wide: "
        f"{literal_scale:g} instead of {right:g} at n = {n}, with error {error:.0f} on values in [0, 1].",
        row="M1",
        method="arithmetic",
        errata=("B Definition 2", "E1"),
        corrected="The scale is b/(εn), the rate εn/b.",
        claimed=right,
        found=literal_scale,
        tables=(table,),
    )


def e8() -> Finding:
    """K08 footnote 5: the standard deviation of Laplace noise, by integration.

    Examples
    --------
    >>> round(e8().found, 6)
    2.828427
    """
    rows = tuple((scale, math.sqrt(2.0) / scale, _deviation(scale)) for scale in (0.5, 1.0, 2.0))
    _, claimed, found = rows[-1]
    return Finding(
        "E8",
        "K08 footnote 5",
        "The Laplace distribution with density exp(−|x|/λ)/2λ has standard deviation √2/λ.",
        "typo",
        f"It is √2·λ: {found:.4f}, not {claimed:.4f}, at λ = 2. (The two agree only at λ = 1.)",
        row="M1",
        errata=("E8",),
        corrected="Its standard deviation is √2·λ.",
        claimed=claimed,
        found=found,
        tables=(Table(("λ", "printed √2/λ", "integrated"), rows, "quadrature of x²·density"),),
    )


def n18() -> Finding:
    """C §2, "truncate without hurting privacy": true of clamping, not of conditioning.

    Examples
    --------
    >>> round(n18().found, 3)
    0.916
    """
    rows = []
    for upper in (1, 2, 5, 20):
        literal, clamped = (
            _worst_loss(kind(epsilon=math.log(2.0), upper=upper, size=upper), upper)
            for kind in (RenormalisedGeometric, TruncatedGeometricMechanism)
        )
        rows.append((upper, literal, clamped))
    table = Table(
        ("b", "loss when conditioned", "loss when clamped"),
        tuple(rows),
        "α = 2, Δ = 1, claimed ln 2 = 0.6931; exact, all neighbouring answers",
    )
    return Finding(
        "N18",
        "C §2",
        "A geometric answer can be truncated into {0 … b} without hurting privacy.",
        "hidden condition",
        f"This is true of clamping (loss {rows[-1][2]:.3f}). But the law restricted to the range and "
        f"normalised again loses {rows[-1][1]:.3f} at b = 20, because the normaliser depends on the exact "
        "answer.",
        row="M2",
        errata=("N18",),
        corrected="Clamp the noisy answer into the range; do not draw again and do not renormalise.",
        claimed=math.log(2.0),
        found=rows[-1][1],
        tables=(table,),
    )


def n22() -> Finding:
    """C §2, the ratio of two geometric probabilities: a sign is misprinted.

    Examples
    --------
    >>> n22().claimed, round(n22().found, 12)
    (2.0, 0.5)
    """
    law = GeometricNoise(math.log(2.0)).law(0)
    places = ((1, 1), (2, 1), (-1, 1))
    rows = tuple(
        (k, j, 2.0 ** (abs(k) - abs(k - j)), float(math.exp(law.logpmf(k + j) - law.logpmf(k))))
        for k, j in places
    )
    _, _, printed, true = rows[0]
    return Finding(
        "N22",
        "C §2",
        "f(k + j)/f(k) = α^(−|k − j|)/α^(−|k|).",
        "typo",
        f"The exponent is −|k + j|: at k = j = 1 and α = 2 the ratio is {true:g}; as printed it would be "
        f"{printed:g}. The bound α^|j| holds either way.",
        row="M2",
        errata=("N22",),
        corrected="f(k + j)/f(k) = α^(−|k + j|)/α^(−|k|) ≤ α^|j|.",
        claimed=printed,
        found=true,
        tables=(Table(("k", "j", "printed", "true"), rows, "α = 2"),),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {
    "B Theorem 3": b_theorem_3,
    "B Definition 2": b_definition_2,
    "E8": e8,
    "N18": n18,
    "N22": n22,
}


def _deviation(scale: float) -> float:
    from scipy.integrate import quad

    half, _ = quad(lambda x: x * x * math.exp(-x / scale) / (2.0 * scale), 0.0, math.inf)
    return math.sqrt(2.0 * half)


def _worst_loss(mechanism: TruncatedGeometricMechanism, upper: int) -> float:
    """Return the largest loss between two counts that differ by 1."""
    counts = [[1] * ones + [0] * (upper - ones) for ones in range(upper + 1)]
    laws = [mechanism.distribution(database) for database in counts]
    return max(_loss(p, q) for p, q in pairwise(laws))


def _loss(p: Finite, q: Finite) -> float:
    return max(abs(float(p.logpmf(k)) - float(q.logpmf(k))) for k in p.support())
