"""What moves on the same random draws, and the least shift of the draws that undoes the move.

If an output is y = f(database) + J·noise, then y is as likely on the other database as the shifted noise is:
with the least weighted shift t, J·t = move, the loss of Laplace, exponential and geometric noise is
Σ|t|/scale, and normal noise is that of one coordinate with move sqrt(Σ(t/σ)²).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.faults.asked import TIGHT
from audit.faults.leaves import Place, is_number
from audit.faults.scene import LEFT, RIGHT, Force, Run, Scene, scale_of

Floats = NDArray[np.float64]
LAPLACE: Final = frozenset({"laplace", "logistic"})
ONE_SIDED: Final = frozenset({"geometric", "exponential", "standard_exponential", "expovariate"})
NORMAL: Final = frozenset({"normal", "standard_normal", "gauss", "normalvariate"})
#: Numbers of noise beyond which a run is not taken apart.
MOST_NUMBERS: Final = 256
_VARIANCES: Final = {
    "laplace": 2.0,
    "logistic": math.pi**2 / 3.0,
    "gumbel": math.pi**2 / 6.0,
}


@dataclass(frozen=True)
class Number:
    """One number of noise: where it is drawn, its kind and scale, and copies that have the same value."""

    at: tuple[tuple[int, tuple[int, ...]], ...]
    method: str
    scale: float
    told: str

    @property
    def step(self) -> float:
        """How far it is moved to see what it reaches."""
        return 1.0 if self.method == "geometric" else self.scale * 2.0**-10

    @property
    def variance(self) -> float:
        """Its variance."""
        if self.method == "geometric":
            p = -math.expm1(-1.0 / self.scale)
            return (1.0 - p) / p**2
        return _VARIANCES.get(self.method, 1.0) * self.scale**2


def numbers_of(runs: Sequence[Run]) -> list[Number]:
    """Return the numbers of noise of the first of some runs; those that are equal in every run are one."""
    found: dict[Any, Number] = {}
    for place, draw in enumerate(runs[0].draws):
        scale = scale_of(draw)
        if scale is None:
            continue
        scales = np.broadcast_to(np.asarray(scale, float), draw.shape)
        for index in np.ndindex(draw.shape):
            values = [_standard(run, place, index) for run in runs]
            same = (draw.method, *values) if draw.method != "geometric" else (place, index)
            told = f"{draw.method}(scale={_short(scales[index])})"
            if draw.method == "geometric":
                told = f"geometric(p={_short(np.broadcast_to(draw.parameters['p'], draw.shape)[index])})"
            at = (*(found[same].at if same in found else ()), (place, index))
            if scales[index] > 0:
                found[same] = Number(at, draw.method, float(scales[index]), told)
    return list(found.values())


def _short(value: Any) -> str:
    return f"{float(value):.4g}"


def _standard(run: Run, place: int, index: tuple[int, ...]) -> float | None:
    """Return a number of noise in units of its scale; None where the run did not draw it."""
    if place >= len(run.draws) or scale_of(run.draws[place]) is None:
        return None
    draw = run.draws[place]
    try:
        value = float(np.asarray(draw.values)[index])
        scale = float(np.broadcast_to(np.asarray(scale_of(draw), float), draw.shape)[index])
    except (IndexError, ValueError):
        return None
    loc = draw.parameters.get("loc", draw.parameters.get("mu", 0.0))
    centre = float(np.broadcast_to(np.asarray(loc, float), draw.shape)[index])
    return round((value - centre) / scale, 9) if scale > 0 else None


def reach_of(again: Callable[..., Run], numbers: Sequence[Number], places: Sequence[Place]) -> Floats | None:
    """Return how each number of the output follows each number of noise; None where one is not always there.

    Parameters
    ----------
    again
        Gives the run once more, its draws shifted by `shift`.
    numbers, places
        The noise and the numbers of the output; the shape is (places, numbers).
    """
    ways = np.zeros((len(places), len(numbers)))
    base = values_at(again(), places)
    if base is None:
        return None
    for j, number in enumerate(numbers):
        moved = values_at(again(shift=dict.fromkeys(number.at, number.step)), places)
        if moved is None:
            return None
        ways[:, j] = (moved - base) / number.step
    ways[np.abs(ways) < 1e-7] = 0.0
    return ways


def values_at(run: Run, places: Sequence[Place]) -> Floats | None:
    """Return the numbers of a run's output at some places; None if there are none, or not finite ones."""
    if not all(place in run.leaves and is_number(run.leaves[place]) for place in places):
        return None
    values = np.array([float(run.leaves[place]) for place in places])
    return values if np.isfinite(values).all() else None


@dataclass(eq=False)
class Move:
    """What moves between the databases on the draws of one seed.

    Parameters
    ----------
    places
        The numbers of the output.
    moved
        Right minus left, shape (places,).
    numbers
        The noise that is drawn on the right.
    reach
        How the output follows it there, shape (places, numbers).
    mixed
        Whether draws that are no noise were made as well: what they decide may hide a part of the privacy.
    """

    scene: Scene
    seed: int
    force: Force | None
    places: list[Place]
    moved: Floats
    numbers: list[Number]
    reach: Floats
    mixed: bool

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
    def is_shared(self) -> bool:
        """Whether one draw reaches several numbers of the output, one of them moving."""
        several = (self.reach != 0.0).sum(axis=0) > 1
        return bool((several & (self.reach[self.moving] != 0.0).any(axis=0)).any())

    @cached_property
    def kinds(self) -> set[str]:
        """The kinds of noise that reach what moves."""
        reaching = (self.reach[self.moving] != 0.0).any(axis=0)
        kinds = {number.method for number, near in zip(self.numbers, reaching, strict=True) if near}
        return {"normal" if k in NORMAL else "pure" if k in LAPLACE | ONE_SIDED else "other" for k in kinds}

    @cached_property
    def shift(self) -> Floats | None:
        """The least weighted shift of the noise on the right that gives the left output; None if unknown."""
        if self.is_outside or len(self.kinds) != 1 or "other" in self.kinds:
            return None
        scales = np.array([number.scale for number in self.numbers])
        if "normal" in self.kinds:
            weighted = self.reach * scales
            return np.asarray(-scales * (np.linalg.pinv(weighted) @ self.moved))
        usable = np.array([number.method not in NORMAL for number in self.numbers])
        upward = np.array([number.method in ONE_SIDED for number in self.numbers])
        return _least(self.reach * scales * usable, -self.moved, upward, scales)

    @cached_property
    def spent(self) -> Floats:
        """What each number of noise spends of ε (or, of normal noise, its move in standard deviations)."""
        scales = np.array([number.scale for number in self.numbers])
        return np.zeros(len(scales)) if self.shift is None else np.abs(self.shift / scales)

    @property
    def cost(self) -> float:
        """The loss of pure noise, or the move of normal noise in standard deviations."""
        return float(np.sqrt((self.spent**2).sum()) if "normal" in self.kinds else self.spent.sum())

    @cached_property
    def is_verified(self) -> bool:
        """Whether the right, on shifted draws, gives what the left gives."""
        if self.shift is None:
            return False
        shift = {
            at: by for number, by in zip(self.numbers, self.shift, strict=True) if by for at in number.at
        }
        shift = {at: float(np.rint(by)) if self._whole(at) else float(by) for at, by in shift.items()}
        again = values_at(self.scene.run(RIGHT, self.seed, force=self.force, shift=shift), self.places)
        left = values_at(self.scene.run(LEFT, self.seed, force=self.force), self.places)
        if again is None or left is None:
            return False
        return bool(np.abs(again - left).max(initial=0.0) <= 1e-6 * max(1.0, float(np.abs(self.moved).max())))

    def _whole(self, at: tuple[int, tuple[int, ...]]) -> bool:
        return any(at in number.at and number.method == "geometric" for number in self.numbers)


def _least(weighted: Floats, target: Floats, upward: NDArray[np.bool_], scales: Floats) -> Floats | None:
    """Return the t with the least Σ|t|/scale for which Σ reach·t is the target; None if there is none."""
    columns = np.flatnonzero((weighted != 0.0).any(axis=0))
    rows = np.flatnonzero((weighted != 0.0).any(axis=1) | (target != 0.0))
    inner = weighted[np.ix_(rows, columns)]
    signs = [
        (j, sign) for j in range(len(columns)) for sign in (1.0, -1.0) if sign > 0 or not upward[columns[j]]
    ]
    if not signs:
        return None
    if inner.shape[1] == np.linalg.matrix_rank(inner) and not upward[columns].any():
        units: Floats | None = np.asarray(np.linalg.lstsq(inner, target[rows], rcond=None)[0])
    elif ((inner != 0.0).sum(axis=0) <= 1).all():
        units = _row_by_row(inner, target[rows], upward[columns])
    else:
        units = _programmed(inner, target[rows], signs)
    if units is None:
        return None
    found = np.zeros(len(scales))
    found[columns] = units * scales[columns]
    return found


def _row_by_row(inner: Floats, target: Floats, upward: NDArray[np.bool_]) -> Floats | None:
    """Return the cheapest draw for each row, where no draw reaches two rows."""
    units = np.zeros(inner.shape[1])
    for row, wanted in zip(inner, target, strict=True):
        if wanted:
            fits = np.where((row * wanted > 0) | ((row != 0) & ~upward), np.abs(row), 0.0)
            best = int(fits.argmax())
            if not fits[best]:
                return None
            units[best] = wanted / row[best]
    return units


def _programmed(inner: Floats, target: Floats, signs: Sequence[tuple[int, float]]) -> Floats | None:
    """Return the least sum of absolute values by a linear programme."""
    from scipy.optimize import linprog

    matrix = np.stack([sign * inner[:, j] for j, sign in signs], axis=1)
    solved = linprog(np.ones(len(signs)), A_eq=matrix, b_eq=target, bounds=(0, None), method="highs")
    if not solved.success:
        return None
    units = np.zeros(inner.shape[1])
    for (j, sign), by in zip(signs, np.asarray(solved.x, float).tolist(), strict=True):
        units[j] += sign * by
    return units


def move_of(scene: Scene, seed: int, force: Force | None = None, *, right: str = RIGHT) -> Move | None:
    """Return what moves on the draws of one seed; None if the outputs or the draws are not of one form."""
    runs = {side: [scene.run(side, s, force=force) for s in (seed, seed + 1000)] for side in (LEFT, right)}
    first, second = runs[LEFT][0], runs[right][0]
    if first.calls != second.calls or first.leaves.keys() != second.leaves.keys():
        return None
    numeric = [p for p, leaf in second.leaves.items() if is_number(leaf) and is_number(first.leaves[p])]
    if any(first.leaves[p] != second.leaves[p] for p in second.leaves.keys() - set(numeric)):
        return None
    values = values_at(first, numeric), values_at(second, numeric)
    numbers = numbers_of(runs[right])
    if values[0] is None or values[1] is None or not numeric or len(numbers) > MOST_NUMBERS:
        return None
    reach = reach_of(partial(scene.run, right, seed, force=force), numbers, numeric)
    if reach is None:
        return None
    mixed = any(scale_of(draw) is None for draw in second.draws)
    return Move(scene, seed, force, numeric, values[1] - values[0], numbers, reach, mixed)


def delta_of_normal(epsilon: float, move: float) -> float:
    """Return the δ at ε of normal noise of standard deviation 1 whose centre moves.

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
    """Return the largest move, in standard deviations, that normal noise covers at (ε, δ).

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
