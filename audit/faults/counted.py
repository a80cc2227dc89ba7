"""Faults of subjects with few different outputs.

They are found by the probability of each output. If one uniform draw decides a run, the probabilities come
from a grid of its values. Otherwise they come from counts of runs.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np

from audit.faults.asked import Asked, draw_words
from audit.faults.scene import LEFT, RIGHT, Force, Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.noise import scale_of
from audit.sampling.recorded.runs import Run
from audit.values.canonical import key
from audit.values.wording import shown
from audit.words import fault_words as words

#: Number of grid points tried for one uniform draw, and number of runs counted on each side.
SWEPT: Final = 1_024
COUNTED: Final = 3_000
#: The outputs of a subject are counted only if at most this many of them are distinct.
_FEW: Final = 40
#: Maximum number of changes of the output that are located in the range of one uniform draw.
_MOST_STEPS: Final = 200
#: If one side always gives an output, and none of this many runs on the other side gives it, the output
#: counts as impossible there.
_MORE: Final = 1_000
#: p must exceed the limit of the claim by this many standard errors.
_ERRORS: Final = 4.0


def too_likely(scene: Scene, asked: Asked) -> Fault | None:
    """Return the fault if one output is likelier on one side than the claim allows.

    Only a subject with few different outputs is checked.
    """
    plain = [run for side in (LEFT, RIGHT) for run in scene.plain(side)]
    if len({_key(run) for run in plain}) > _FEW or any(not run.draws for run in plain):
        return None
    runs, slack = _runs(scene)
    found = _worst(runs, _key, asked, slack)
    if found is None:
        return None
    side, worst, p, q = found
    parts = _parts([run.output for run in plain])
    alone = not parts or any(_worst(runs, partial(_key_of_part, i), asked, slack) for i in parts)
    output = shown(next(run.output for run in runs[side] if _key(run) == worst), 60)
    if not alone and (shared := _shared(scene)) is not None:
        said = words.one_for_all([(i,) for i in parts], draw_words(scene.plain(RIGHT)[0].draws[shared]))
        return Fault(FaultKind.NOISE_REUSED, None, said)
    if q > 0.0:
        likely = Fault(FaultKind.NOISE_TOO_SMALL, None, words.likely(output, p, q, asked.at, side))
        return likely if alone else None
    other = LEFT if side == RIGHT else RIGHT
    never = is_out_of_reach(scene, other, lambda run: _key(run) == worst, certain=False)
    said = words.possible(output, 0, side, p, asked.delta)
    return Fault(FaultKind.DATA_DEPENDENT_DOMAIN, None, said) if never else None


def _parts(outputs: Sequence[Any]) -> range:
    """Return the indices of the parts of the outputs.

    Unless all outputs are sequences of one length, the range is empty.
    """
    lengths = {len(each) if isinstance(each, tuple | list | np.ndarray) else 0 for each in outputs}
    [length] = lengths if len(lengths) == 1 else [0]
    return range(length if length > 1 else 0)


def _key_of_part(i: int, run: Run) -> Hashable:
    output = run.output
    return key(output[i]) if isinstance(output, tuple | list | np.ndarray) and i < len(output) else None


def _shared(scene: Scene) -> int | None:
    """Return the place of a draw that several parts of the output share, or None.

    It is the place among the draws of the first run on the right. A draw counts as shared if every run has
    only this draw, or if every run draws one value twice. Two equal floats count at any places. Whole numbers
    may be equal by chance. So they count only if the same two places hold equal values in every run.
    """
    runs = [run for side in (RIGHT, LEFT) for run in scene.plain(side)]
    if all(len(run.draws) == 1 and not run.draws[0].shape for run in runs):
        return 0
    repeated = [_repeated(run) for run in runs]
    if None not in repeated:
        return repeated[0]
    first = [_seen(runs, place) for place in range(min(len(run.draws) for run in runs))]
    again = {values for values in first if first.count(values) > 1 and len(set(values)) > 1}
    return next((place for place, values in enumerate(first) if values in again), None)


def _repeated(run: Run) -> int | None:
    """Return the place of the first draw of floats that a later draw repeats.

    If no draw is repeated, return None.
    """
    drawn = [
        (draw.method, key(draw.values)) if np.asarray(draw.values).dtype.kind == "f" else None
        for draw in run.draws
    ]
    return next((i for i, each in enumerate(drawn) if each is not None and each in drawn[i + 1 :]), None)


def _seen(runs: Sequence[Run], place: int) -> tuple[Hashable, ...]:
    return tuple((run.draws[place].method, key(run.draws[place].values)) for run in runs)


def is_out_of_reach(scene: Scene, side: str, happens: Callable[[Run], bool], *, certain: bool) -> bool:
    """Return whether a condition stays false on a side for all draws that are tried.

    Parameters
    ----------
    scene, side
        The scene, and the side that is run.
    happens
        Returns whether the condition holds in a run. It must be false in all plain runs, and in all runs with
        draws at their extremes.
    certain
        Whether the condition holds in every run of the other side.
    """
    runs = scene.plain(side)
    noise_alone = all(scale_of(draw) is not None for run in runs for draw in run.draws)
    recorded = all(run.draws for run in runs) or len(set(map(_key, runs))) == 1
    if noise_alone and recorded:  # otherwise some draws may not have been recorded
        return True
    if _has_one_coin(runs):
        runs = _through(scene, side)
        return bool(runs) and not any(map(happens, runs))
    return certain and not any(happens(scene.run(side, 20_000 + seed)) for seed in range(_MORE))


def _has_one_coin(runs: Sequence[Run]) -> bool:
    return all(
        len(run.draws) == 1 and run.draws[0].method == "random" and np.size(run.draws[0].values) == 1
        for run in runs
    )


def _through(scene: Scene, side: str) -> list[Run]:
    """Return runs that show all outputs as the only uniform draw varies.

    If there are too many outputs, the list is empty. If two neighbouring grid points give different outputs,
    bisection finds every output between them.
    """

    def at(coin: float) -> Run:
        return scene.run(side, 0, force=Force(coin))

    found = [at(i / SWEPT) for i in range(SWEPT + 1)]
    for i, (first, end) in enumerate(pairwise(tuple(found))):
        low, high, here = i / SWEPT, (i + 1) / SWEPT, first
        while _key(here) != _key(end):
            low, here = _next(at, low, high)
            found.append(here)
            if len(found) > SWEPT + _MOST_STEPS:
                return []
    return found


def _next(at: Callable[[float], Run], low: float, high: float) -> tuple[float, Run]:
    """Return the point after `low` where the output changes, and the run there."""
    here = _key(at(low))
    while high - low > 2.0**-50:
        middle = (low + high) / 2.0
        low, high = (middle, high) if _key(at(middle)) == here else (low, middle)
    return high, at(high)


def _key(run: Run) -> Hashable:
    return key(run.output)


def _runs(scene: Scene) -> tuple[dict[str, list[Run]], float]:
    """Return runs of both sides, and the error of a frequency in these runs.

    If one uniform draw decides a run, the runs take it from a grid, which has an error. Otherwise the runs
    are random, and the error is 0: `_excess` allows for chance.
    """
    if all(_has_one_coin(scene.plain(side)) for side in (LEFT, RIGHT)):
        points = [Force((i + 0.5) / SWEPT) for i in range(SWEPT)]
        return {side: [scene.run(side, 0, force=at) for at in points] for side in (LEFT, RIGHT)}, 2.0 / SWEPT
    return {side: [scene.run(side, 50_000 + seed) for seed in range(COUNTED)] for side in (LEFT, RIGHT)}, 0.0


def _worst(
    runs: Mapping[str, list[Run]], by: Callable[[Run], Hashable], asked: Asked, slack: float
) -> tuple[str, Hashable, float, float] | None:
    """Return the side, value, p and q that break the claim most clearly, or None."""
    count = {side: Counter(map(by, runs[side])) for side in runs}
    total, best = len(runs[LEFT]), None
    for side, other in ((LEFT, RIGHT), (RIGHT, LEFT)):
        for value, many in count[side].items():
            p, q = many / total, count[other][value] / total
            excess = _excess(p, q, total, asked, slack)
            if excess > 0 and (best is None or excess > best[0]):
                best = excess, side, value, p, q
    return None if best is None else best[1:]


def _excess(p: Any, q: Any, total: int, asked: Asked, slack: float = 0.0) -> Any:
    """Return by how much p exceeds the limit of the claim plus an allowance for error.

    p and q are frequencies in `total` runs.
    """
    epsilon = min(asked.epsilon, 300.0)
    if slack:  # the frequencies come from a sweep
        error = slack * (1 + np.exp(asked.epsilon))
    else:
        error = _ERRORS * np.sqrt((p + np.exp(2 * epsilon) * (q + 1 / total)) / total)
    return p - np.exp(epsilon) * q - asked.delta - error


def coarse_numbers_differ(scene: Scene, asked: Asked) -> bool:
    """Return whether counts of outputs in sixteen bins break the claim.

    If an output is no number, return True.
    """
    values: dict[str, Any] = {}
    for side in (LEFT, RIGHT):
        runs = [scene.run(side, 50_000 + seed) for seed in range(COUNTED)]
        numbers = [run.output for run in runs if isinstance(run.output, float | int | np.number)]
        if len(numbers) < len(runs):
            return True
        values[side] = np.array(numbers, float)
    edges = np.quantile(np.concatenate([values[LEFT], values[RIGHT]]), np.linspace(0, 1, 17)[1:-1])
    shares = {side: np.bincount(np.digitize(values[side], edges), minlength=16) / COUNTED for side in values}
    sides = ((shares[LEFT], shares[RIGHT]), (shares[RIGHT], shares[LEFT]))
    return any(np.any(_excess(p, q, COUNTED, asked) > 0) for p, q in sides)


def low_bits(scene: Scene, asked: Asked) -> Fault | None:
    """Return the fault if only the low bits of the outputs break the claim.

    The event must depend on low bits, while coarse bins of the outputs meet the claim.
    """
    if not asked.bits or coarse_numbers_differ(scene, asked):
        return None
    return Fault(FaultKind.LOW_BITS, None, words.LOW_BITS)
