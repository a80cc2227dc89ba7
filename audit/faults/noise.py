"""Rules about noise whose width reveals the database."""

from collections import Counter
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.faults.asked import SIDES, TIGHT, Asked, draw_words
from audit.faults.outputs import common_places, is_steady
from audit.faults.scene import Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.leaves import Place, is_number
from audit.sampling.recorded.noise import numbers_of, reach_of, scale_of
from audit.values.canonical import same
from audit.words import fault_words as words

#: Number of seeds on which the noise is measured.
_SEEDS: Final = 3


def scales_from_data(scene: Scene, _: Asked) -> Fault | None:
    """Return the fault if the width of some draw of noise differs between sides."""
    runs = [scene.plain(side) for side in SIDES]
    if any(run.calls != runs[0][0].calls for side in runs for run in side):
        return None
    for k, draw in enumerate(runs[0][0].draws):
        named = draw.parameters if scale_of(draw) is not None else ()
        for name in (each for each in _WIDTHS if each in named):
            left, right = ([run.draws[k].parameters[name] for run in side] for side in runs)
            if is_steady(left) and is_steady(right) and not same(left[0], right[0]):
                said = words.scales(draw.method, name, left[0], right[0])
                return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, said)
    return None


#: Parameters of draws that set the width of the noise.
_WIDTHS: Final = ("scale", "sigma", "p", "lambd")


def noise_from_data(scene: Scene, _: Asked) -> Fault | None:
    """Return the fault if the spread of an output's number differs between sides."""
    runs = [scene.plain(side) for side in SIDES]
    places = [
        p for p in common_places(scene) if all(is_number(run.leaves[p]) for side in runs for run in side)
    ]
    if not places or any(len(run.draws) != len(side[0].draws) for side in runs for run in side):
        return None
    reaches = [[_weighted(scene, side, seed, places) for seed in range(_SEEDS)] for side in SIDES]
    if any(reach is None for side in reaches for reach in side):
        return None
    left, right = (np.array([np.linalg.norm(reach, axis=1) for reach in side]) for side in reaches)
    most = np.maximum(left.max(axis=0), right.max(axis=0))
    steady = (np.ptp(left, axis=0) <= TIGHT * most) & (np.ptp(right, axis=0) <= TIGHT * most)
    for i in map(int, np.flatnonzero(steady & (np.abs(left[0] - right[0]) > _APART * most))):
        if _has_its_own(i, *(side[0] for side in reaches)):
            continue
        spread = left[0][i], right[0][i]
        if all(spread) or _is_silent(scene, SIDES[spread.index(0.0)], places[i]):
            return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, _of_spread(scene, places[i], *spread))
    return None


#: The spreads on the two sides count as different if their relative difference is larger than this.
_APART: Final = 1e-4


def _is_silent(scene: Scene, side: str, place: Place) -> bool:
    """Return whether a number is equal in all runs of a side, extreme ones too."""
    return is_steady([run.leaves.get(place) for run in (*scene.plain(side), *scene.extreme(side))])


def _weighted(scene: Scene, side: str, seed: int, places: list[Place]) -> Any:
    """Return how far a standard deviation of each draw moves each number, or None.

    Rows are numbers and columns are draws.
    """
    run = scene.run(side, seed)
    numbers = numbers_of([run, scene.run(side, seed + 1000)])
    reach = reach_of(partial(scene.run, side, seed), numbers, places)
    return None if reach is None else reach * np.sqrt([number.variance for number in numbers])


def _has_its_own(i: int, left: NDArray[np.float64], right: NDArray[np.float64]) -> bool:
    """Return whether the i-th number has noise of its own.

    This is noise that no earlier number has and that is equally wide on both databases. If there is such
    noise, the databases differ only in how they use the noise of earlier numbers. An example is gradient
    descent, whose next step depends on the data and on all steps before.
    """
    if left.shape != right.shape:
        return False
    fresh = ~(left[:i].any(axis=0) | right[:i].any(axis=0)) & (left[i] != 0.0)
    return bool((fresh & np.isclose(left[i], right[i], rtol=_APART, atol=0.0)).any())


def _of_spread(scene: Scene, place: Place, left: float, right: float) -> str:
    counts = [Counter(draw_words(draw) for draw in scene.plain(side)[0].draws) for side in SIDES]
    if counts[0] != counts[1]:
        return words.counted_draws(*counts)
    return words.spread(place, left, right)
