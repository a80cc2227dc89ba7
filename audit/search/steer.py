"""Predict from recorded random draws how fast a bet on a pair would grow.

One run on each database, from the same generator state, shows how far the outputs differ on the same draws.
The recorded draws also show the scale of the noise. The smallest shift of the noise that makes the outputs
equal gives the law of the privacy loss. This law gives the growth rate of the best bet. One run for each
noise variable measures how the output depends on it, once for all runs with the same draws. A prediction
larger than all earlier predictions is tested. On shifted draws, the right database must give the output of
the left one. The weights of a `choice(p=...)` directly give the whole law of the choice.

Predictions only rank pairs; they decide nothing. Their runs count towards the budget but are never bet on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import numpy as np

from audit.claims import at_distance
from audit.evidence.growth import growth_rate
from audit.sampling.recorded.leaves import Place, is_number
from audit.sampling.recorded.noise import Floats, Number, kinds_of, least_shift, numbers_of, values_at
from audit.sampling.recorded.runs import Probe, Run, Shift
from audit.values import canonical

#: A run with more noise variables than this is not analysed.
_MOST_NUMBERS: Final = 64
#: The dependence of the output on the noise is measured for at most this many forms of draws and output.
_FORMS: Final = 4
#: After this many pairs in a row without a prediction, no more predictions are tried for this subject.
_IN_VAIN: Final = 16
#: The number of privacy losses drawn to estimate a growth rate, and the fewest of them in an event.
_LOSSES, _FEWEST = 4_000, 20
#: A smaller growth counts as 0: to refute a claim it would need more than a million pairs of runs.
_LEAST: Final = 1e-5
_CLOSE: Final = 1e-6

#: One run on each side, with unchanged draws.
SCOUTS: Final[Sequence[Probe]] = ((False, {}), (True, {}))

#: Makes recorded runs of a pair from one generator state, perhaps more than were asked for. Each is a `Run`
#: or, if the run gave no output, the value that replaces it.
Draw = Callable[[Sequence[Probe]], list[Any]]


@dataclass
class Steering:
    """Predictions of how fast a bet on a pair would grow. Measurements are kept for later pairs.

    Parameters
    ----------
    epsilon, delta
        The claim.

    Examples
    --------
    >>> from audit.sampling import Sampler
    >>> from audit.subject.subject import adapt
    >>> sampler = Sampler(adapt(lambda database, rng: sum(database) + rng.laplace(scale=0.5)), seed=0)
    >>> steering = Steering(epsilon=1.0, delta=0.0)
    >>> def promise(left, right):
    ...     draw = lambda probes: sampler.probe(left, right, probes, (0,))
    ...     return steering.promise(*draw(SCOUTS), draw)
    >>> promise([0.0], [0.2]) == 0 < promise([0.0], [1.0])
    True
    """

    epsilon: float
    delta: float
    _reaches: dict[Any, Floats | None] = field(default_factory=dict)
    _in_vain: int = 0
    _most: float = 0.0

    @property
    def tells(self) -> bool:
        """Whether to go on predicting. It is false after `_IN_VAIN` pairs in a row without a prediction."""
        return self._in_vain < _IN_VAIN

    def promise(self, left: Any, right: Any, draw: Draw, distance: int = 1) -> float:
        """Return the growth rate predicted from draws, in nats per pair of runs.

        If there is no prediction, the rate is 0.

        Parameters
        ----------
        left, right
            The runs that `SCOUTS` asks for, one on each database.
        draw
            Makes more runs from the same generator state.
        distance
            How many steps apart the databases are. The claim allows a larger loss between databases further
            apart.
        """
        found, claim = None, at_distance(self.epsilon, self.delta, distance)
        if isinstance(left, Run) and isinstance(right, Run):
            found = promised_by_weights(left, right, *claim)
            if found is None and canonical.same(left.output, right.output):
                found = 0.0
            if found is None:
                found = self._promise(left, right, draw, claim)
        self._in_vain = 0 if found is not None else self._in_vain + 1
        return found or 0.0

    def _promise(self, left: Run, right: Run, draw: Draw, claim: tuple[float, float]) -> float | None:
        """Return the growth rate predicted from draws, or None."""
        places = [place for place, leaf in right.leaves.items() if is_number(leaf)]
        sides = values_at(left, places), values_at(right, places)
        noise = numbers_of([left]), numbers_of([right])
        alike = left.calls == right.calls and [n.at for n in noise[0]] == [n.at for n in noise[1]]
        if sides[0] is None or sides[1] is None or not alike or not 0 < len(noise[1]) <= _MOST_NUMBERS:
            return None
        words = right.leaves.keys() - set(places)
        if not all(canonical.same(left.leaves.get(place), right.leaves[place]) for place in words):
            return None
        reach = self._reach(right, places, noise[1], draw)
        if reach is None:
            return None
        drawn = np.array([[_at(run, number) for number in noise[1]] for run in (left, right)])
        moved = sides[1] - sides[0] - reach @ (drawn[1] - drawn[0])
        shift = _shift(noise[1], reach, moved)
        if shift is None:
            return None
        scales = np.array([[number.scale for number in side] for side in noise])
        normal = kinds_of(noise[1]) == {"normal"}
        promise = promised(shift, scales, normal=normal, epsilon=claim[0], delta=claim[1])
        if promise > self._most:  # test only a prediction larger than all before
            if not _gives(draw, noise[1], shift + drawn[0] - drawn[1], places, sides[0]):
                return None
            self._most = promise
        return promise

    def _reach(self, right: Run, places: list[Place], numbers: list[Number], draw: Draw) -> Floats | None:
        """Return the derivative of the output with respect to the noise.

        It is measured once for all runs whose draws and output have the same form.
        """
        form = canonical.key((right.calls, places, [number.at for number in numbers]))
        if form not in self._reaches and len(self._reaches) < _FORMS:
            self._reaches[form] = None
            shifts = [dict.fromkeys(number.at, number.step) for number in numbers]
            runs = draw([(True, shift) for shift in shifts])[: len(shifts)]
            values = [values_at(run, places) if isinstance(run, Run) else None for run in runs]
            base = values_at(right, places)
            if base is not None and not any(value is None for value in values):
                steps = np.array([number.step for number in numbers])
                reach = (np.array(values, float) - base).T / steps
                reach[np.abs(reach) < _CLOSE] = 0.0
                self._reaches[form] = reach
        return self._reaches.get(form)


def _shift(numbers: list[Number], reach: Floats, moved: Floats) -> Floats | None:
    """Return the least noise shift that undoes a move, or None if none is known.

    The result is also None for noise of two kinds, or of a kind that is neither normal nor `"pure"`.
    """
    moved = np.where(np.abs(moved) > _CLOSE, moved, 0.0)
    if not moved.any():
        return np.zeros(len(numbers))
    reaching = (reach[moved != 0] != 0).any(axis=0)
    kinds = kinds_of([number for number, near in zip(numbers, reaching, strict=True) if near])
    found = np.linalg.lstsq(reach, moved, rcond=None)[0]
    undone = np.abs(reach @ found - moved).max() <= _CLOSE * np.abs(moved).max()
    if len(kinds) != 1 or "other" in kinds or not undone:
        return None
    return least_shift(numbers, reach, moved, normal="normal" in kinds)


def _at(run: Run, number: Number) -> float:
    place, index = number.at[0]
    return float(np.asarray(run.draws[place].values)[index])


def _gives(draw: Draw, numbers: list[Number], by: Floats, places: list[Place], output: Floats) -> bool:
    """Return whether the right database, on shifted draws, gives this output."""
    shift: Shift = {at: float(b) for number, b in zip(numbers, by, strict=True) if b for at in number.at}
    again = draw([(True, shift)])[0]
    values = values_at(again, places) if isinstance(again, Run) else None
    return values is not None and bool(np.allclose(values, output, rtol=_CLOSE, atol=_CLOSE))


def promised_by_weights(left: Run, right: Run, epsilon: float, delta: float) -> float | None:
    """Return the growth rate of the best bet on the value of a weighted choice.

    The rate is in nats per pair of runs. The recorded weights of `choice(p=...)` are the whole law of its
    value. If no choice has weights on both sides, return None. After a draw whose values differ between the
    sides, no further draws are compared.

    Parameters
    ----------
    left, right
        Recorded runs.
    epsilon, delta
        The claim.

    Examples
    --------
    >>> runs = [Run((("choice", (), {"p": [p, 1.0 - p]}, 0, False),), 0, {}) for p in (0.9, 0.1)]
    >>> promised_by_weights(*runs, 3.0, 0.0), promised_by_weights(*runs, 1.0, 0.0) > 0
    (0.0, True)
    """
    best = None
    for one, other in zip(left.draws, right.draws, strict=False):
        weights = [draw.parameters.get("p") for draw in (one, other) if draw.method == "choice"]
        if len(weights) == 2 and not any(each is None for each in weights):
            p, q = (np.asarray(each, float) for each in weights)
            if p.shape == q.shape:
                both = _best_choice(p, q, epsilon, delta), _best_choice(q, p, epsilon, delta)
                best = max(best or 0.0, *both)
        if not canonical.same(one.values, other.values):
            break
    return best if best is None or best > _LEAST else 0.0


def _best_choice(p: Floats, q: Floats, epsilon: float, delta: float) -> float:
    """Return the growth rate of the best bet on "the choice falls in this set".

    The weights of the choice are p on the left and q on the right.
    """
    # the set of all options always has probability 1
    order = np.argsort(-p / np.maximum(q, 1e-300), kind="stable")[:-1]
    growth = growth_rate(p[order].cumsum(), q[order].cumsum(), epsilon, delta)
    return float(np.max(growth, initial=0.0))


def promised(shift: Floats, scales: Floats, *, normal: bool, epsilon: float, delta: float) -> float:
    """Return the growth rate of the best bet on shifted noise.

    The rate is in nats per pair of runs, and 0 if no bet grows.

    Parameters
    ----------
    shift
        The shift of each noise variable on the right database, shape (n,).
    scales
        The scales of the noise on both sides, shape (2, n).
    normal
        Whether the noise is normal; otherwise it is treated as Laplace noise.
    epsilon, delta
        The claim.

    Examples
    --------
    >>> claim = {"epsilon": 1.0, "delta": 0.0}
    >>> promised(np.array([1.0]), np.ones((2, 1)), normal=False, **claim)
    0.0
    >>> 0 < promised(np.array([1.5]), np.ones((2, 1)), normal=False, **claim)
    True
    """
    shift, best = np.abs(shift), 0.0  # the noise is symmetric
    active = (shift > 0) | (scales[0] != scales[1])
    order = np.argsort(-shift[active] / scales[1][active], kind="stable")
    shift, scales = shift[active][order], scales[:, active][:, order]
    standard = _standard(len(shift), normal)
    for side, by in ((0, shift), (1, -shift)):
        here, there = scales[side], scales[1 - side]
        noise = standard * here
        loss = _exponent((noise + by) / there, normal) - _exponent(standard, normal) + np.log(there / here)
        total = -np.sort(-loss.sum(axis=1))
        p = np.arange(1, _LOSSES + 1) / _LOSSES
        q = np.minimum(np.cumsum(np.exp(-np.clip(total, -700.0, 700.0))) / _LOSSES, 1.0)
        best = max(best, float(growth_rate(p, q, epsilon, delta)[_FEWEST:].max()))
    return best if best > _LEAST else 0.0


def _exponent(standard: Floats, normal: bool) -> Floats:  # noqa: FBT001  as in `_standard`
    return standard**2 / 2 if normal else np.abs(standard)


@cache
def _standard(size: int, normal: bool) -> Floats:  # noqa: FBT001  a cache takes what is told by place
    rng = np.random.default_rng(0)
    return rng.normal(size=(_LOSSES, size)) if normal else rng.laplace(size=(_LOSSES, size))
