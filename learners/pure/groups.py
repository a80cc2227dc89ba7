"""The exponential mechanism on intervals of equal scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from audit.errors import finite_number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from mechanisms.concave.piecewise import StepFunction

__all__ = ["GroupedChoice"]


@dataclass(frozen=True, eq=False)
class GroupedChoice:
    """The exponential mechanism over {0 … top}.

    The weights are exp(epsilon·score/2).

    Parameters
    ----------
    score
        The score of every number. It has sensitivity 1 and is constant on intervals, called pieces.
    epsilon
        The privacy of the choice, > 0.

    Guarantee
    ---------
    This is the exponential mechanism, exactly. A piece of n numbers with score s has the weight n·e^(εs/2),
    divided equally among its numbers. (A number in a piece is drawn from 128 uniform bits. In a piece of
    fewer than 2^64 numbers its probability is off by at most a factor 1 ± 2^(−63). In a longer piece the
    probability of every interval is off by at most 2^(−127).)

    Examples
    --------
    >>> from mechanisms.concave.piecewise import StepFunction
    >>> choice = GroupedChoice(StepFunction([0, 1], [2.0, 0.0], top=2**64), epsilon=40.0)
    >>> round(math.exp(choice.log_probability(0)), 6), round(math.exp(choice.log_mass(1, 2**64)), 6)
    (0.012599, 0.987401)
    """

    score: StepFunction
    epsilon: float

    def __post_init__(self) -> None:
        finite_number(self.epsilon, what="The `epsilon` of a choice", above=0)

    @cached_property
    def _lengths(self) -> list[int]:
        ends = [*self.score.starts[1:], self.score.top + 1]
        return [end - start for start, end in zip(self.score.starts, ends, strict=True)]

    @cached_property
    def _logs(self) -> NDArray[np.float64]:
        """The log-probability of each number, one entry for each piece."""
        relative = (self.score.values - self.score.values.max()) * (self.epsilon / 2.0)
        weights = relative + self._log_lengths
        top = weights.max()
        logs: NDArray[np.float64] = relative - (top + math.log(np.exp(weights - top).sum()))
        return logs

    @cached_property
    def _log_lengths(self) -> NDArray[np.float64]:
        return np.array([math.log(length) for length in self._lengths])

    @cached_property
    def _cumulative(self) -> NDArray[np.float64]:
        return np.asarray(np.cumsum(np.exp(self._logs + self._log_lengths)))

    def log_probability(self, number: int) -> float:
        """Return the log-probability of one number."""
        return float(self._logs[self.score.piece(number)])

    def log_mass(self, low: int, high: int) -> float:
        """Return the log-probability of {low … high}."""
        total = -math.inf
        for piece in range(self.score.piece(low), self.score.piece(high) + 1):
            first, last = max(low, self.score.starts[piece]), min(high, self.score.end(piece))
            total = float(np.logaddexp(total, self._logs[piece] + math.log(last - first + 1)))
        return total

    def log_probabilities(self, numbers: Iterable[int]) -> list[float]:
        """Return the log-probabilities of several numbers."""
        return [self.log_probability(number) for number in numbers]

    def sample(self, size: int, rng: np.random.Generator) -> list[int]:
        """Return the numbers of `size` runs."""
        cumulative = self._cumulative
        pieces = np.searchsorted(cumulative, rng.random(size) * cumulative[-1], side="right").tolist()
        bits = rng.integers(0, 1 << 64, (size, 2), dtype=np.uint64).tolist()
        starts, lengths = self.score.starts, self._lengths
        return [
            starts[piece] + (lengths[piece] * (high << 64 | low) >> 128)
            for piece, (high, low) in zip(pieces, bits, strict=True)
        ]
