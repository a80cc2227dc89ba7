"""Findings about the tail bounds of K11 Theorems A.1 and A.2."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from audit.findings import Finding, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["FINDINGS", "k11_theorem_a_1", "k11_theorem_a_2"]

_SIZES = (1, 2, 5, 20, 100, 1000)
_MEANS = (0.02, 0.1, 0.25, 0.5, 0.75, 0.98)


def k11_theorem_a_1() -> Finding:
    """K11 Theorem A.1: multiplicative Chernoff bounds against exact binomial tails.

    Examples
    --------
    >>> 0.9 < k11_theorem_a_1().found <= 1
    True
    """
    rows = tuple((mean, *np.max([_chernoff(n, mean) for n in _SIZES], axis=0).tolist()) for mean in _MEANS)
    found = max(max(row[1:]) for row in rows)
    return Finding(
        "K11 Theorem A.1",
        "K11 Appendix A, Theorem A.1",
        "The mean of n coins of chance µ is (1 + φ)µ or more with probability at most e^(−φ²µn/3), and "
        "(1 − φ)µ or less with at most e^(−φ²µn/2), for φ ≤ 1.",
        "holds",
        f"At every size and mean that was tried, the tail is at most {found:.4f} of its bound; this is for "
        "small φ, where both are near 1. Some proofs quote the theorem with other constants (E14).",
        row="L3",
        method="lower bound",
        errata=("E14",),
        claimed=1.0,
        found=found,
        tables=(
            Table(
                ("µ", "upper tail ÷ bound", "lower tail ÷ bound"),
                rows,
                f"exact, the largest over n = {', '.join(map(str, _SIZES))} and every φ in (0, 1] at which "
                "the tail jumps; between two jumps the bound only falls",
            ),
        ),
    )


def _chernoff(n: int, mean: float) -> tuple[float, float]:
    """Return the largest ratios of exact tails to Chernoff's bounds.

    If no φ of the theorem is possible, the ratio is 0.
    """
    from scipy.stats import binom

    counts = np.arange(n + 1)
    off = counts / (n * mean) - 1.0
    upper = np.asarray(binom.logsf(counts - 1, n, mean)) + off**2 * mean * n / 3.0
    lower = np.asarray(binom.logcdf(counts, n, mean)) + off**2 * mean * n / 2.0
    above, below = (off > 0.0) & (off <= 1.0), off < 0.0
    return _largest(upper[above]), _largest(lower[below])


def _largest(logs: NDArray[np.float64]) -> float:
    return math.exp(logs.max()) if logs.size else 0.0


def k11_theorem_a_2() -> Finding:
    """K11 Theorem A.2: Hoeffding's bound against exact tails of two-point laws.

    Examples
    --------
    >>> 0.5 < k11_theorem_a_2().found <= 1
    True
    """
    rows = tuple((mean, *(_hoeffding(n, mean) for n in _SIZES)) for mean in _MEANS)
    found = max(max(row[1:]) for row in rows)
    return Finding(
        "K11 Theorem A.2",
        "K11 Appendix A, Theorem A.2",
        "The mean of n values in [a, b] is δ or more away from its expectation with probability at most "
        "2·e^(−2δ²n/(b − a)²).",
        "holds",
        f"At every two-point law that was tried, the tail is at most {found:.4f} of its bound.",
        row="L1, M11",
        method="lower bound",
        claimed=1.0,
        found=found,
        tables=(
            Table(
                ("µ", *(f"n = {n}" for n in _SIZES)),
                rows,
                "exact: coins of chance µ, a = 0, b = 1, the largest quotient over every δ at which the tail "
                "jumps",
            ),
        ),
    )


def _hoeffding(n: int, mean: float) -> float:
    """Return the largest ratio of exact tails to Hoeffding's bound."""
    from scipy.stats import binom

    counts = np.arange(n + 1)
    chance, off = np.asarray(binom.pmf(counts, n, mean)), np.abs(counts - n * mean)
    tails = [float(chance[off >= least * (1.0 - 1e-12)].sum()) for least in off]
    bounds = 2.0 * np.exp(-2.0 * off**2 / n)
    seen = bounds > 1e-280
    return float((np.array(tails)[seen] / bounds[seen]).max())


FINDINGS: dict[str, Callable[[], Finding]] = {
    "K11 Theorem A.1": k11_theorem_a_1,
    "K11 Theorem A.2": k11_theorem_a_2,
}
