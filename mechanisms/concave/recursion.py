"""Algorithm Rec on one database, with its law and runs (BNS Fig. 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mechanisms.concave.bounds import SMALL, ceiling
from mechanisms.concave.contest import Contest, contest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from audit.distributions import Finite
    from mechanisms.comparison.threshold import ThresholdTest
    from mechanisms.concave.piecewise import StepFunction

__all__ = [
    "PATTERNS",
    "Level",
    "Settings",
    "by_pattern",
    "chain",
    "inverted",
    "law",
    "log_choice",
    "log_outcome",
    "log_sums",
    "runs",
    "spread",
]

HALF = 16
"""Number of candidates in a released interval (BNS Fig. 1, step 10)."""

PATTERNS: Final[tuple[tuple[bool, bool], ...]] = ((True, True), (True, False), (False, True), (False, False))
"""Whether A_dist releases an A_i, and whether it releases a B_i."""


@dataclass(frozen=True)
class Settings:
    """The parameters that all levels of the recursion share.

    Parameters
    ----------
    epsilon
        The epsilon of each exponential mechanism.
    alpha, promise
        The approximation parameter, and the promise r of the outermost level.
    test
        The test with which A_dist compares a gap with its threshold.
    left_ends
        A function that returns where the parts of the candidate set H begin. It takes the released interval
        of the family {A_i} and that of {B_i}, or None for an interval that was not released.
    """

    epsilon: float
    alpha: float
    promise: float
    test: ThresholdTest
    left_ends: Callable[[Contest | None, Contest | None], list[int]]


@dataclass(frozen=True)
class Level:
    """The quality of one recursive call of Rec."""

    quality: StepFunction
    padded: StepFunction
    settings: Settings

    def contests(self, power: int) -> tuple[Contest, Contest]:
        """Return the best interval A_i and the best B_i, for K = 2^power.

        Intervals have 8·K points. The B_i begin 4·K points later than the A_i.
        """
        quarter = 4 << power
        first, second = (contest(self.padded, offset=offset, width=2 * quarter) for offset in (0, quarter))
        return first, second

    def candidates(self, power: int, left_ends: Iterable[int]) -> list[int]:
        """Return the candidate set H for K = 2^power.

        From each left end on, H has 16 points at distances of K/2. The points are rounded down, and are at
        most `top`. Without left ends, H is `spread(top)`.
        """
        points = {left + (i << power) // 2 for left in left_ends for i in range(HALF)}
        top = self.quality.top
        return sorted({min(point, top) for point in points}) or spread(top)

    def outcomes(self, power: int) -> Iterator[tuple[float, list[int]]]:
        """Yield the log-probability of each release pattern, with its set H."""
        contests = self.contests(power)
        for released in PATTERNS:
            log = log_outcome(contests, released, test=self.settings.test)
            if log > -math.inf:
                yield log, self.choice(power, contests, released=released)

    def choice(
        self, power: int, contests: tuple[Contest, Contest], *, released: tuple[bool, bool]
    ) -> list[int]:
        """Return the candidate set H if A_dist releases what `released` says."""
        first, second = (c if one else None for c, one in zip(contests, released, strict=True))
        return self.candidates(power, self.settings.left_ends(first, second))

    def log_choice(self, points: Iterable[int]) -> NDArray[np.float64]:
        """Return the log-probabilities with which points are chosen."""
        return log_choice(self.quality.values_at(points), epsilon=self.settings.epsilon)


def spread(top: int) -> list[int]:
    """Return 32 points spread evenly over {0 … top}, including its ends.

    Examples
    --------
    >>> spread(62)[:4], spread(2**64)[-1] == 2**64
    ([0, 2, 4, 6], True)
    """
    return sorted({top * i // (2 * HALF - 1) for i in range(2 * HALF)})


def chain(quality: StepFunction, settings: Settings) -> list[Level]:
    """Return the recursion's levels, the outermost first (BNS Fig. 1, steps 2 to 6).

    L(j) is the largest x such that the quality is at least x on 2^j successive points. For j = log T′ + 1
    there are not enough points. As printed, L(log T′ + 1) is min{0, L(log T′)}.
    """
    found, promise, alpha = [], settings.promise, settings.alpha
    while True:
        top = quality.top
        padded = quality.extended(ceiling(top)) if top > SMALL else quality
        found.append(Level(quality, padded, settings))
        if top <= SMALL:
            return found
        longest = padded.window_minima()
        lows, nexts = np.array(longest), np.array([*longest[1:], min(0.0, longest[-1])])
        values = np.minimum(lows - (1.0 - alpha) * promise, promise - nexts)
        quality, promise = type(quality).of(values), alpha / 2.0 * promise


def law(levels: list[Level]) -> Finite:
    """Return the exact law of Rec's output.

    Each output of the inner level leads to at most 128 outputs. At T = 2^64 the law has a few thousand
    outcomes.
    """
    from audit.distributions import Finite

    inner = levels[-1]
    points = list(range(inner.quality.top + 1))
    logs = inner.log_choice(points)
    for level in reversed(levels[:-1]):
        points, logs = _mixed(level, points, logs)
    return Finite(points, log_probabilities=logs)


def _mixed(
    level: Level, powers: list[int], log_powers: NDArray[np.float64]
) -> tuple[list[int], NDArray[np.float64]]:
    place: dict[int, int] = {}
    places: list[int] = []
    terms = []
    for power, log_power in zip(powers, log_powers.tolist(), strict=True):
        for log_outcome, points in level.outcomes(power):
            places += [place.setdefault(point, len(place)) for point in points]
            terms.append(level.log_choice(points) + (log_power + log_outcome))
    sums = log_sums(np.array(places), np.concatenate(terms), size=len(place))
    return list(place), sums


def log_sums(places: NDArray[np.intp], terms: NDArray[np.float64], *, size: int) -> NDArray[np.float64]:
    """Return, for each of `size` places, log Σ exp(term) over the terms of that place."""
    top = np.full(size, -np.inf)
    np.maximum.at(top, places, terms)
    sums = np.bincount(places, weights=np.exp(terms - top[places]), minlength=size)
    logs: NDArray[np.float64] = top + np.log(sums)
    return logs


def runs(levels: list[Level], size: int, *, rng: np.random.Generator) -> NDArray[Any]:
    """Return the outputs of `size` runs of Rec.

    If the range is too large for 64-bit integers, the outputs are Python ints. The random numbers of run i do
    not depend on the database.
    """
    inner = levels[-1]
    outputs: NDArray[Any] = inverted(inner.log_choice(range(inner.quality.top + 1)), rng.random(size))
    for level in reversed(levels[:-1]):
        noise = rng.laplace(0.0, level.settings.test.scale, (2, size))
        outputs = _step(level, outputs, noise=noise, uniforms=rng.random(size))
    return outputs


def _step(
    level: Level, powers: NDArray[Any], *, noise: NDArray[np.float64], uniforms: NDArray[np.float64]
) -> NDArray[Any]:
    kind = np.int64 if level.quality.top < 2**63 else object
    outputs = np.empty(len(powers), dtype=kind)
    for power in np.unique(powers).tolist():
        runs_here = np.flatnonzero(powers == power)
        contests = level.contests(power)
        for released, rows in by_pattern(contests, runs_here, noise=noise, test=level.settings.test):
            if len(rows):
                points = level.choice(power, contests, released=released)
                chosen = inverted(level.log_choice(points), uniforms[rows])
                outputs[rows] = np.array(points, dtype=kind)[chosen]
    return outputs


def by_pattern(
    contests: tuple[Contest, Contest],
    rows: NDArray[np.intp],
    *,
    noise: NDArray[np.float64],
    test: ThresholdTest,
) -> Iterator[tuple[tuple[bool, bool], NDArray[np.intp]]]:
    """Yield each pattern of releases with the runs that have it.

    A pattern says which of the two calls of A_dist release. `noise` has one row for each call.
    """
    passed = np.array([c.released(line, test) for c, line in zip(contests, noise[:, rows], strict=True)])
    for released in PATTERNS:
        yield released, rows[(passed == np.array(released)[:, None]).all(axis=0)]


def log_outcome(
    contests: tuple[Contest, Contest], released: tuple[bool, bool], *, test: ThresholdTest
) -> float:
    """Return the log-probability that A_dist releases exactly what `released` says."""
    return sum(c.log_outcome(test, passed=one) for c, one in zip(contests, released, strict=True))


def log_choice(scores: NDArray[np.float64], *, epsilon: float) -> NDArray[np.float64]:
    """Return the log-probabilities of the exponential mechanism for these scores.

    Examples
    --------
    >>> np.exp(log_choice(np.array([0.0, 0.0]), epsilon=1.0)).tolist()
    [0.5, 0.5]
    """
    weights = (scores - scores.max()) * (epsilon / 2.0)
    logs: NDArray[np.float64] = weights - math.log(np.exp(weights).sum())
    return logs


def inverted(logs: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return, for each uniform number, the index that the inverse distribution gives.

    `logs` has the log-probabilities of the indices.
    """
    cumulative = np.cumsum(np.exp(logs))
    places: NDArray[np.intp] = np.searchsorted(cumulative, uniforms * cumulative[-1], side="right")
    return places
