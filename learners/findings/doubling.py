"""The claim on which the privacy of A rests (K08 Claim 3.3, K11 Claim 4.3)."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING

from audit.findings import Finding, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["FINDINGS", "k11_claim_4_3"]


def k11_claim_4_3() -> Finding:
    """Return the finding that an example at most doubles a probability.

    The source is K11 Claim 4.3.

    Examples
    --------
    >>> k11_claim_4_3().found
    2.0
    """
    rows = []
    for dimension, examples in ((1, 1), (1, 3), (2, 1), (2, 3), (3, 2)):
        for inclusion in (0.25, 0.75):
            seen, worst = _worst_quotient(dimension, examples, inclusion)
            rows.append((dimension, examples, inclusion, seen, worst))
    return Finding(
        "K11 Claim 4.3",
        "K08 Claim 3.3; K11 Claim 4.3",
        "Pr[A(z) = h | i ∈ S] ≤ 2·Pr[A(z) = h | i ∉ S] for every database z, example i and parity h.",
        "holds",
        "Equality holds at each number of variables and examples that was tried, whatever p: the largest "
        f"quotient is {max(row[4] for row in rows):g}. It occurs if the example is consistent with those "
        "taken and independent of them.",
        row="L3",
        claimed=2.0,
        found=max(row[4] for row in rows),
        tables=(
            Table(
                ("d", "examples", "p", "databases, examples and parities", "largest quotient"),
                tuple(rows),
                "exact, all databases up to order; if the right side is 0, so is the left",
            ),
        ),
    )


def _worst_quotient(dimension: int, examples: int, inclusion: float) -> tuple[int, float]:
    """Return the number of quotients of K11 Claim 4.3, and the largest.

    A quotient is Pr[h | A takes example i]/Pr[h | not taken].
    """
    words = list(product((0, 1), repeat=dimension))
    solutions = [
        frozenset(r for r in words if sum(a * b for a, b in zip(x, r, strict=True)) % 2 == y)
        for x in words
        for y in (0, 1)
    ]
    seen, worst = 0, 0.0
    for rest in combinations_with_replacement(solutions, examples - 1):
        without = _law(words, rest, inclusion, always=frozenset(words))
        for first in solutions:
            taken = _law(words, rest, inclusion, always=first)
            for h in words:
                assert without[h] > 0.0 or taken[h] == 0.0
                if without[h] > 0.0:
                    seen, worst = seen + 1, max(worst, taken[h] / without[h])
    return seen, worst


def _law(
    words: Sequence[tuple[int, ...]],
    rest: Sequence[frozenset[tuple[int, ...]]],
    inclusion: float,
    *,
    always: frozenset[tuple[int, ...]],
) -> dict[tuple[int, ...], float]:
    """Return the law of A's answer if A does not refuse.

    It is uniform on the solutions of the examples taken.
    """
    law = dict.fromkeys(words, 0.0)
    for chosen in product((False, True), repeat=len(rest)):
        weight, space = 1.0, always
        for one, took in zip(rest, chosen, strict=True):
            weight *= inclusion if took else 1.0 - inclusion
            space = space & one if took else space
        for r in space:
            law[r] += weight / len(space)
    return law


FINDINGS: dict[str, Callable[[], Finding]] = {"K11 Claim 4.3": k11_claim_4_3}
