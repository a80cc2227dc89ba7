"""A subject on two databases with the same random draws.

Runs are recorded, and draws are changed on request.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

import numpy as np

from audit.sampling.recorded.everywhere import Reel
from audit.sampling.recorded.generator import Draw, RecordingGenerator, Tape
from audit.sampling.recorded.leaves import leaves_of
from audit.sampling.recorded.noise import scale_of
from audit.sampling.recorded.runs import Run, Shift, shifted
from audit.values.outcomes import Raised

#: Number of plain runs (with unchanged draws) of each side. With ten, rare branches seemed never taken.
SEEDS: Final = 40
#: Maximum number of runs of one examination. Unlike a limit of time, it is the same on every machine.
MOST_RUNS: Final = 30_000
LEFT, RIGHT = "left", "right"
#: Maximum number of draws that are also pushed one at a time.
_PUSHED_ALONE: Final = 12
#: A forced run ends after this many draws: `_LONGER` times those of an ordinary run, plus `_SPARE`. Otherwise
#: a loop that waits for another value of a forced draw would never end.
_SPARE, _LONGER = 100, 2


@dataclass(frozen=True)
class Force:
    """A rule that changes the draws of a run.

    It sets the uniform draws, or adds to the noise.

    Parameters
    ----------
    coins
        Position of every uniform draw in its range, from 0 to 1; None leaves uniform draws unchanged.
    noise
        This multiple of the draw's scale is added to every draw that has a scale.
    only
        The index of the only draw to which noise is added; None adds noise to all draws with a scale.
    """

    coins: float | None = None
    noise: float = 0.0
    only: int | None = None

    def __call__(self, place: int, draw: Draw) -> Any:
        """Return the values that replace those of a draw."""
        if self.coins is not None and (ends := _ends(draw)) is not None:
            return np.full(draw.shape, _between(*ends, self.coins), dtype=np.asarray(draw.values).dtype)[()]
        scale = scale_of(draw) if self.noise and self.only in (None, place) else None
        if scale is not None:
            pushed = np.asarray(draw.values, float) + self.noise * np.asarray(scale)
            if draw.method in _POSITIVE:
                pushed = np.maximum(pushed, 1.0 if draw.method == "geometric" else 0.0)
            return pushed if np.asarray(draw.values).dtype.kind == "f" else np.rint(pushed).astype(np.int64)
        return draw.values


_POSITIVE: Final = frozenset({"geometric", "exponential", "standard_exponential", "expovariate"})
#: Least distance of a forced draw from the ends of its range, so that no logarithm gets 0 or 1.
_INSIDE: Final = 2.0**-53


def _ends(draw: Draw) -> tuple[Any, Any] | None:
    """Return the ends of a uniform draw's range, or None.

    None is returned for other draws, and for several ranges at once.
    """
    told, ends = draw.parameters, None
    if draw.method == "random":
        ends = _INSIDE, 1.0 - _INSIDE
    elif draw.method == "uniform" and "low" in told:
        ends = told["low"], told["high"]
    elif draw.method == "integers":
        low, high = (0, told["low"]) if told["high"] is None else (told["low"], told["high"])
        ends = low, high if told.get("endpoint") or np.ndim(high) else int(high) - 1
    return ends if ends is not None and not any(map(np.ndim, ends)) else None


def _between(low: Any, high: Any, share: float) -> Any:
    """Return the value at this fraction of the way from `low` to `high`.

    If both ends are whole, the value is whole.
    """
    if isinstance(low, float) or isinstance(high, float):
        return low + share * (high - low)
    return int(low) + int(Fraction(share) * (int(high) - int(low)))


class TooManyRunsError(Exception):
    """An examination has used all its runs. The argument is their number."""


@dataclass(eq=False)
class Scene:
    """A subject and databases, ready to be run on the same draws.

    Parameters
    ----------
    call
        (database, rng) -> output, of a subject in its first state.
    databases
        By name: left and right, and the databases made from them.
    reel
        Records the draws from generators other than `rng`.
    """

    call: Callable[[Any, Any], Any]
    databases: Mapping[str, Callable[[], Any]]
    reel: Reel
    _plain: dict[str, list[Run]] = field(default_factory=dict)
    _extreme: dict[str, list[Run]] = field(default_factory=dict)

    def run(self, side: str, seed: int, *, force: Force | None = None, shift: Shift | None = None) -> Run:
        """Return the run of a side on the draws of a seed.

        `force` and `shift` say how the draws are changed.
        """
        plain = self._plain.get(side, ()) if force is not None else ()
        most = _SPARE + _LONGER * max((len(run.draws) for run in plain), default=0)

        def edit(place: int, draw: Draw) -> Any:
            if force is not None and place >= most:
                raise RuntimeError("it draws without end")
            values = draw.values if force is None else force(place, draw)
            return shifted(values, place, shift or {})

        if self.reel.runs >= MOST_RUNS:
            raise TooManyRunsError(MOST_RUNS)
        tape = Tape(None if force is None and not shift else edit)
        self.reel.start(tape, seed)
        try:
            output = self.call(self.databases[side](), RecordingGenerator(np.random.PCG64(seed), tape))
        except Exception as error:  # noqa: BLE001  whatever a mechanism raises is its output
            output = Raised.of(error)
        return Run(tuple(tape.taken), output, leaves_of(output))

    def plain(self, side: str) -> list[Run]:
        """Return the runs of a side on the first `SEEDS` seeds, with unchanged draws."""
        if side not in self._plain:
            self._plain[side] = [self.run(side, seed) for seed in range(SEEDS)]
        return self._plain[side]

    def extreme(self, side: str) -> list[Run]:
        """Return runs of a side with draws pushed towards the ends of their ranges."""
        if side not in self._extreme:
            forces = [Force(c, n) for c in (0.0, 0.25, 0.5, 0.75, 1.0) for n in (-60.0, 0.0, 60.0)]
            alone = range(min(_PUSHED_ALONE, max(len(run.draws) for run in self.plain(side))))
            forces += [Force(None, n, k) for k in alone for n in (-60.0, 60.0)]
            self._extreme[side] = [self.run(side, seed, force=force) for force in forces for seed in (0, 1)]
        return self._extreme[side]
