"""The rule about noise whose width tells the databases apart."""

from collections import Counter
from functools import partial
from typing import Any, Final

import numpy as np

from audit.faults.asked import SIDES, TIGHT, Asked, draw_words
from audit.faults.leaves import Place, is_number
from audit.faults.moves import numbers_of, reach_of, values_at
from audit.faults.outputs import common_places
from audit.faults.scene import LEFT, RIGHT, Scene, scale_of
from audit.results.fault import Fault, FaultKind
from audit.values.canonical import same
from audit.words import fault_words as words

#: Seeds on which the noise is measured.
_SEEDS: Final = 3


def noise_from_data(scene: Scene, _: Asked) -> Fault | None:
    """Compare the noise in each number of the output: another scale, or other draws."""
    places = [
        p for p in common_places(scene) if all(is_number(r.leaves[p]) for s in SIDES for r in scene.plain(s))
    ]
    if not places or any(
        len(run.draws) != len(scene.plain(side)[0].draws) for side in SIDES for run in scene.plain(side)
    ):
        return None
    found = {side: [_spreads(scene, side, seed, places) for seed in range(_SEEDS)] for side in SIDES}
    if any(spread is None for side in SIDES for spread in found[side]):
        return None
    left, right = (np.array(found[side]) for side in SIDES)
    scale = np.maximum(left.max(axis=0), right.max(axis=0))
    steady = (np.ptp(left, axis=0) <= TIGHT * scale) & (np.ptp(right, axis=0) <= TIGHT * scale)
    differ = steady & (np.abs(left[0] - right[0]) > 1e-4 * scale)
    for i in np.flatnonzero(differ):
        if min(left[0][i], right[0][i]) == 0.0 and not _is_silent(
            scene, LEFT if left[0][i] == 0 else RIGHT, places[i]
        ):
            continue
        return Fault(
            FaultKind.DATA_DEPENDENT_NOISE, None, _of_spread(scene, places[i], left[0][i], right[0][i])
        )
    return None


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
    if reach is None or values_at(run, places) is None:
        return None
    return (
        np.sqrt(reach**2 @ np.array([number.variance for number in numbers]))
        if numbers
        else np.zeros(len(places))
    )


def _of_spread(scene: Scene, place: Place, left: float, right: float) -> str:
    runs = [scene.plain(side)[0] for side in SIDES]
    if runs[0].calls == runs[1].calls:
        for a, b in zip(runs[0].draws, runs[1].draws, strict=True):
            for name in ("scale", "sigma", "p", "lambd"):
                if (
                    scale_of(a) is not None
                    and name in a.parameters
                    and not same(a.parameters[name], b.parameters[name])
                ):
                    return words.scales(a.method, name, a.parameters[name], b.parameters[name])
        return words.spread(place, left, right)
    counts = [Counter(draw_words(draw) for draw in run.draws) for run in runs]
    return words.counted_draws(*counts) if counts[0] != counts[1] else words.spread(place, left, right)
