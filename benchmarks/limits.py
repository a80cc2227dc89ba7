"""How fast any auditor can grow its wealth, in nats: the limits that audits are measured against."""

from __future__ import annotations

import math

from scipy.optimize import minimize_scalar
from scipy.special import rel_entr


def best_log_growth(p: float, q: float, epsilon: float, delta: float) -> float:
    """Give KL((p, q) ‖ claim) in nats a pair: no auditor with independent sides grows faster on this event.

    The infimum over (p′, q′) with p′ ≤ R·q′ + δ of KL(p‖p′) + KL(q‖q′); 0 if (p, q) meets the claim.
    """
    ratio = math.exp(epsilon)
    if p <= ratio * q + delta:
        return 0.0

    def divergence(a: float, b: float) -> float:
        return float(rel_entr([a, 1 - a], [b, 1 - b]).sum())

    def objective(other: float) -> float:
        return divergence(q, other) + divergence(p, min(1.0, ratio * other + delta))

    high = (p - delta) / ratio  # beyond it p′ = p already, and moving q′ further only costs
    found = minimize_scalar(objective, bounds=(q, high), method="bounded", options={"xatol": 1e-12})
    return float(min(found.fun, objective(high)))


def best_growth(p: float, beta: float) -> float:
    """Give KL(p ‖ β) in nats a run: nobody who sees failures only decides in fewer than ln(1/s)/KL runs."""
    terms = ((p, beta), (1.0 - p, 1.0 - beta))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
