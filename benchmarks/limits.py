"""How fast the wealth of any auditor that sees only failures can grow: the limit of utility audits."""

from __future__ import annotations

import math


def best_growth(p: float, beta: float) -> float:
    """Return KL(p ‖ β) in nats per run, for failures of probability p and a claim of β.

    At significance s an auditor needs ln(1/s)/KL(p ‖ β) runs or more.
    """
    terms = ((p, beta), (1.0 - p, 1.0 - beta))
    return sum(a * math.log(a / b) for a, b in terms if a > 0)
