"""The rule for outputs that move further than their noise covers.

The move is from one database to the other.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from audit.faults.asked import FAR, MIDDLE, SIDES, TIGHT, Asked
from audit.faults.moves import Move, covered_by_normal, delta_of_normal, move_of
from audit.faults.scene import LEFT, RIGHT, Force, Scene
from audit.results.fault import Fault, FaultKind
from audit.sampling.recorded.leaves import is_number
from audit.sampling.recorded.noise import Floats, values_at
from audit.words import fault_words as words

#: The moves of the output are analysed on this many seeds: those on which it moves furthest.
_SEEDS: Final = 3
#: Factors of the noise (`_slope`) count as equal up to this relative difference.
_ALIKE: Final = 1e-4
#: A draw counts as spending the whole ε if it spends at least this share of ε.
_WHOLE: Final = 0.75


def moves_too_far(scene: Scene, asked: Asked) -> Fault | None:
    """Return the fault if the output moves by more than its noise covers.

    Both databases are run on the same draws.
    """
    worst: tuple[float, Fault] | None = None
    # With delta > 0 no coin is forced: the forced values may be as improbable as delta allows.
    for move in _moves(scene, (None,) if asked.delta else (None, Force(0.0), Force(1.0))):
        if move.is_outside:
            found = _outside(scene, move)
            if found is not None:
                return found
            continue
        found = _uncovered(scene, move, asked) if move.is_verified else None
        if move.others and found is not None and not _is_aligned(scene, move):
            continue
        if found is not None and (worst is None or move.cost > worst[0]):
            worst = move.cost, found
    return None if worst is None else worst[1]


def _moves(scene: Scene, forces: Sequence[Force | None]) -> Iterator[Move]:
    """Yield, for each of `forces`, the largest moves of the output over some seeds."""
    for force in forces:
        sizes: dict[int, float] = {}
        for seed in range(len(scene.plain(LEFT)) if force is None else _SEEDS):
            runs = [scene.plain(s)[seed] if force is None else scene.run(s, seed, force=force) for s in SIDES]
            places = [p for p, leaf in runs[0].leaves.items() if is_number(leaf)]
            values = [values_at(run, places) for run in runs]
            if values[0] is not None and values[1] is not None:
                sizes[seed] = float(np.abs(values[1] - values[0]).sum())
        for seed in sorted(sizes, key=lambda each: -round(sizes[each], 6))[:_SEEDS]:
            move = move_of(scene, seed, force)
            if move is not None and move.moving.any():
                yield move


def _is_aligned(scene: Scene, move: Move) -> bool:
    """Return whether each draw of noise affects the same numbers on both sides.

    If not, a random choice came out differently on the two sides. The privacy of this choice is not counted.
    """
    turned = {LEFT: scene.databases[RIGHT], RIGHT: scene.databases[LEFT]}
    left = move_of(Scene(scene.call, turned, scene.reel), move.seed, move.force)
    return left is not None and np.array_equal(left.reach != 0.0, move.reach != 0.0)


def _outside(scene: Scene, move: Move) -> Fault | None:
    """Return the fault if several numbers share noise, and a combination of them has none."""
    if not len(move.shared):
        return None
    again = move_of(scene, move.seed + 500, move.force)
    alike = again is not None and again.places == move.places and again.reach.shape == move.reach.shape
    if again is None or not alike or not np.allclose(again.moved, move.moved, atol=1e-9):
        return None
    if not np.allclose(again.reach, move.reach, rtol=1e-4, atol=1e-6):
        return None
    column = int(move.shared[0])
    where = [
        place for place, reached in zip(move.places, move.reach[:, column] != 0.0, strict=True) if reached
    ]
    return Fault(FaultKind.NOISE_REUSED, None, words.reused(where, move.numbers[column].told))


def _uncovered(scene: Scene, move: Move, asked: Asked) -> Fault | None:
    """Return the fault if the shift that undoes a move costs too much.

    The cost is compared with the claim.
    """
    factor = _factor(move, asked)
    if factor is None:
        return None
    active = [i for i in range(len(move.numbers)) if move.spent[i] > TIGHT]
    draws = words.listed([move.numbers[i].told for i in active])
    largest = float(np.abs(move.moved).max())
    if asked.nan:
        return Fault(FaultKind.NOT_CLIPPED, None, words.through_nan(largest, draws))
    if (further := _further(scene, move)) is not None:
        return Fault(FaultKind.NOT_CLIPPED, None, words.unbounded(largest, further, draws))
    shown = None if move.others or not math.isfinite(factor) else float(f"{factor:.6g}")
    if "pure" in move.kinds and len(active) > 1:
        if _is_two_steps(scene, move, asked):
            return Fault(FaultKind.WRONG_RELATION, shown, words.relation(draws, factor))
        places = {move.numbers[i].at[0][0] for i in active}
        whole = all(_WHOLE * asked.epsilon <= move.spent[i] <= asked.epsilon * (1 + TIGHT) for i in active)
        if whole and len(places) == len(active):
            said = words.spent(len(active), draws, asked.at, move.cost / asked.epsilon)
            return Fault(FaultKind.BUDGET_SPENT_TWICE, shown, said)
    return Fault(FaultKind.NOISE_TOO_SMALL, shown, _too_far(scene, move, draws, asked, shown))


def _too_far(scene: Scene, move: Move, draws: str, asked: Asked, factor: float | None) -> str:
    """Return a text that compares a move, or a shift, with what noise covers."""
    active = move.spent > TIGHT
    norm = "L2" if "normal" in move.kinds else "L1"
    slope = _slope(move, active, move_of(scene, move.seed + 500))
    scales = np.array([number.scale for number in move.numbers])[active]
    if slope is not None and np.ptp(scales) > _ALIKE * scales.max():
        by = math.nan
        moved = zip(move.places, np.abs(move.moved).tolist(), move.moving, strict=True)
        moves = words.each_moves({place: far for place, far, moving in moved if moving})
    elif slope is not None:
        by = _size(move.moved[move.moving], norm)
        where = [place for place, moving in zip(move.places, move.moving, strict=True) if moving]
        moves = words.moves(where, by, norm)
    else:
        assert move.shift is not None
        by = _size(move.shift[active], norm)
        moves = words.has_to_shift(draws, by, norm if active.sum() > 1 else "")
    told = words.times_slope(draws, slope or 1.0)
    said = words.too_far(moves, told, by / factor if factor else math.nan, asked.at, factor)
    if "normal" in move.kinds and not asked.delta:
        return said + words.NO_PURE
    return said + words.besides(move.others) if move.others else said


def _slope(move: Move, active: NDArray[np.bool_], again: Move | None) -> float | None:
    """Return the factor of the noise in the output, or None if it is unknown.

    The factor is known if noise variables and numbers of the output correspond one to one. All factors must
    be equal in all runs.
    """
    if again is None or again.reach.shape != move.reach.shape:
        return None
    sizes = np.abs(move.reach[move.moving][:, active])
    apart = np.abs(np.abs(again.reach[move.moving][:, active]) - sizes).max()
    ones, least, most = sizes > 0, sizes[sizes > 0].min(), sizes.max()
    alike = max(most - least, apart) <= _ALIKE * most
    return float(most) if alike and (ones.sum(axis=0) == 1).all() and (ones.sum(axis=1) == 1).all() else None


def _size(by: Floats, norm: str) -> float:
    return float(np.linalg.norm(by, 2 if norm == "L2" else 1))


def _factor(move: Move, asked: Asked) -> float | None:
    """Return by what factor the noise is too small, or None if it suffices.

    If no scale suffices, the factor is ∞.
    """
    if "normal" in move.kinds:
        if delta_of_normal(asked.epsilon, move.cost) <= asked.delta * (1 + TIGHT):
            return None
        return move.cost / covered_by_normal(asked.epsilon, asked.delta) if asked.delta else math.inf
    if move.cost <= asked.epsilon * (1 + TIGHT):
        return None
    if asked.delta:  # half of a draw's values have the draw's largest loss
        active = int((move.spent > TIGHT).sum())
        if -math.expm1(asked.epsilon - move.cost) / 2.0**active <= asked.delta:
            return None
    return move.cost / asked.epsilon if asked.epsilon else math.inf


def _further(scene: Scene, move: Move) -> float | None:
    """Return how far the output moves if the differing number is 1000 times as large.

    Return None if this is unknown, or if the output moves at most 100 times as far as in `move`.
    """
    if FAR not in scene.databases:
        return None
    runs = scene.run(LEFT, move.seed, force=move.force), scene.run(FAR, move.seed, force=move.force)
    values = [values_at(run, move.places) for run in runs]
    if values[0] is None or values[1] is None:
        return None
    further = float(np.abs(values[1] - values[0]).max())
    return further if further > 100.0 * float(np.abs(move.moved).max()) else None


def _is_two_steps(scene: Scene, move: Move, asked: Asked) -> bool:
    """Return whether noise covers both steps of a replacement, each by draws of its own.

    The first step removes a record, and the second step adds another record.
    """
    if MIDDLE not in scene.databases:
        return False
    steps = [_step(scene, move, side) for side in SIDES]
    if any(step is None for step in steps):
        return False
    (first, one), (second, other) = [step for step in steps if step is not None]
    return max(first, second) <= asked.epsilon * (1 + TIGHT) and not one & other


def _step(scene: Scene, move: Move, side: str) -> tuple[float, set[Any]] | None:
    """Return the ε that one step of a replacement spends, and the draws that spend it.

    The step leads from the database without the replaced record to the database of `side`. Return None if
    the ε is unknown.
    """
    half = Scene(scene.call, {LEFT: scene.databases[MIDDLE], RIGHT: scene.databases[side]}, scene.reel)
    found = move_of(half, move.seed, move.force)
    if found is None or not found.is_verified or found.kinds != {"pure"}:
        return None
    return found.cost, {n.at for n, by in zip(found.numbers, found.spent, strict=True) if by > TIGHT}
