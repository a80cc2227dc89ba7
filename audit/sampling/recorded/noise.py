"""The noise in recorded runs, and the noise shift that undoes a move.

Let an output be y = f(database) + J·noise, and let f differ by `move` on another database. That database
gives the same y if the noise is shifted by some t with J·t = −move. Of all such t, the one of least privacy
loss is taken.

For Laplace, exponential and geometric noise, this loss is Σ|t|/scale. For normal noise, it is the loss of one
coordinate with scale 1 that moves by sqrt(Σ(t/σ)²).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.sampling.recorded.generator import Draw
from audit.sampling.recorded.leaves import Place, is_number
from audit.sampling.recorded.runs import Run

Floats = NDArray[np.float64]
LAPLACE: Final = frozenset({"laplace", "logistic"})
ONE_SIDED: Final = frozenset({"geometric", "exponential", "standard_exponential", "expovariate"})
NORMAL: Final = frozenset({"normal", "standard_normal", "gauss", "normalvariate"})
#: Maps a method that draws noise to the name of the parameter that sets the width of its noise; None if the
#: method has no such parameter.
_WIDTHS: Final[Mapping[str, str | None]] = {
    **dict.fromkeys(("laplace", "normal", "logistic", "gumbel", "exponential"), "scale"),
    "geometric": "p",
    "expovariate": "lambd",
    **dict.fromkeys(("gauss", "normalvariate"), "sigma"),
    **dict.fromkeys(("standard_normal", "standard_exponential"), None),
}
#: Geometric draws that are equal in all runs count as one draw if independent draws would all be equal with
#: probability below this.
_BY_CHANCE: Final = 1e-6
_VARIANCES: Final = {"laplace": 2.0, "logistic": math.pi**2 / 3.0, "gumbel": math.pi**2 / 6.0}


def scale_of(draw: Draw) -> Any:
    """Return the scale of the noise in a draw. If the draw is not noise, return None.

    Examples
    --------
    >>> scale_of(Draw("laplace", {"loc": 0.0, "scale": 2.0}, 1.0)), scale_of(Draw("random", {}, 0.5))
    (2.0, None)
    """
    if draw.method not in _WIDTHS:
        return None
    name = _WIDTHS[draw.method]
    width = 1.0 if name is None else draw.parameters[name]
    if name == "lambd":
        return 1.0 / width
    if name == "p":
        return -1.0 / np.log1p(-np.minimum(np.asarray(width, float), 1.0 - 1e-12))
    return width


@dataclass(frozen=True)
class Number:
    """One noise variable.

    It has its places among the draws, several if its value recurs. It also has its method and scale.
    """

    at: tuple[tuple[int, tuple[int, ...]], ...]
    method: str
    scale: float
    told: str

    @property
    def step(self) -> float:
        """How far to shift this variable to measure its effect on the output."""
        return 1.0 if self.method == "geometric" else self.scale * 2.0**-10

    @property
    def variance(self) -> float:
        """The variance of this variable."""
        if self.method == "geometric":
            p = -math.expm1(-1.0 / self.scale)
            return (1.0 - p) / p**2
        return _VARIANCES.get(self.method, 1.0) * self.scale**2


def numbers_of(runs: Sequence[Run], *, more: Sequence[Run] = ()) -> list[Number]:
    """Return the noise variables of the first run.

    Draws that are equal in every run count as one variable.

    Geometric draws are small whole numbers, which are often equal by chance. So they are compared in the runs
    of `more` too. They count as equal only if independent draws would be equal with probability below
    `_BY_CHANCE`.
    """
    found: dict[Any, Number] = {}
    for place, draw in enumerate(runs[0].draws):
        scale = scale_of(draw)
        if scale is None:
            continue
        scales = np.broadcast_to(np.asarray(scale, float), draw.shape)
        for index in np.ndindex(draw.shape):
            near = runs if draw.method != "geometric" else (*runs, *more)
            values = [_standard(run, place, index) for run in near]
            telling = _is_telling(draw.method, float(scales[index]), values)
            same = (draw.method, *values) if telling else (place, index)
            at = (*(found[same].at if same in found else ()), (place, index))
            if scales[index] > 0:
                told = written(draw.method, float(scales[index]))
                found[same] = Number(at, draw.method, float(scales[index]), told)
    return list(found.values())


def _is_telling(method: str, scale: float, values: Sequence[float | None]) -> bool:
    """Return whether two independent draws hardly ever agree in all runs."""
    if method != "geometric" or scale <= 0:
        return True
    p = -math.expm1(-1.0 / scale)
    return bool((p / (2.0 - p)) ** sum(value is not None for value in values) < _BY_CHANCE)


def written(method: str, scale: float) -> str:
    """Return code that draws noise of this method and scale.

    Examples
    --------
    >>> written("laplace", 2.0), written("expovariate", 0.5), written("standard_normal", 1.0)
    ('laplace(scale=2)', 'expovariate(lambd=2)', 'standard_normal')
    """
    name, width = _WIDTHS[method], scale
    if name is None:
        return method
    if name in {"p", "lambd"} and scale > 0:
        width = 1.0 / scale if name == "lambd" else -math.expm1(-1.0 / scale)
    return f"{method}({name}={width:.4g})"


def _standard(run: Run, place: int, index: tuple[int, ...]) -> float | None:
    """Return the value of a noise variable in units of its scale, or None."""
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
    """Return the change of output numbers per unit of each noise variable.

    If a number is missing, return None.

    Parameters
    ----------
    again
        A function that repeats the run. Its keyword `shift` shifts the draws.
    numbers, places
        The noise variables, and the places of the output's numbers. The result has shape (places, numbers).
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
    """Return the numbers of a run's output at these places. If one is missing or not finite, return None."""
    if not all(place in run.leaves and is_number(run.leaves[place]) for place in places):
        return None
    values = np.array([float(run.leaves[place]) for place in places])
    return values if np.isfinite(values).all() else None


def kinds_of(numbers: Sequence[Number]) -> set[str]:
    """Return the kinds of noise among the variables.

    A kind is "pure", "normal" or "other".
    """
    kinds = {number.method for number in numbers}
    return {"normal" if k in NORMAL else "pure" if k in LAPLACE | ONE_SIDED else "other" for k in kinds}


def least_shift(numbers: Sequence[Number], reach: Floats, moved: Floats, *, normal: bool) -> Floats | None:
    """Return how to shift the noise so that the outputs do not move.

    Among all such shifts, this one has the least privacy loss. Return None if no shift does this.

    Parameters
    ----------
    numbers, reach
        The noise variables, and the result of `reach_of` for them.
    moved
        How far each output number moved, shape (places,). The move must lie in the span of `reach`.
    normal
        Whether the noise is normal.
    """
    scales = np.array([number.scale for number in numbers])
    if normal:
        weighted = reach * scales
        return np.asarray(-scales * (np.linalg.pinv(weighted) @ moved))
    usable = np.array([number.method not in NORMAL for number in numbers])
    upward = np.array([number.method in ONE_SIDED for number in numbers])
    return _least(reach * scales * usable, -moved, upward, scales)


def _least(weighted: Floats, target: Floats, upward: NDArray[np.bool_], scales: Floats) -> Floats | None:
    """Return the shift t with Σ reach·t = target and the least Σ|t|/scale, or None."""
    columns = np.flatnonzero((weighted != 0.0).any(axis=0))
    rows = np.flatnonzero((weighted != 0.0).any(axis=1) | (target != 0.0))
    inner = weighted[np.ix_(rows, columns)]
    ways = product(range(len(columns)), (1.0, -1.0))
    signs = [(j, sign) for j, sign in ways if sign > 0 or not upward[columns[j]]]
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
    """Return the least shift if each draw affects only one output number.

    The shift is in units of scale. For each number, the draw with the largest effect makes the whole shift.
    If a number has no draw that fits, return None.
    """
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
    """Return the least shift from a linear programme.

    The shift is in units of scale. If no shift gives `target`, return None.
    """
    from scipy.optimize import linprog

    matrix = np.stack([sign * inner[:, j] for j, sign in signs], axis=1)
    solved = linprog(np.ones(len(signs)), A_eq=matrix, b_eq=target, bounds=(0, None), method="highs")
    if not solved.success:
        return None
    units = np.zeros(inner.shape[1])
    for (j, sign), by in zip(signs, np.asarray(solved.x, float).tolist(), strict=True):
        units[j] += sign * by
    return units
