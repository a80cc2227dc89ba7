"""Local learning and learning by statistical queries: K08 Theorem 4.8, K11 Theorem 5.14."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from audit.findings import Finding, Table
from learners.masked import MaskedParityLearner
from learners.masked.algorithms import bit_tau
from mechanisms.findings.local import k11_lemma_5_6
from mechanisms.findings.simulations import claim_5_9, claim_5_10

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINDINGS", "k11_theorem_5_14"]

_BETA = 0.1


@cache
def k11_theorem_5_14() -> Finding:
    """K11 Theorem 5.14: each model simulates the other at a polynomial cost.

    Examples
    --------
    >>> k11_theorem_5_14().judgement
    'proof only'
    """
    rows = tuple(_there_and_back(dimension) for dimension in (2, 4, 8, 16))
    answers, apart, together = k11_lemma_5_6(), claim_5_9(), claim_5_10()
    grows = [math.log2(rows[-1][place] / rows[-2][place]) for place in (3, 4)]
    return Finding(
        "K11 Theorem 5.14",
        "K08 Theorem 4.8; K11 Theorem 5.14",
        "A class is learned by local algorithms exactly if by statistical queries: interactive for adaptive, "
        "non-interactive for non-adaptive, and efficiently so through transparent randomizers.",
        "proof only",
        "The text says only that the cost is polynomial. If a local algorithm answers queries (Lemma 5.6), "
        f"each answer misses with probability at most {answers.found:.4f}, for β = 0.05. If queries "
        f"simulate a local algorithm, the distance is at most {apart.found:.4f} without and "
        f"{together.found:.4f} with interaction, for β = 0.3. For MASKED-PARITY the local form takes about "
        f"d^{grows[0]:.1f} records, and its simulation as many queries, of tolerance about "
        f"d^(−{-grows[1]:.1f}). Lemma 5.6 needs ε = O(1) (E10; an algorithm may spend less than its ε). A "
        "non-adaptive simulation needs the fixed rounds of N10.",
        row="L6, M14, M15",
        method="lower bound",
        errata=("E10", "E15", "N10", "N11"),
        corrected="Take n ∝ max{1, 1/ε²} in one direction, and a fixed number of rounds in the other if "
        "nothing may adapt. The cost is still polynomial.",
        tables=(
            Table(
                ("d", "SQ queries", "their tolerance", "local: records", "back: tolerance", "back: queries"),
                rows,
                "A_MP, ε = 1, β = 0.1; simulation: one access per record, tolerance β/(3t·e^(2ε)), at most "
                "2t·e^ε queries in expectation, for t = the number of records",
            ),
        ),
    )


def _there_and_back(dimension: int) -> tuple[float, ...]:
    """Return d, queries and tolerance of A_MP, its local records, and tolerance and queries from these."""
    records = MaskedParityLearner(dimension=dimension, model="local", beta=_BETA).sample_size()
    tolerance = _BETA / (3.0 * math.exp(2.0) * records)
    return dimension, dimension + 1, bit_tau(dimension), records, tolerance, 2.0 * records * math.e


FINDINGS: dict[str, Callable[[], Finding]] = {"K11 Theorem 5.14": k11_theorem_5_14}
