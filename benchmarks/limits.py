"""How fast any auditor of failures can grow its wealth, in nats: what utility audits are measured against."""

from __future__ import annotations

import math


def best_growth(p: float, beta: float) -> float:
    """Give KL(p ‖ β) in nats a run: nobody who sees failures only decides in fewer than ln(1/s)/KL runs."""
    terms = ((p, beta), (1.0 - p, 1.0 - beta))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
