"""Sample sizes that BNS state up to a constant.

The constant is 1 here.
"""

from __future__ import annotations

import math

from mechanisms.concave import log_star

__all__ = ["theorem_3_order", "theorem_4_order"]


def theorem_3_order(*, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """Return the formula inside the O() of BNS Theorem 3.

    It is (1/(α^1.5·ε))·√ln(1/δ)·ln(1/(αβεδ)).

    Examples
    --------
    >>> round(theorem_3_order(alpha=0.1, beta=0.1, epsilon=1.0, delta=1e-6))
    2165
    """
    logs = math.sqrt(-math.log(delta)) * -math.log(alpha * beta * epsilon * delta)
    return logs / (math.pow(alpha, 1.5) * epsilon)


def theorem_4_order(dimension: int, *, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """Return the formula inside the O() of BNS Theorem 4.

    It is (1/(α^2.5·ε))·8^log*(d)·√log*(d)·ln(1/(αδ))·ln(log*(d)/(αβεδ)), where ln replaces the printed log.

    Examples
    --------
    >>> f"{theorem_4_order(64, alpha=0.1, beta=0.1, epsilon=1.0, delta=1e-6):.2e}"
    '8.27e+08'
    """
    depth = log_star(dimension)
    logs = -math.log(alpha * delta) * (math.log(depth) - math.log(alpha * beta * epsilon * delta))
    return math.pow(8.0, depth) * math.sqrt(depth) * logs / (math.pow(alpha, 2.5) * epsilon)
