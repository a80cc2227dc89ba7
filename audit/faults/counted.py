"""Few possible outputs: how likely each is on both databases, by a sweep of the one draw or by counting."""

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from audit.faults.leaves import Place
from audit.faults.scene import LEFT, RIGHT, Force, Run, Scene
from audit.values.canonical import key
from audit.values.wording import shown

#: Points of the one uniform draw, or runs of each side.
SWEPT: Final = 1_024
COUNTED: Final = 3_000
#: Different outputs beyond which they are not counted.
_FEW: Final = 24
#: Standard errors that p and q are apart beyond what the claim allows.
_ERRORS: Final = 4.0

Shares = Mapping[Hashable, float]


@dataclass(frozen=True)
class TooLikely:
    """An output that breaks the claim.

    Parameters
    ----------
    output
        What it looks like.
    side
        The side on which it comes out too often.
    p, q
        Its probability there, and on the other side.
    places
        The parts of the output.
    alone
        Whether a part of the output breaks the claim by itself.
    only_draw
        The one draw that decides all parts, if there is one.
    """

    output: str
    side: str
    p: float
    q: float
    places: tuple[Place, ...]
    alone: bool
    only_draw: int | None


def counted(scene: Scene, epsilon: float, delta: float) -> TooLikely | None:
    """Return the output, of few, that breaks the claim most clearly; None if none does, or there are many."""
    plain = [run for side in (LEFT, RIGHT) for run in scene.plain(side)]
    if len({_key(run) for run in plain}) > _FEW or any(not run.draws for run in plain):
        return None
    runs, slack = _runs(scene)
    found = _worst(runs, _key, epsilon, delta, slack)
    if found is None:
        return None
    side, worst, p, q = found
    places = tuple(place for place in plain[0].leaves if all(place in run.leaves for run in plain))
    parts = [_worst(runs, lambda r, at=place: key(r.leaves.get(at)), epsilon, delta, slack) for place in places]
    one = len(places) <= 1 or not all(len(run.leaves) == len(places) for run in plain)
    example = next(run for run in runs[side] if _key(run) == worst)
    only = 0 if all(len(run.draws) == 1 and not run.draws[0].shape for run in plain) else None
    return TooLikely(shown(example.output, 60), side, p, q, places, one or any(parts), only)


def _key(run: Run) -> Hashable:
    return key(run.output)


def _runs(scene: Scene) -> tuple[dict[str, list[Run]], float]:
    """Return runs of both sides, and how far a share of them may be off (0 for that of independent runs)."""
    draws = [run.draws for side in (LEFT, RIGHT) for run in scene.plain(side)]
    swept = all(len(each) == 1 and each[0].method == "random" and not each[0].shape[1:] for each in draws)
    if swept and all(np.size(each[0].values) == 1 for each in draws):
        points = [Force((i + 0.5) / SWEPT) for i in range(SWEPT)]
        return {side: [scene.run(side, 0, force=at) for at in points] for side in (LEFT, RIGHT)}, 2.0 / SWEPT
    return {side: [scene.run(side, 50_000 + seed) for seed in range(COUNTED)] for side in (LEFT, RIGHT)}, 0.0


def _worst(
    runs: Mapping[str, list[Run]], by: Callable[[Run], Hashable], epsilon: float, delta: float, slack: float
) -> tuple[str, Hashable, float, float] | None:
    """Return the side, value, p and q that break the claim most clearly."""
    count = {side: Counter(map(by, runs[side])) for side in runs}
    total, best = len(runs[LEFT]), None
    for side, other in ((LEFT, RIGHT), (RIGHT, LEFT)):
        for value, many in count[side].items():
            p, q = many / total, count[other][value] / total
            error = slack or _ERRORS * np.sqrt((p + np.exp(2 * min(epsilon, 300.0)) * (q + 1 / total)) / total)
            excess = p - np.exp(min(epsilon, 300.0)) * q - delta - error * (1 + np.exp(epsilon) if slack else 1)
            if excess > 0 and (best is None or excess > best[0]):
                best = excess, side, value, p, q
    return None if best is None else best[1:]


def coarse_numbers_differ(scene: Scene, epsilon: float, delta: float) -> bool:
    """Whether rounded outputs break the claim, or cannot be compared: one number each, in sixteen bins."""
    values: dict[str, Any] = {}
    for side in (LEFT, RIGHT):
        runs = [scene.run(side, 50_000 + seed) for seed in range(COUNTED)]
        numbers = [run.output for run in runs if isinstance(run.output, float | int | np.number)]
        if len(numbers) < len(runs):
            return True
        values[side] = np.array(numbers, float)
    edges = np.quantile(np.concatenate([values[LEFT], values[RIGHT]]), np.linspace(0, 1, 17)[1:-1])
    shares = {side: np.bincount(np.digitize(values[side], edges), minlength=16) / COUNTED for side in values}
    for p, q in ((shares[LEFT], shares[RIGHT]), (shares[RIGHT], shares[LEFT])):
        error = _ERRORS * np.sqrt((p + np.exp(2 * epsilon) * (q + 1 / COUNTED)) / COUNTED)
        if np.any(p - np.exp(epsilon) * q - delta > error):
            return True
    return False
