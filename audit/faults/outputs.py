"""Rules about what an output is or contains.

A fault may be no answer, a part without noise, or words and keys that only one database gives.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from audit.faults.asked import ELSEWHERE, MIDDLE, SIDES, Asked, draws_of
from audit.faults.counted import is_out_of_reach
from audit.faults.scene import LEFT, RIGHT, Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.leaves import Place, is_number, tokens
from audit.sampling.recorded.runs import Run
from audit.values.canonical import same
from audit.values.outcomes import Raised
from audit.words import fault_words as words

_NAN: Final = "returns NaN"
_RARE: Final = 10_000
_FURTHER: Final = 300
#: A frequency must exceed δ by this many standard errors.
_ERRORS: Final = 4.0


def raises_or_missing(scene: Scene, asked: Asked) -> Fault | None:
    """Return the fault if one side never answers and the other side always does.

    A side does not answer if it raises, or gives None or NaN.
    """
    told = _silent_side(scene, ())
    if asked.nan:
        nans = [
            place
            for place in dict.fromkeys(((), *common_places(scene)))
            if _NAN in _silent_side(scene, place)
        ]
        if nans:
            draws = draws_of(scene.plain(RIGHT)[0])
            return Fault(FaultKind.NOT_CLIPPED, None, words.nan_comes_out(nans, draws))
    return Fault(FaultKind.RAISES_OR_MISSING, None, words.missing(*told)) if told else None


def _silent_side(scene: Scene, place: Place) -> list[str]:
    """Return what the left and the right side give at a place.

    This is "answers", or words for the missing answer. The list is empty unless one side always answers at
    this place and the other side never does.
    """
    sides = [[_silence(_at(run, place)) for run in scene.plain(side)] for side in SIDES]
    one = (all(sides[0]) and not any(sides[1])) or (all(sides[1]) and not any(sides[0]))
    return [each[0] or "answers" for each in sides] if one else []


def _silence(output: Any) -> str:
    if isinstance(output, Raised):
        return f"raises {output.kind}"
    if output is None:
        return "returns None"
    return _NAN if isinstance(output, float) and math.isnan(output) else ""


def constant_part(scene: Scene, _: Asked) -> Fault | None:
    """Return the fault if a constant part of the output differs between sides.

    The part is constant on each side. Such a part has no noise, or its noise has a fixed seed.
    """
    for place in (*common_places(scene), ()):
        plain = [[_at(run, place) for run in scene.plain(side)] for side in SIDES]
        left, right = (values[0] for values in plain)
        if not all(map(is_steady, plain)) or same(left, right):
            continue
        draws = scene.plain(LEFT)[0].draws
        if any(isinstance(run.output, Raised) for side in SIDES for run in scene.extreme(side)):
            continue
        pushed = [[_at(run, place) for run in scene.extreme(side)] for side in SIDES]
        moved = not (is_steady([left, *pushed[0]]) and is_steady([right, *pushed[1]]))
        own = bool(draws) and all(draw.own for draw in draws)
        if (moved or own) and draws and all(_never_varies(scene.plain(LEFT), k) for k in range(len(draws))):
            said = words.fixed(draws_of(scene.plain(LEFT)[0]), own=own)
            return Fault(FaultKind.FIXED_SEED, None, said)
        if not moved:
            drawn = sorted({draw.method for side in SIDES for draw in scene.plain(side)[0].draws})
            exact = Fault(FaultKind.UNNOISED_PART, None, words.exact(place, left, right, drawn))
            return _silenced(scene, place) or exact
    return None


def _at(run: Run, place: Place) -> Any:
    """Return what the output of a run holds at a place. If the place is empty, this is the whole output."""
    return run.leaves.get(place) if place else run.output


def is_steady(values: Sequence[Any]) -> bool:
    """Return whether all values are the same as the first."""
    return all(same(each, values[0]) for each in values[1:])


def _silenced(scene: Scene, place: Place) -> Fault | None:
    """Return the fault if this part varies on another database.

    Only runs that make the same draw calls count.
    """
    here = scene.plain(LEFT)[0].calls
    for side in (*ELSEWHERE, MIDDLE) if here else ():
        runs = [scene.run(side, seed) for seed in range(2)] if side in scene.databases else []
        leaves = [
            run.leaves.get(place) for run in runs if run.calls == here and is_number(run.leaves.get(place))
        ]
        if len(leaves) == 2 and not same(*leaves):
            said = words.silenced(draws_of(runs[0]), place)
            return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, said)
    return None


def common_places(scene: Scene) -> list[Place]:
    """Return the places that the output has in every run, on both sides."""
    runs = [run for side in SIDES for run in scene.plain(side)]
    return [place for place in runs[0].leaves if all(place in run.leaves for run in runs)]


def _never_varies(runs: Sequence[Run], k: int) -> bool:
    """Return whether the k-th draw gives the same values in every run."""
    values = [run.draws[k].values for run in runs if k < len(run.draws)]
    return len(values) == len(runs) and is_steady(values)


def exact_weights(scene: Scene, _: Asked) -> Fault | None:
    """Return the fault if a weight of a choice is 0 on one side only.

    The weights must be constant on each side.
    """
    runs = [scene.plain(side) for side in SIDES]
    for k, draw in enumerate(runs[0][0].draws):
        weights = [[run.draws[k].parameters.get("p") for run in side if k < len(run.draws)] for side in runs]
        if draw.method != "choice" or any(p is None for side in weights for p in side):
            continue
        left, right = (values[0] for values in weights)
        given = np.asarray(left) > 0, np.asarray(right) > 0
        if all(map(is_steady, weights)) and given[0].shape == given[1].shape and np.any(given[0] != given[1]):
            return Fault(FaultKind.UNNOISED_PART, None, words.weights(left, right))
    return None


def one_sided_outputs(scene: Scene, asked: Asked) -> Fault | None:
    """Return the fault if a word, key or length appears on one side only.

    Its probability on that side must exceed δ.
    """
    runs = {side: (*scene.plain(side), *scene.extreme(side)) for side in SIDES}
    shown = {side: [tokens(run.output) for run in runs[side]] for side in SIDES}
    names = {token: name for side in SIDES for each in shown[side] for token, name in each.items()}
    reached = {side: set[Any]().union(*shown[side]) for side in SIDES}
    raised = {side: any(isinstance(run.output, Raised) for run in runs[side]) for side in SIDES}
    either = [(side, other, reached[side] - reached[other]) for side, other in (SIDES, SIDES[::-1])]
    for side, other, only in sorted(either, key=lambda each: all(t[0] == "length" for t in each[2])):
        always = {token for token in only if all(token in each for each in shown[side])}
        for those in filter(None, (always, only)) if not raised[other] else ():
            share = _share(scene, side, those, asked.delta)
            if share is not None and _never(scene, other, those, share):
                seen = Counter(token for each in shown[side] for token in each if token in those)
                first = min(those, key=lambda t: (t[0] == "length", -seen[t], repr(t)))
                like = sum(t[0] == first[0] for t in those)
                more = 0 if those is always else like - 1
                said = words.possible(names[first], more, side, share, asked.delta)
                return Fault(FaultKind.DATA_DEPENDENT_DOMAIN, None, said)
    return None


def _share(scene: Scene, side: str, only: set[Any], delta: float) -> float | None:
    """Return the share of runs whose output has a token in `only`, or None.

    A token is a word, a key or a length. Runs are added until the share is surely above or below δ, or there
    are `_RARE` runs. If the share may be δ or less, return None.
    """
    share, plain = 0.0, scene.plain(side)
    seen = [not only.isdisjoint(tokens(run.output)) for run in plain]
    if all(seen) and delta < 1.0 / len(plain):
        return 1.0
    while len(seen) < _RARE:
        more = range(10_000 + len(seen), 10_000 + 4 * len(seen))
        seen += [not only.isdisjoint(tokens(scene.run(side, seed).output)) for seed in more]
        share = sum(seen) / len(seen)
        error = _ERRORS * math.sqrt(max(share * (1.0 - share), 1.0 / len(seen)) / len(seen))
        if share - error > delta:
            return share
        if share + error < delta:
            return None
    return None


def _never(scene: Scene, side: str, only: set[Any], share: float) -> bool:
    """Return whether no draws give any token of `only` on this side.

    A token is a word, a key or a length. `share` is the share of the other side's runs that give such a
    token. If it is below 1 and further runs still give new tokens, the answer is False.
    """
    known = {token for run in (*scene.plain(side), *scene.extreme(side)) for token in tokens(run.output)}
    more = [tokens(scene.run(side, 30_000 + seed).output) for seed in range(_FURTHER)]
    if any(not only.isdisjoint(each) for each in more):
        return False
    if share < 1.0 and any(not known.issuperset(each) for each in more):
        return False
    return is_out_of_reach(
        scene, side, lambda run: not only.isdisjoint(tokens(run.output)), certain=share == 1.0
    )
