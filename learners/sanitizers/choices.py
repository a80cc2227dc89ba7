"""The choosing mechanism, run repeatedly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mechanisms.selection.choosing_round import ChoosingRound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.sanitizers.tallies import Tally
    from mechanisms.comparison.threshold import ThresholdTest

__all__ = ["RepeatedChoosing"]


@dataclass(frozen=True, eq=False)
class RepeatedChoosing:
    """The choosing mechanism, run repeatedly without replacement.

    A point's score is its count.

    Parameters
    ----------
    tally
        The database.
    test
        The noisy test that the best count must pass. If it fails, the run ends.
    weight
        The factor of a count in the exponent, a quarter of the epsilon of one round.
    rounds
        The largest number of points that are chosen.

    Guarantee
    ---------
    Each round is the `ChoosingRound` of a `mechanisms.ChoosingMechanism` whose solutions are the points not
    yet chosen. Points that do not occur score 0 and are never chosen, so the domain need not be listed.

    Examples
    --------
    >>> from learners.sanitizers.tallies import tally
    >>> from mechanisms.comparison.threshold import ThresholdTest
    >>> seen = tally([4] * 50 + [6], dimension=64, owner="It")
    >>> choosing = RepeatedChoosing(seen, ThresholdTest(1.0, 25.0), weight=1.0, rounds=3)
    >>> [[seen.points[i].item() for i in run] for run in choosing.sample(2, np.random.default_rng(0))]
    [[4], [4]]
    """

    tally: Tally
    test: ThresholdTest
    weight: float
    rounds: int

    def sample(self, size: int, rng: np.random.Generator) -> list[list[int]]:
        """Return the points that each of `size` runs chooses, as indices."""
        noise = rng.laplace(0.0, self.test.scale, (size, self.rounds))
        uniforms = rng.random((size, self.rounds, 2))
        return [self._run(noise[run], uniforms[run]) for run in range(size)]

    def law(self) -> dict[frozenset[int], float]:
        """Return the probability of every set that can be chosen."""
        one, final = ChoosingRound(self.test, self.weight), dict[frozenset[int], float]()
        running: dict[frozenset[int], float] = {frozenset(): 1.0}
        for _ in range(self.rounds):
            following: dict[frozenset[int], float] = {}
            for chosen, mass in running.items():
                left = [place for place in range(len(self.tally.counts)) if place not in chosen]
                refused, logs = one.log_law(self.tally.counts[left].astype(np.float64))
                final[chosen] = final.get(chosen, 0.0) + mass * math.exp(refused)
                for place, share in zip(left, np.exp(logs).tolist(), strict=True):
                    key = chosen | {place}
                    following[key] = following.get(key, 0.0) + mass * share
            running = following
        for chosen, mass in running.items():
            final[chosen] = final.get(chosen, 0.0) + mass
        return final

    @cached_property
    def _groups(self) -> tuple[NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
        """The distinct counts, the points by count, and where counts begin."""
        order = np.argsort(self.tally.counts, kind="stable")
        levels, starts = np.unique(self.tally.counts[order], return_index=True)
        return levels, order, np.append(starts, len(order))

    def _run(self, noise: NDArray[np.float64], uniforms: NDArray[np.float64]) -> list[int]:
        levels, order, starts = self._groups
        left = np.diff(starts).astype(np.float64)
        taken: dict[int, list[int]] = {}
        chosen: list[int] = []
        for shift, (first, second) in zip(noise.tolist(), uniforms.tolist(), strict=True):
            alive = np.flatnonzero(left)
            if not len(alive) or levels[alive[-1]] + shift < self.test.threshold:
                return chosen
            masses = left * np.exp(self.weight * np.minimum(levels - levels[alive[-1]], 0))
            ends = np.cumsum(masses)
            group = int(np.searchsorted(ends, first * ends[-1], side="right"))
            position = int(second * left[group])
            for earlier in sorted(taken.setdefault(group, [])):
                position += position >= earlier
            taken[group].append(position)
            left[group] -= 1
            chosen.append(int(order[starts[group] + position]))
        return chosen
