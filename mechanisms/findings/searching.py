"""Findings about BNS §3.2 and Definition 9."""

from __future__ import annotations

from itertools import combinations, pairwise
from operator import eq, ge
from typing import TYPE_CHECKING

from audit.findings import Finding, Table
from mechanisms.concave import log_star

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINDINGS", "n20", "n21"]


def n20() -> Finding:
    """BNS Remark 1 asks for Q ≥ (1 − 3α/4)·m, but the Q of §3.2 never exceeds m/2.

    Examples
    --------
    >>> n20().claimed, n20().found
    (925.0, 500.0)
    """
    m = 1000
    highest = float(max(min(zeros, m - zeros) for zeros in range(m + 1)))
    rows = tuple((alpha, (1 - 0.75 * alpha) * m, (1 - 0.25 * alpha) * m) for alpha in (0.1, 0.5, 2 / 3, 0.9))
    return Finding(
        "N20",
        "BNS Remark 1",
        "The search is for a j with Q(j) ≥ (1 − 3α/4)·m and Q(j − 1) ≤ (1 − α/4)·m.",
        "false",
        f"Q(j) is the minimum of a count of zeros and a count of ones, so at most {highest:g} of {m}. The "
        f"first target, {rows[0][1]:g} at α = 0.1, cannot be reached for α < 2/3. The second is always met.",
        row="M6",
        method="arithmetic",
        errata=("N20",),
        corrected="The targets are right for a Q that can reach m.",
        claimed=rows[0][1],
        found=highest,
        tables=(Table(("α", "first target", "second target"), rows, f"m = {m}, Q ≤ {highest:g}"),),
    )


def n21() -> Finding:
    """BNS §3.2: the intervals B_i must have length 2J to cover all good intervals.

    Examples
    --------
    >>> n21().found
    0.375
    """
    rows, slips = _left_out(4), _slips()
    return Finding(
        "N21",
        "BNS §1.1, §3.2, Fig. 1 step 7, Definition 9",
        "With {A_i} of length 2J and {B_i} of length J right shifted by J, every interval of length J lies "
        "in one of them.",
        "false",
        f"At J = 4 a share of {rows[0][1]:g} of all intervals lies in none of them; the first is "
        f"{rows[0][2]}. With B_i of length 2J the share is {rows[1][1]:g}. Two smaller slips: with b − a = "
        "2^j there is no interval at j = d, and the growth is 2^log*(d) in §1.1 but 16^log*(d) in Theorem "
        f"2: {slips[1][1]} and {slips[1][2]} at d = 64.",
        row="M6",
        method="arithmetic",
        errata=("N21",),
        corrected="{B_i} of length 2J right shifted by J, and b − a + 1 = 2^j, both as in Fig. 1. In step 7 "
        "read Q(S, i) ≥ r for Q(S, i) = r. Definition 9 defines quasi-concave functions, not concave ones.",
        claimed=0.0,
        found=rows[0][1],
        tables=(
            Table(("length of B_i", "share in none", "the first in none"), rows, "J = 4"),
            Table(("what", "as printed", "otherwise"), slips, "printed beside meant, §1.1 beside Theorem 2"),
        ),
    )


def _left_out(length: int) -> tuple[tuple[str, float, str], ...]:
    """Return one row for B_i of length J, and one for length 2J.

    A row has the share of intervals that lie in no A_i and no B_i, and the earliest one.
    """
    starts = range(16 * length)
    rows = []
    for words, width in (("J", length), ("2J", 2 * length)):
        missed = [start for start in starts if not _covered(start, length=length, width=width)]
        first = str([missed[0], missed[0] + length - 1]) if missed else "none"
        rows.append((words, len(missed) / len(starts), first))
    return tuple(rows)


def _slips() -> tuple[tuple[str | int, ...], ...]:
    """Return the other corrected quantities of the erratum, as printed and corrected."""
    pairs = [(a, b) for a in range(32) for b in range(32)]
    none, one = (sum(b - a + more == 32 for a, b in pairs) for more in (0, 1))
    qualities, promise = (60, 61, 62), 60
    equal, least = (sum(sign(q, promise) for q in qualities) for sign in (eq, ge))
    return (
        ("intervals of length 2^d in {0 … 2^d − 1}, d = 5: b − a = 2^d, or b − a + 1", none, one),
        ("growth with d at d = 64: 2^log*(d), 16^log*(d)", 2 ** log_star(64), 16 ** log_star(64)),
        ("points of Q = (60, 61, 62) that step 7 counts at r = 60: with “=”, with “≥”", equal, least),
        ("is (0, 1, 10) concave: by Definition 9, by the usual definition", *_concave((0, 1, 10))),
    )


FINDINGS: dict[str, Callable[[], Finding]] = {"N20": n20, "N21": n21}


def _concave(values: tuple[int, ...]) -> tuple[str, str]:
    """Return whether values are quasi-concave and whether they are concave, in words."""
    around = combinations(values, 3)
    steps = [b - a for a, b in pairwise(values)]
    told = all(b >= min(a, c) for a, b, c in around), steps == sorted(steps, reverse=True)
    return "yes" if told[0] else "no", "yes" if told[1] else "no"


def _covered(start: int, *, length: int, width: int) -> bool:
    """Return whether [start, start + length − 1] lies in an interval A_i or B_i.

    The A_i have 2·length points, the B_i `width` points.
    """
    end = start + length - 1
    in_a = start // (2 * length) == end // (2 * length)
    in_b = start >= length and (start - length) // width == (end - length) // width
    return in_a or in_b
