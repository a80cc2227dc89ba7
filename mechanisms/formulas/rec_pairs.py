"""Pairs of quality functions with a large privacy loss of Rec."""

from __future__ import annotations

__all__ = ["literal_lists", "steepest_lists"]

_ENDS: dict[tuple[int, int], tuple[float, str, str]] = {
    (64, 100): (
        0.0,
        (
            "47 47 47 41 48 48 48 -91 -43 -11 48 -27 -9 -27 48 -2 48 -2 5 44 47 47 47 47 42 48 48 -81 "
            "5 5 47 -91 -76 -113 -78 -78 -15 30 -1 -13 1 -93 -93 -93 5 48 48 1 -36 12 12 47 -48 -42 -3 "
            "-3 -3 -3 -27 -9 -9 48 -55 48 -9"
        ),
        "+0+++++-+++++++++++-++++-++-+++---++-++++0++++++++++++++--+0-+-+-",
    ),
    (40, 60): (
        0.0,
        (
            "3 47 -6 64 72 64 64 49 49 55 55 63 45 45 45 55 45 41 41 15 -139 41 41 58 4 52 -147 52 -11 "
            "-88 -88 -88 -53 -88 -142 -139 -75 13 -188 -88 -92"
        ),
        "-++------+----------++---+-+0-------+++++",
    ),
    (64, 160431): (
        80200.0,
        (
            "13 8 13 12 13 -44 13 -112 -138 -36 13 13 13 -72 13 -37 13 -84 12 8 12 8 13 11 8 13 13 "
            "-180 13 -22 13 -76 -50 8 -66 13 -44 13 -80 1 -40 13 -120 -113 -34 13 3 13 -43 13 -53 -42 "
            "-37 13 -13 -20 -40 13 3 13 -43 12 -26 -3 -44"
        ),
        "+++++++++-++++++++++++++-++-+-++++++++0++++++++++++++++--+-++++--",
    ),
}
"""The pairs by (T, promise), at ε = 1 and δ = 1e-6 per call.

Each has a height, what each point's quality adds to it, and the sign of the neighbour's change by 1. Hill
climbs found the pairs.
"""

_LITERAL = (
    89647.0,
    (
        "16 5 -91 -55 16 -46 16 -92 -100 -55 21 3 17 18 20 17 17 -52 -73 -17 17 18 7 -18 -62 14 "
        "15 15 15 15 15 15 15 15 -9 -73 5 17 -73 -73 12 6 6 -56 12 4 11 11 4 4 -38 -38 -33 -28 "
        "-85 -85 15 15 -85 6 6 6 16 15 -211"
    ),
    "+-+-+++++0+++++++++-++++++0++0+-++++--++------++--+++++++0+---+++",
)
"""The pair for step 10 as printed, at the promise of T = 4096 and beta = 0.01.

Other points have a far lower quality.
"""
_FAR = -100_000.0


def literal_lists(top: int) -> tuple[list[float], list[float]]:
    """Return the worst known pair on {0 … top} for Rec as printed.

    `top` is at least 64.

    Examples
    --------
    >>> left, right = literal_lists(4096)
    >>> len(left), right[0] - left[0], left[65] == right[65]
    (4097, 1.0, True)
    """
    return _lists(*_LITERAL, top=top)


def steepest_lists(top: int, promise: float) -> tuple[list[float], list[float]] | None:
    """Return the pair that hill climbs found at this promise, or None.

    Examples
    --------
    >>> left, right = steepest_lists(64, 100.0)
    >>> len(left), right[0] - left[0]
    (65, 1.0)
    """
    found = _ENDS.get((top, round(promise)))
    if found is None:
        return None
    return _lists(*found, top=top)


def _lists(base: float, heights: str, moves: str, *, top: int) -> tuple[list[float], list[float]]:
    left = [base + float(height) for height in heights.split()]
    steps = {"+": 1.0, "-": -1.0, "0": 0.0}
    right = [height + steps[move] for height, move in zip(left, moves, strict=True)]
    rest = [_FAR] * (top + 1 - len(left))
    return left + rest, right + rest
