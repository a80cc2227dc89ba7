"""The fastest growth of wealth that any auditor can reach."""

import math
from collections.abc import Iterable

Events = tuple[tuple[float, float], ...]
"""Events, each given by its probabilities (p, q) on the first and the second database of a pair."""


def best_log_growth(p: float, q: float, epsilon: float, delta: float) -> float:
    """Return the fastest possible growth of wealth in nats per pair of runs.

    The runs are independent. The growth is KL((p, q) ‖ claim). This is the infimum of KL(p‖p′) + KL(q‖q′)
    over (p′, q′) with p′ ≤ e^ε·q′ + δ. It is 0 if (p, q) meets the claim. Otherwise p′ = e^ε·q′ + δ at the
    infimum, which leaves one variable.

    Examples
    --------
    >>> round(best_log_growth(1.0, 0.0, 1.0, 0.0), 3), best_log_growth(0.3, 0.2, 0.5, 0.0)
    (0.459, 0.0)
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import rel_entr

    ratio = math.exp(epsilon)
    if p <= ratio * q + delta:
        return 0.0

    def divergence(a: float, b: float) -> float:
        return float(rel_entr([a, 1 - a], [b, 1 - b]).sum())

    def objective(other: float) -> float:
        return divergence(q, other) + divergence(p, min(1.0, ratio * other + delta))

    high = (p - delta) / ratio  # here p′ = p; a larger q′ only increases the divergence
    found = minimize_scalar(objective, bounds=(q, high), method="bounded", options={"xatol": 1e-12})
    return float(min(found.fun, objective(high)))


def least_pairs(events: Iterable[tuple[float, float]], *, epsilon: float, significance: float) -> float:
    """Return the least mean number of pairs of runs to a refutation.

    It is ln(1/significance)/KL, where KL is the largest `best_log_growth` of any event. This bounds every
    stopping rule that refutes a true claim with probability at most `significance` (Wald 1945). A single
    audit may stop earlier.

    Examples
    --------
    >>> round(least_pairs([(1.0, 0.0)], epsilon=1.0, significance=1e-6), 1)
    30.1
    """
    growth = max(best_log_growth(p, q, epsilon, 0.0) for p, q in events)
    return math.inf if growth == 0 else -math.log(significance) / growth
