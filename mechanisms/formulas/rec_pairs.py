"""Where climbs from random pairs of qualities ended on which Rec loses most: plain lists, rounded heights."""

from __future__ import annotations

__all__ = ["steepest_lists"]

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
"""By T and promise, at ε = 1 and δ = 1e-6 a call: a height, how far each point lies above it, how it moves.

From 24 random pairs each; where Lemma 2's promise and δ are used, also from the pair at promise 100.
"""


def steepest_lists(top: int, promise: float) -> tuple[list[float], list[float]] | None:
    """Return the neighbouring qualities on {0 … top} where the climb ended; None if none was made.

    Examples
    --------
    >>> left, right = steepest_lists(64, 100.0)
    >>> len(left), right[0] - left[0]
    (65, 1.0)
    """
    found = _ENDS.get((top, round(promise)))
    if found is None:
        return None
    base, heights, moves = found
    left = [base + float(height) for height in heights.split()]
    steps = {"+": 1.0, "-": -1.0, "0": 0.0}
    return left, [height + steps[move] for height, move in zip(left, moves, strict=True)]
