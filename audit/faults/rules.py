"""From recorded runs to the fault: each rule returns what it can show, or None; the first that speaks counts.

A rule names only what its runs show. What is common to all runs of a side is asked of every plain run; what
must not be possible is asked of runs whose draws are pushed to their ends.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from audit.faults.counted import counted, is_out_of_reach
from audit.faults.leaves import Place, is_number, tokens
from audit.faults.moves import TIGHT, Move, covered_by_normal, delta_of_normal, move_of, numbers_of, values_at, ways
from audit.faults.scene import LEFT, RIGHT, Force, Run, Scene, scale_of
from audit.results.fault import Fault, FaultKind
from audit.values.canonical import same
from audit.values.outcomes import Raised
from audit.words import fault_words as words

#: Seeds whose moves are taken apart: those on which most moves.
_SEEDS: Final = 3
#: A draw spends the whole ε if it spends this share of it.
_WHOLE: Final = 0.75
SIDES: Final = (LEFT, RIGHT)
#: Databases made of the pair: without the record that differs, and with that record a thousand times as large.
MIDDLE, FAR = "middle", "far"
#: The pair that was refuted first.
ELSEWHERE: Final = ("elsewhere left", "elsewhere right")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was refuted.

    Parameters
    ----------
    epsilon, delta
        The claim, on this pair.
    bits
        Whether the event that refuted it looks at the low bits of floats.
    nan
        Whether the record that differs is NaN, or holds one.
    """

    epsilon: float
    delta: float
    bits: bool = False
    nan: bool = False

    @property
    def at(self) -> str:
        """The claim in words."""
        return words.claimed(self.epsilon, self.delta)


def fault_of(scene: Scene, asked: Asked) -> Fault:
    """Return the fault that the runs show; UNKNOWN if none."""
    for rule in RULES:
        found = rule(scene, asked)
        if found is not None:
            return found
    seen = any(run.draws for side in SIDES for run in scene.plain(side))
    return Fault(FaultKind.UNKNOWN, None, words.NOT_SHOWN if seen else words.NOTHING_SEEN)


def raises_or_missing(scene: Scene, asked: Asked) -> Fault | None:
    """One side gives no answer in every run, the other one in every run."""
    silent = [[_silence(run.output) for run in scene.plain(side)] for side in SIDES]
    if not (all(silent[0]) and not any(silent[1]) or all(silent[1]) and not any(silent[0])):
        return None
    if asked.nan and any(told == "returns NaN" for side in silent for told in side):
        return Fault(FaultKind.NOT_CLIPPED, None, words.through_nan(math.nan, _draws(scene.plain(RIGHT)[0])))
    told = [each[0] or "answers" for each in silent]
    return Fault(FaultKind.RAISES_OR_MISSING, None, words.missing(*told))


def _silence(output: Any) -> str:
    if isinstance(output, Raised):
        return f"raises {output.kind}"
    if output is None:
        return "returns None"
    return "returns NaN" if isinstance(output, float) and math.isnan(output) else ""


def constant_part(scene: Scene, _: Asked) -> Fault | None:
    """A part of the output is constant on each side and differs: nothing varies it, or a seed that is fixed."""
    for place in _common_places(scene):
        left, right = (_constant(scene.plain(side), place) for side in SIDES)
        if left is None or right is None or same(left[0], right[0]):
            continue
        runs = scene.plain(LEFT)
        fixed = [k for k, draw in enumerate(runs[0].draws) if _never_varies(scene.plain(LEFT), k)]
        extremes = [(side, run) for side in SIDES for run in scene.extreme(side)]
        if any(isinstance(run.output, Raised) for _, run in extremes):
            extremes = []
        moved = any(
            not same(run.leaves.get(place), (left if side == LEFT else right)[0]) for side, run in extremes
        )
        if moved and fixed and len(fixed) == len(runs[0].draws):
            draws = [runs[0].draws[k] for k in fixed]
            told = words.listed([_told(draw) for draw in draws])
            return Fault(FaultKind.FIXED_SEED, None, words.fixed(told, own=all(draw.own for draw in draws)))
        if extremes and not moved and (found := _silenced(scene)) is not None:
            return found
        if extremes and not moved:
            drawn = sorted({draw.method for side in SIDES for run in scene.plain(side)[:3] for draw in run.draws})
            return Fault(FaultKind.UNNOISED_PART, None, words.exact(place, left[0], right[0], drawn))
    return None


def _silenced(scene: Scene) -> Fault | None:
    """Return the fault if noise is drawn with a scale of 0 on this pair, and with another one elsewhere."""
    for k, draw in enumerate(scene.plain(LEFT)[0].draws):
        for side in (*ELSEWHERE, MIDDLE):
            if side in scene.databases and scale_of(draw) is not None and not np.any(scale_of(draw)):
                other = scene.run(side, 0).draws[k : k + 1]
                if other and other[0].method == draw.method and np.any(scale_of(other[0])):
                    said = words.silenced(draw.method, scale_of(other[0]))
                    return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, said)
    return None


def _common_places(scene: Scene) -> list[Place]:
    """Return the places that the output has in every run of both sides."""
    runs = [run for side in SIDES for run in scene.plain(side)]
    return [place for place in runs[0].leaves if all(place in run.leaves for run in runs)]


def _constant(runs: Sequence[Run], place: Place) -> tuple[Any] | None:
    first = runs[0].leaves[place]
    return (first,) if all(same(run.leaves[place], first) for run in runs) else None


def _never_varies(runs: Sequence[Run], k: int) -> bool:
    """Whether the k-th draw gives the same in every run."""
    values = [run.draws[k].values for run in runs if k < len(run.draws)]
    return len(values) == len(runs) and all(same(value, values[0]) for value in values)


def exact_weights(scene: Scene, _: Asked) -> Fault | None:
    """Weights that no draw varies decide a choice, and forbid on one side what they allow on the other."""
    runs = [scene.plain(side) for side in SIDES]
    for k, draw in enumerate(runs[0][0].draws):
        weights = [[run.draws[k].parameters.get("p") for run in side if k < len(run.draws)] for side in runs]
        if draw.method != "choice" or any(p is None for side in weights for p in side):
            continue
        (left, *lefts), (right, *rights) = weights[0], weights[1]
        steady = all(same(p, left) for p in lefts) and all(same(p, right) for p in rights)
        if steady and np.shape(left) == np.shape(right) and np.any((np.asarray(left) > 0) != (np.asarray(right) > 0)):
            return Fault(FaultKind.UNNOISED_PART, None, words.weights(left, right))
    return None


def one_sided_outputs(scene: Scene, asked: Asked) -> Fault | None:
    """Words, keys or lengths come out on one side with a probability above δ, and never on the other."""
    runs = {side: (*scene.plain(side), *scene.extreme(side)) for side in SIDES}
    names = {token: name for side in SIDES for run in runs[side] for token, name in tokens(run.output).items()}
    reached = {side: {token for run in runs[side] for token in tokens(run.output)} for side in SIDES}
    either = [(side, other, reached[side] - reached[other]) for side, other in (SIDES, SIDES[::-1])]
    for side, other, only in sorted(either, key=lambda each: all(t[0] == "length" for t in each[2])):
        if not only or any(isinstance(run.output, Raised) for run in runs[other]):
            continue
        share = _share(scene, side, only, asked.delta)
        if share is not None and _never(scene, other, only, share):
            seen = Counter(token for run in runs[side] for token in tokens(run.output) if token in only)
            first = min(only, key=lambda t: (t[0] == "length", -seen[t], repr(t)))
            said = words.possible(names[first], len(only) - 1, side, share, asked.delta)
            return Fault(FaultKind.DATA_DEPENDENT_DOMAIN, None, said)
    return None


def _share(scene: Scene, side: str, only: set[Any], delta: float) -> float | None:
    """Return how often one of some tokens comes out if that is surely above δ; more runs where it is rare."""
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
    """Whether no draw gives one of some tokens on this side, which the other one gives in this share of runs."""
    return is_out_of_reach(scene, side, lambda run: not only.isdisjoint(tokens(run.output)), certain=share == 1.0)


_RARE: Final = 10_000
#: Standard errors that a share is above δ.
_ERRORS: Final = 4.0


def noise_from_data(scene: Scene, _: Asked) -> Fault | None:
    """A number of the output has wider noise on one side: another scale, or other draws."""
    places = [p for p in _common_places(scene) if all(is_number(r.leaves[p]) for s in SIDES for r in scene.plain(s))]
    if not places or any(len(run.draws) != len(scene.plain(side)[0].draws) for side in SIDES for run in scene.plain(side)):
        return None
    found = {side: [_spreads(scene, side, seed, places) for seed in range(_SEEDS)] for side in SIDES}
    if any(spread is None for side in SIDES for spread in found[side]):
        return None
    left, right = (np.array(found[side]) for side in SIDES)
    scale = np.maximum(left.max(axis=0), right.max(axis=0))
    steady = (np.ptp(left, axis=0) <= TIGHT * scale) & (np.ptp(right, axis=0) <= TIGHT * scale)
    differ = steady & (np.abs(left[0] - right[0]) > 1e-4 * scale)
    for i in np.flatnonzero(differ):
        if min(left[0][i], right[0][i]) == 0.0 and not _is_silent(scene, LEFT if left[0][i] == 0 else RIGHT, places[i]):
            continue
        return Fault(FaultKind.DATA_DEPENDENT_NOISE, None, _of_spread(scene, places[i], left[0][i], right[0][i]))
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
    reach = ways(scene, side, run, seed, numbers, places, None)
    if reach is None or values_at(run, places) is None:
        return None
    return np.sqrt(reach**2 @ np.array([number.variance for number in numbers])) if numbers else np.zeros(len(places))


def _of_spread(scene: Scene, place: Place, left: float, right: float) -> str:
    runs = [scene.plain(side)[0] for side in SIDES]
    if runs[0].calls == runs[1].calls:
        for a, b in zip(runs[0].draws, runs[1].draws, strict=True):
            for name in ("scale", "sigma", "p", "lambd"):
                if scale_of(a) is not None and name in a.parameters and not same(a.parameters[name], b.parameters[name]):
                    return words.scales(a.method, name, a.parameters[name], b.parameters[name])
        return words.spread(place, left, right)
    counts = [Counter(_told(draw) for draw in run.draws) for run in runs]
    return words.counted_draws(*counts) if counts[0] != counts[1] else words.spread(place, left, right)


def _told(draw: Any) -> str:
    scale = scale_of(draw)
    if draw.method == "geometric" or scale is None or np.ndim(scale):
        return str(draw.method)
    return f"{draw.method}(scale={float(scale):.4g})"


def _draws(run: Run) -> str:
    return words.listed([_told(draw) for draw in run.draws]) or "no draw"


def moves_too_far(scene: Scene, asked: Asked) -> Fault | None:
    """On the same draws the output moves by more than its noise covers."""
    worst: tuple[float, Fault] | None = None
    for move in _moves(scene):
        if move.is_outside:
            found = _outside(scene, move)
            if found is not None:
                return found
            continue
        if move.is_verified and (found := _uncovered(scene, move, asked)) is not None:
            if worst is None or move.cost > worst[0]:
                worst = move.cost, found
    return None if worst is None else worst[1]


def _moves(scene: Scene) -> Iterator[Move]:
    """Yield the moves on the draws of a few seeds, where most moves, and with the coins pushed to their ends."""
    for force in (None, Force(0.0), Force(1.0)):
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


def _outside(scene: Scene, move: Move) -> Fault | None:
    """Return the fault if noise that several numbers share leaves a combination of them without any."""
    if not move.is_shared:
        return None
    again = move_of(scene, move.seed + 500, move.force)
    alike = again is not None and again.places == move.places and again.reach.shape == move.reach.shape
    if again is None or not alike or not np.allclose(again.moved, move.moved, atol=1e-9):
        return None
    if not np.allclose(again.reach, move.reach, rtol=1e-4, atol=1e-6):
        return None
    several = (move.reach != 0.0).sum(axis=0) > 1
    column = int(np.flatnonzero(several & (move.reach[move.moving] != 0.0).any(axis=0))[0])
    where = [place for place, reached in zip(move.places, move.reach[:, column] != 0.0, strict=True) if reached]
    return Fault(FaultKind.NOISE_REUSED, None, words.reused(where, move.numbers[column].told))


def _uncovered(scene: Scene, move: Move, asked: Asked) -> Fault | None:
    """Return the fault if the noise does not cover a move that its shift undoes."""
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
    pure, shown = "pure" in move.kinds, None if move.mixed or not math.isfinite(factor) else float(f"{factor:.6g}")
    if pure and len(active) > 1:
        if _is_two_steps(scene, move, asked):
            return Fault(FaultKind.WRONG_RELATION, shown, words.relation(draws, factor))
        places = {move.numbers[i].at[0][0] for i in active}
        whole = all(_WHOLE * asked.epsilon <= move.spent[i] <= asked.epsilon * (1 + TIGHT) for i in active)
        if whole and len(places) == len(active):
            said = words.spent(len(active), draws, asked.at, move.cost / asked.epsilon)
            return Fault(FaultKind.BUDGET_SPENT_TWICE, shown, said)
    if len(active) == 1 and int(move.moving.sum()) == 1:
        covers = largest / factor if math.isfinite(factor) else 0.0
        said = words.one_draw(largest, move.numbers[active[0]].told, covers, asked.at, shown)
    else:
        said = words.many_draws(int(move.moving.sum()), draws, asked.at, shown, mixed=move.mixed)
    return Fault(FaultKind.NOISE_TOO_SMALL, shown, said)


def _factor(move: Move, asked: Asked) -> float | None:
    """Return how many times too small the noise is, None if it is not; ∞ if no such noise is large enough."""
    if "normal" in move.kinds:
        if delta_of_normal(asked.epsilon, move.cost) <= asked.delta * (1 + TIGHT):
            return None
        return move.cost / covered_by_normal(asked.epsilon, asked.delta) if asked.delta else math.inf
    if move.cost <= asked.epsilon * (1 + TIGHT):
        return None
    if asked.delta:  # half of each draw's values lose all that they can
        active = int((move.spent > TIGHT).sum())
        if -math.expm1(asked.epsilon - move.cost) / 2.0**active <= asked.delta:
            return None
    return move.cost / asked.epsilon if asked.epsilon else math.inf


def _further(scene: Scene, move: Move) -> float | None:
    """Return how far the output moves if the record that differs is a thousand times as large, and so does the move."""
    if FAR not in scene.databases:
        return None
    runs = scene.run(LEFT, move.seed, force=move.force), scene.run(FAR, move.seed, force=move.force)
    values = [values_at(run, move.places) for run in runs]
    if values[0] is None or values[1] is None:
        return None
    further = float(np.abs(values[1] - values[0]).max())
    return further if further > 100.0 * float(np.abs(move.moved).max()) else None


def _is_two_steps(scene: Scene, move: Move, asked: Asked) -> bool:
    """Whether removing the one record and adding the other are each covered, by draws of their own."""
    if MIDDLE not in scene.databases:
        return False
    steps = [_step(scene, move, side) for side in SIDES]
    if any(step is None for step in steps):
        return False
    (first, one), (second, other) = [step for step in steps if step is not None]
    return max(first, second) <= asked.epsilon * (1 + TIGHT) and not one & other


def _step(scene: Scene, move: Move, side: str) -> tuple[float, set[Any]] | None:
    """Return what one half of a replacement spends, and on which draws."""
    half = Scene(scene.call, {LEFT: scene.databases[MIDDLE], RIGHT: scene.databases[side]}, scene.reel)
    found = move_of(half, move.seed, move.force)
    if found is None or not found.is_verified or found.kinds != {"pure"}:
        return None
    return found.cost, {n.at for n, by in zip(found.numbers, found.spent, strict=True) if by > TIGHT}


def too_likely(scene: Scene, asked: Asked) -> Fault | None:
    """Of few possible outputs one comes out too often on one side."""
    found = counted(scene, asked.epsilon, asked.delta)
    if found is None:
        return None
    if not found.alone and found.shared is not None:
        said = words.one_for_all(found.places, _told(scene.plain(RIGHT)[0].draws[found.shared]))
        return Fault(FaultKind.NOISE_REUSED, None, said)
    if found.q == 0.0:
        if not is_out_of_reach(scene, LEFT if found.side == RIGHT else RIGHT, found.is_it, certain=False):
            return None
        said = words.possible(found.output, 0, found.side, found.p, asked.delta)
        return Fault(FaultKind.DATA_DEPENDENT_DOMAIN, None, said)
    if found.alone:
        said = words.likely(found.output, found.p, found.q, asked.at, found.side)
        return Fault(FaultKind.NOISE_TOO_SMALL, None, said)
    return None


def low_bits(scene: Scene, asked: Asked) -> Fault | None:
    """The event looks at bits, and outputs as coarse numbers keep the claim."""
    if not asked.bits:
        return None
    from audit.faults.counted import coarse_numbers_differ

    return None if coarse_numbers_differ(scene, asked.epsilon, asked.delta) else Fault(FaultKind.LOW_BITS, None, words.LOW_BITS)


RULES: Final[tuple[Callable[[Scene, Asked], Fault | None], ...]] = (
    raises_or_missing,
    constant_part,
    exact_weights,
    one_sided_outputs,
    noise_from_data,
    moves_too_far,
    too_likely,
    low_bits,
)
