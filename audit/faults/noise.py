"""Rules about noise whose width tells the databases apart."""

from collections import Counter
from functools import partial
from typing import Any, Final

import numpy as np

from audit.faults.asked import SIDES, TIGHT, Asked, draw_words
from audit.faults.outputs import common_places
from audit.faults.scene import Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.leaves import Place, is_number
from audit.sampling.recorded.noise import numbers_of, reach_of, scale_of
from audit.values.canonical import same
from audit.words import fault_words as words

#: Seeds on which the noise is measured.
_SEEDS: Final = 3


def scales_from_data(scene: Scene, _: Asked) -> Fault | None:
    """Compare the parameters of the draws: steady on each side, and not the same on both."""
    runs = [scene.plain(side) for side in SIDES]
    if any(run.calls != runs[0][0].calls for side in runs for run in side):
        return None
    for k, draw in enumerate(runs[0][0].draws):
        named = draw.parameters if scale_of(draw) is not None else ()
        for name in (each for each in _WIDTHS if each in named):
            left, right = ([run.draws[k].parameters[name] for run in side] for side in runs)
            steady = all(same(each, told[0]) for told in (left, right) for each in told)
            if steady and not same(left[0], right[0]):
                said = words.scales(draw.method, name, left[0], right[0])
                return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, said)
    return None


#: Parameters that say how wide noise is.
_WIDTHS: Final = ("scale", "sigma", "p", "lambd")


def noise_from_data(scene: Scene, _: Asked) -> Fault | None:
    """Compare the noise in each number of the output: multiplied by something else, or of other draws."""
    runs = [scene.plain(side) for side in SIDES]
    places = [
        p for p in common_places(scene) if all(is_number(run.leaves[p]) for side in runs for run in side)
    ]
    if not places or any(len(run.draws) != len(side[0].draws) for side in runs for run in side):
        return None
    found = [[_spreads(scene, side, seed, places) for seed in range(_SEEDS)] for side in SIDES]
    if any(spread is None for side in found for spread in side):
        return None
    left, right = (np.array(side) for side in found)
    most = np.maximum(left.max(axis=0), right.max(axis=0))
    steady = (np.ptp(left, axis=0) <= TIGHT * most) & (np.ptp(right, axis=0) <= TIGHT * most)
    for i in np.flatnonzero(steady & (np.abs(left[0] - right[0]) > _APART * most)):
        spread = left[0][i], right[0][i]
        if all(spread) or _is_silent(scene, SIDES[spread.index(0.0)], places[i]):
            return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, _of_spread(scene, places[i], *spread))
    return None


#: Relative difference of two standard deviations.
_APART: Final = 1e-4


def _is_silent(scene: Scene, side: str, place: Place) -> bool:
    """Whether no draw of a side changes a number of the output, however far it is pushed."""
    first = scene.plain(side)[0].leaves[place]
    runs = (*scene.plain(side), *scene.extreme(side))
    return all(same(run.leaves.get(place), first) for run in runs)


def _spreads(scene: Scene, side: str, seed: int, places: list[Place]) -> Any:
    """Return the standard deviation that recorded noise gives each number of the output; None if unknown."""
    run = scene.run(side, seed)
    numbers = numbers_of([run, scene.run(side, seed + 1000)])
    reach = reach_of(partial(scene.run, side, seed), numbers, places)
    if reach is None or not numbers:
        return None if reach is None else np.zeros(len(places))
    return np.sqrt(reach**2 @ np.array([number.variance for number in numbers]))


def _of_spread(scene: Scene, place: Place, left: float, right: float) -> str:
    counts = [Counter(draw_words(draw) for draw in scene.plain(side)[0].draws) for side in SIDES]
    if counts[0] != counts[1]:
        return words.counted_draws(*counts)
    return words.spread(place, left, right)
