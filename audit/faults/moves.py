"""How far the output moves between databases on the same draws.

The least shift of the noise that undoes the move is found here. `sampling.recorded.noise` derives the cost of
a shift.
"""

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from audit.faults.asked import TIGHT
from audit.faults.scene import LEFT, RIGHT, Force, Scene
from audit.sampling.recorded import noise
from audit.sampling.recorded.leaves import Place, is_number

#: Runs with more noise variables than this are not analysed.
MOST_NUMBERS: Final = 512


@dataclass(eq=False)
class Move:
    """The move of the output from the left database to the right one.

    Both databases are run on the draws of one seed.

    Parameters
    ----------
    places
        The places of the numbers in the output.
    moved
        The output on the right minus the output on the left, shape (places,).
    numbers
        The noise variables that are drawn on the right.
    reach
        The derivative of the output with respect to the noise on the right, shape (places, numbers).
    others
        The draws that are not noise, such as a sample of the records. These may add privacy that is not
        counted here.
    """

    scene: Scene
    seed: int
    force: Force | None
    places: list[Place]
    moved: noise.Floats
    numbers: list[noise.Number]
    reach: noise.Floats
    others: list[str]

    @property
    def moving(self) -> NDArray[np.bool_]:
        """Which numbers of the output move."""
        return np.abs(self.moved) > TIGHT * max(1.0, float(np.abs(self.moved).max(initial=0.0)))

    @cached_property
    def is_outside(self) -> bool:
        """Whether no shift of the draws undoes the move."""
        if not self.numbers:
            return bool(self.moving.any())
        found = np.linalg.lstsq(self.reach, self.moved, rcond=None)[0]
        return bool(np.abs(self.reach @ found - self.moved).max() > 1e-5 * np.abs(self.moved).max())

    @property
    def shared(self) -> NDArray[np.intp]:
        """The noise variables that affect several numbers, at least one of which moves."""
        several = (self.reach != 0.0).sum(axis=0) > 1
        return np.flatnonzero(several & (self.reach[self.moving] != 0.0).any(axis=0))

    @cached_property
    def kinds(self) -> set[str]:
        """The kinds of noise that affect the moving numbers of the output."""
        reaching = (self.reach[self.moving] != 0.0).any(axis=0)
        return noise.kinds_of([number for number, near in zip(self.numbers, reaching, strict=True) if near])

    @cached_property
    def shift(self) -> noise.Floats | None:
        """The least noise shift on the right that gives the left output, or None."""
        if self.is_outside or len(self.kinds) != 1 or "other" in self.kinds:
            return None
        return noise.least_shift(self.numbers, self.reach, self.moved, normal="normal" in self.kinds)

    @cached_property
    def spent(self) -> noise.Floats:
        """The ε that each noise variable spends.

        For normal noise: how far each variable is shifted, in standard deviations.
        """
        scales = np.array([number.scale for number in self.numbers])
        return np.zeros(len(scales)) if self.shift is None else np.abs(self.shift / scales)

    @property
    def cost(self) -> float:
        """The total ε spent.

        For normal noise: the length of the shift that the noise needs, in standard deviations.
        """
        return float(np.sqrt((self.spent**2).sum()) if "normal" in self.kinds else self.spent.sum())

    @cached_property
    def is_verified(self) -> bool:
        """Whether the right database, on shifted draws, gives the left output."""
        if self.shift is None:
            return False
        shift = {
            at: float(np.rint(by) if number.method == "geometric" else by)
            for number, by in zip(self.numbers, self.shift, strict=True)
            if by
            for at in number.at
        }
        again = noise.values_at(self.scene.run(RIGHT, self.seed, force=self.force, shift=shift), self.places)
        left = noise.values_at(self.scene.run(LEFT, self.seed, force=self.force), self.places)
        if again is None or left is None:
            return False
        return bool(np.abs(again - left).max(initial=0.0) <= 1e-6 * max(1.0, float(np.abs(self.moved).max())))


def move_of(scene: Scene, seed: int, force: Force | None = None) -> Move | None:
    """Return how the output moves between the databases, on the draws of one seed.

    Return None if this cannot be measured, for example because outputs or draws differ in form between the
    sides.
    """
    runs = {side: [scene.run(side, s, force=force) for s in (seed, seed + 1000)] for side in (LEFT, RIGHT)}
    first, second = runs[LEFT][0], runs[RIGHT][0]
    if first.calls != second.calls or first.leaves.keys() != second.leaves.keys():
        return None
    numeric = [p for p, leaf in second.leaves.items() if is_number(leaf) and is_number(first.leaves[p])]
    if any(first.leaves[p] != second.leaves[p] for p in second.leaves.keys() - set(numeric)):
        return None
    values = noise.values_at(first, numeric), noise.values_at(second, numeric)
    # Forced coins may lead to other draws than those of the plain runs.
    several = force is None and sum(np.size(d.values) for d in second.draws if d.method == "geometric") > 1
    numbers = noise.numbers_of(runs[RIGHT], more=scene.plain(RIGHT) if several else ())
    if values[0] is None or values[1] is None or not numeric or len(numbers) > MOST_NUMBERS:
        return None
    moved = values[1] - values[0]
    still = [place for place, by in zip(numeric, moved, strict=True) if not by]
    if any(first.leaves[place] != second.leaves[place] for place in still):  # whole numbers beyond 2^53
        return None
    reach = noise.reach_of(partial(scene.run, RIGHT, seed, force=force), numbers, numeric)
    if reach is None:
        return None
    others = [draw.method for draw in second.draws if noise.scale_of(draw) is None]
    return Move(scene, seed, force, numeric, moved, numbers, reach, others)


def delta_of_normal(epsilon: float, move: float) -> float:
    """Return the δ at ε of standard normal noise whose centre moves by `move`.

    Examples
    --------
    >>> round(delta_of_normal(1.0, 1.0), 4)
    0.1269
    """
    if move <= 0:
        return 0.0
    near, far = (0.5 * math.erfc((epsilon / move + side) / math.sqrt(2.0)) for side in (-move / 2, move / 2))
    return near - (math.exp(min(epsilon, 700.0)) * far if far else 0.0)


def covered_by_normal(epsilon: float, delta: float) -> float:
    """Return the largest move that normal noise covers at (ε, δ).

    The move is in standard deviations.

    Examples
    --------
    >>> round(covered_by_normal(1.0, 1e-5), 3)
    0.268
    """
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if delta_of_normal(epsilon, middle) <= delta else (low, middle)
    return low
