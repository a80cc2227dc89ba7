"""Neighbouring databases of two points."""

from __future__ import annotations

from typing import Any

__all__ = ["LOOSE", "swaps"]

LOOSE: dict[str, Any] = {"epsilon": 8.0, "delta": 0.1, "alpha": 0.5, "beta": 0.5}
"""Parameters at which choosing is private on few records, so that all counts can be listed."""


def swaps(*points: int, size: int, many: int) -> list[tuple[list[int], list[int]]]:
    """Return up to `many` pairs of neighbouring databases of two points.

    If many = size, these are all such pairs of multisets.

    Examples
    --------
    >>> swaps(0, 1, size=2, many=2)
    [([1, 1], [0, 1]), ([0, 1], [0, 0])]
    """
    first, second = points
    heads = dict.fromkeys(size * i // many for i in range(many))
    return [
        ([first] * head + [second] * (size - head), [first] * (head + 1) + [second] * (size - head - 1))
        for head in heads
    ]
