"""What the sanitizers of numbers have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from audit.claims import PAC, ApproximateDP
from audit.errors import InvalidValue, finite_number, positive_int, probability
from audit.relations import Relation
from learners.sanitizers.problems import NumbersProblem, hard_numbers, moved, random_numbers
from learners.sanitizers.tallies import MOST_BITS, Tally, length, tally
from mechanisms.selection.choosing_round import least_size
from mechanisms.subjects.parameters import PlainParameters
from mechanisms.subjects.sizes import StatedSize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from audit.problems import Problem
    from learners.sanitizers.spending import Spending
    from mechanisms.subjects.neighbours import Pair

__all__ = ["LEAST_ALPHA", "NOISE_SHARE", "NumberSanitizer", "least_with"]

NOISE_SHARE = 0.125
"""The part of epsilon spent on noisy counts. It is small because choosing needs far more records."""


LEAST_ALPHA = 0.001
"""The least alpha. A smaller alpha needs more than 10^7 records, and composing all rounds takes minutes."""


@dataclass(frozen=True, kw_only=True)
class NumberSanitizer(StatedSize, PlainParameters):
    """The parameters of a sanitizer of the numbers of d bits.

    Parameters
    ----------
    dimension
        d, from 1 to 64.
    epsilon, delta
        The privacy claimed for the whole output.
    alpha, beta
        The accuracy and the failure probability, in (0, 1).
    size
        m, the number of records. A database of another length is refused. None: `sample_size`.
    records
        The possible records in privacy audits.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds, or `size` is below `private_size`.

    Examples
    --------
    >>> from learners import PointSanitizer
    >>> PointSanitizer(delta=0)
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `delta` of `PointSanitizer` must be > 0; for delta = 0 there is
    `GenericSanitizer`, which is pure.
    """

    dimension: int = 64
    epsilon: float = 1.0
    delta: float = 1e-6
    alpha: float = 0.1
    beta: float = 0.1
    size: int | None = None
    records: Sequence[int] | None = None

    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        finite_number(self.dimension, what=f"The `dimension` of `{owner}`", maximum=MOST_BITS)
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        if probability(self.delta, what=f"The `delta` of `{owner}`", one=False) == 0.0:
            raise InvalidValue(
                f"The `delta` of `{owner}` must be > 0; for delta = 0 there is "
                "`GenericSanitizer`, which is pure."
            )
        probability(self.alpha, what=f"The `alpha` of `{owner}`", zero=False, one=False)
        if self.alpha < LEAST_ALPHA:
            raise InvalidValue(
                f"The `alpha` of `{owner}` must be at least {LEAST_ALPHA:g}: it takes about 1/alpha rounds; "
                f"got {self.alpha:g}."
            )
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        if self.size is None:
            object.__setattr__(self, "size", self.sample_size())
        positive_int(self.size, what=f"The `size` of `{owner}`")
        if self._m < self.private_size:
            raise InvalidValue(
                f"The `size` of `{owner}` must be at least {self.private_size}, or choosing is not private; "
                f"got {self._m}."
            )
        if self.records is None:
            object.__setattr__(self, "records", tuple(sorted({0, 1, 2**self.dimension - 1})))

    @property
    def claim(self) -> ApproximateDP:
        """The privacy claimed."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None if `size` is too small."""
        return PAC(self.alpha, self.beta) if self._m >= self.sample_size() else None

    @cached_property
    def spending(self) -> Spending:
        """The composed cost of all steps."""
        raise NotImplementedError

    @property
    def choosing_alpha(self) -> float:
        """The approximation parameter of the choosing mechanism."""
        raise NotImplementedError

    @property
    def choosing_delta(self) -> float:
        """The delta of one call of the choosing mechanism."""
        raise NotImplementedError

    def failure_bound(self, size: int) -> float:
        """Return a bound on the failure probability with `size` records."""
        raise NotImplementedError

    def measure(self, output: Any, counted: Tally) -> float:
        """Return the largest error of an output's answers over the whole class."""
        raise NotImplementedError

    @cached_property
    def private_size(self) -> int:
        """The least size for which choosing is private (BNS §4.1)."""
        return least_size(
            alpha=self.choosing_alpha,
            beta=self.beta,
            epsilon=self.spending.step,
            delta=self.choosing_delta,
        )

    @cached_property
    def _needed(self) -> int:
        """The least size with privacy and accuracy."""
        return least_with(lambda m: self.failure_bound(m) <= self.beta, start=self.private_size)

    @property
    def largest_step(self) -> float:
        """The largest epsilon of a step for BNS Lemma 4."""
        return 16.0 / self.choosing_alpha / self.beta * (1.0 - 1e-9)

    @property
    def _m(self) -> int:
        assert self.size is not None  # set at the latest when the subject was made
        return self.size

    def tally(self, database: Any) -> Tally:
        """Return a valid database as counts."""
        owner = type(self).__name__
        held = length(database, owner=owner)
        if held != self._m:
            raise InvalidValue(f"A database of `{owner}` must hold {self._m} records; got {held}.")
        return tally(database, dimension=self.dimension, owner=owner)

    def problems(self) -> list[Problem]:
        """Return fixed, hard databases of `size` records."""
        return [
            self._problem(name, database)
            for name, database in hard_numbers(self.dimension, size=self._m, alpha=self.alpha)
        ]

    def vary(self, problem: Any, rng: np.random.Generator) -> Problem:
        """Return a problem near the given one."""
        name, database = moved(problem, dimension=self.dimension, alpha=self.alpha, rng=rng)
        return self._problem(name, database)

    def random(self, rng: np.random.Generator) -> Problem:
        """Return a random database of `size` records."""
        name, database = random_numbers(self.dimension, size=self._m, rng=rng)
        return self._problem(name, database)

    def _problem(self, name: str, database: Any) -> NumbersProblem:
        return NumbersProblem(name, database, self.measure, self.dimension)

    def suggested_pairs(self) -> list[Pair]:
        """Return neighbouring databases of two points."""
        assert self.records is not None
        records = list(self.records)
        (first, second, *_), other = records, records[-1]
        edge = math.ceil(self.choosing_alpha * self._m / 2.0)
        pairs: list[Pair] = []
        for head in dict.fromkeys(h for h in (edge, edge - 1, 1, self._m // 2, self._m) if 1 <= h <= self._m):
            left = [first] * head + [second] * (self._m - head)
            pairs += [(left, [new, *left[1:]]) for new in dict.fromkeys((second, other)) if new != first]
        return pairs


def least_with(holds: Callable[[int], bool], *, start: int) -> int:
    """Return the least whole number ≥ `start` for which `holds` is true.

    `holds` must stay true for all larger numbers.

    Examples
    --------
    >>> least_with(lambda m: m * m > 50, start=3)
    8
    """
    low, high = start - 1, start
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
