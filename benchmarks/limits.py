"""How fast the wealth of an auditor that sees only failures can grow."""

from __future__ import annotations

import math


def best_growth(p: float, beta: float) -> float:
    """Return the largest growth of the wealth in nats per run, KL(p ‖ β).

    Failures have probability p, and β is the claim. At significance s an auditor needs ln(1/s)/KL(p ‖ β) runs
    or more.
    """
    terms = ((p, beta), (1.0 - p, 1.0 - beta))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
