"""The law of the solution space of randomly chosen equations.

A space is a number of 2^d bits; bit r is set if r solves the equations.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from learners.parity.systems import as_tuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from learners.parity.examples import BitExamples

__all__ = ["half_space", "law_is_feasible", "member_law", "parities", "space_law"]

_MOST_VARIABLES = 12
_MOST_STEPS = 6_000_000
_CHUNK = 2**24


def law_is_feasible(dimension: int, size: int) -> bool:
    """Return whether the law of the solution space takes only seconds.

    Examples
    --------
    >>> law_is_feasible(8, 20), law_is_feasible(6, 100_000), law_is_feasible(8, 1000)
    (True, True, False)
    """
    if dimension > _MOST_VARIABLES:
        return False
    kinds = min(size, 2 ** (dimension + 1))
    spanned = sum(comb(kinds, rank) for rank in range(min(kinds, dimension) + 1))
    return bool(kinds * (1 + min(spanned, _affine_subspaces(dimension))) <= _MOST_STEPS)


def _affine_subspaces(dimension: int) -> int:
    """Return the number of non-empty affine subspaces of {0, 1}^dimension."""
    linear = [1]  # of dimension k, by Pascal's rule for Gaussian binomials
    for _ in range(dimension):
        linear = [a + 2**k * b for k, (a, b) in enumerate(pairwise([0, *linear, 0]))]
    return sum(count << dimension - k for k, count in enumerate(linear))


def space_law(examples: BitExamples, *, inclusion: float) -> dict[int, float]:
    """Return the law of the solution space of randomly chosen examples.

    Examples
    --------
    >>> from learners.parity.examples import examples_of
    >>> one = examples_of([((1,), 1)], dimension=1, owner="ParityLearner")
    >>> space_law(one, inclusion=0.25)
    {3: 0.75, 2: 0.25}
    """
    dimension = examples.points.shape[1]
    kinds = Counter(zip(map(tuple, examples.points.tolist()), examples.labels.tolist(), strict=True))
    law = {(1 << 2**dimension) - 1: 1.0}
    for (point, label), copies in kinds.items():
        half, out = half_space(point, label), (1.0 - inclusion) ** copies
        following = {space: out * mass for space, mass in law.items()}
        for space, mass in law.items():
            smaller = space & half
            following[smaller] = following.get(smaller, 0.0) + (1.0 - out) * mass
        law = following
    return law


def member_law(law: dict[int, float], dimension: int) -> NDArray[np.float64]:
    """Return the law of a uniform solution, shape (2^d,)."""
    width = max(1, 2**dimension // 8)
    spaces = [(space, mass) for space, mass in law.items() if space]
    total = np.zeros(2**dimension)
    step = max(1, _CHUNK >> dimension)
    for start in range(0, len(spaces), step):
        block = spaces[start : start + step]
        packed = np.frombuffer(b"".join(space.to_bytes(width, "little") for space, _ in block), np.uint8)
        bits = np.unpackbits(packed.reshape(len(block), width), axis=1, bitorder="little")
        total += _shares(block) @ bits[:, : 2**dimension].astype(np.float64)
    return total


def half_space(point: Iterable[int], label: int) -> int:
    """Return the space of all r with ⟨point, r⟩ = label.

    The first bit of r is the lightest.

    Examples
    --------
    >>> bin(half_space((1, 0), 1)), bin(half_space((1, 1), 0))
    ('0b1010', '0b1001')
    """
    odd, size = 0, 1  # bit r: whether ⟨point, r⟩ is odd, for r of the variables so far
    for bit in point:
        half = odd ^ ((1 << size) - 1) if bit else odd
        odd, size = odd | half << size, 2 * size
    return odd if label else odd ^ ((1 << size) - 1)


def parities(dimension: int) -> list[tuple[int, ...]]:
    """Return every r as bits, in the order of `member_law`.

    Examples
    --------
    >>> parities(2)
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    return [as_tuple(number, dimension) for number in range(2**dimension)]


def _shares(block: list[tuple[int, float]]) -> NDArray[np.float64]:
    return np.array([mass / space.bit_count() for space, mass in block])
