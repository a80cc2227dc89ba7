"""Findings about the generic private learner."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from audit.findings import Finding, Table
from learners.generic.agnostic import failure_bound, generic_size, printed_size

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINDINGS", "e3", "e4"]

_CASES = (
    (10, 0.5, 0.1, 0.5),
    (10, 0.1, 0.1, 0.1),
    (1000, 0.2, 0.05, 0.1),
    (2, 0.1, 0.4, 1.0),
    (10, 0.1, 0.1, 1.0),
)
"""|H|, α, β, ε: three cases with ε ≤ α and two with ε > α. Of these two, the first fails."""


def _printed_real(hypotheses: int, alpha: float, beta: float, epsilon: float) -> float:
    """Return the n of K11 as a real number."""
    per_nat = 6.0 * max(1.0 / epsilon / alpha, 1.0 / alpha**2)
    return per_nat * (math.log(hypotheses) + math.log(1.0 / beta))


def e3() -> Finding:
    """Return the finding that the n of K11 Theorem 3.4 is too small.

    Examples
    --------
    >>> round(e3().found, 3)
    0.14
    """
    rows = []
    for hypotheses, alpha, beta, epsilon in _CASES:
        real = _printed_real(hypotheses, alpha, beta, epsilon)
        ours = generic_size(hypotheses, alpha=alpha, beta=beta, epsilon=epsilon)
        rows.append(
            (
                *(hypotheses, alpha, epsilon, beta, round(real, 1)),
                failure_bound(hypotheses, alpha=alpha, epsilon=epsilon, size=real),
                ours,
                failure_bound(hypotheses, alpha=alpha, epsilon=epsilon, size=ours),
            )
        )
    table = Table(
        ("|H|", "α", "ε", "β", "printed n", "bound there", "our n", "bound there "),
        tuple(rows),
        "|H|·(2·exp(−2nα²/9) + exp(−εnα/6)), the end of the proof, at the printed n as a real number",
    )
    n = printed_size(10, alpha=0.5, beta=0.1, epsilon=0.5)
    found = failure_bound(10, alpha=0.5, epsilon=0.5, size=n)
    return Finding(
        "E3",
        "K11 Theorem 3.4",
        "With n ≥ 6·(ln|H| + ln(1/β))·max{1/εα, 1/α²} the two terms of the proof sum to at most β.",
        "proof only",
        f"For ε ≤ α the second term alone is β, so the sum exceeds it: |H| = 10, ε = α = 1/2, β = 0.1, "
        f"n = {n} gives {found:.3f}. For ε > α it depends on |H| and β.",
        row="L1",
        method="arithmetic",
        errata=("E3",),
        corrected="With ln(3/β) instead of ln(1/β) the terms are always at most 2β/3 and β/3.",
        claimed=0.1,
        found=found,
        tables=(table,),
    )


def e4() -> Finding:
    """Return the finding that the proof of K08 Theorem 3.7 is not agnostic.

    Examples
    --------
    >>> e4().found
    1.0
    """
    alpha, beta, error = 0.1, 0.1, 0.3
    rows = []
    for epsilon in (0.1, 1.0):
        for factor in (1, 10, 100):
            n = factor * printed_size(1, alpha=alpha, beta=beta, epsilon=epsilon, source="K08")
            second = 1.0 if error > alpha else 0.0  # the learner has no choice: it outputs h
            claimed = math.exp(-epsilon * alpha * n / 4.0) + math.exp(-n * alpha**2 / 2.0)
            event = 1.0 if error > alpha + error else 0.0
            ours = failure_bound(1, alpha=alpha, epsilon=epsilon, size=n)
            rows.append((epsilon, n, event, second, claimed, ours))
    table = Table(
        ("ε", "n", "Pr[E]", "second sum of the chain", "its bound in the chain", "K11's bound on Pr[E]"),
        tuple(rows),
        "one hypothesis, of error 0.3; α = β = 0.1; n is 1, 10 and 100 times the printed size",
    )
    return Finding(
        "E4",
        "K08 Theorem 3.7, proof",
        "Pr[error(h) > α + OPT] ≤ Σ_h Pr[A = h, error(h) > α] ≤ |H|·(exp(−εαn/4) + exp(−nα²/2)).",
        "proof only",
        "Take one hypothesis of error 0.3 = OPT. The middle sum is then 1, but its bound is "
        f"{rows[0][4]:.2g} at the printed n and tends to 0. Both steps need OPT = 0. K11 bounds Pr[E] "
        "directly, which is 0 here.",
        row="L1",
        method="arithmetic",
        errata=("E4",),
        corrected="The agnostic statement is true, with the constant of `generic_size`, by K11's proof: "
        "all training errors are close to the true errors, and the exponential mechanism is compared with "
        "the best.",
        claimed=rows[0][4],
        found=rows[0][3],
        tables=(table,),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {"E3": e3, "E4": e4}
