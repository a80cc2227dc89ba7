"""Labelled numbers stored as counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from audit.errors import InvalidKind, InvalidValue, positive_int
from audit.values.brief import show
from mechanisms.concave.piecewise import StepFunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "LONG_BITS",
    "MOST_BITS",
    "NumberSample",
    "anywhere",
    "check_dimension",
    "numbers",
    "sample_of",
    "threshold_errors",
]

MOST_BITS = 64
"""The largest d whose numbers fit into a machine word."""

LONG_BITS = 4096
"""The largest d of learners that only compare numbers; beyond 64 bits the numbers are Python ints."""

Example = tuple[int, int]


def numbers(values: Any) -> NDArray[Any]:
    """Return whole numbers ≥ 0 as 64-bit integers or Python ints.

    Examples
    --------
    >>> numbers([1, 2]).dtype, numbers([1, 2**64]).dtype
    (dtype('uint64'), dtype('O'))
    """
    try:
        return np.asarray(values, dtype=np.uint64)
    except OverflowError:
        return np.asarray(values, dtype=object)


def anywhere(dimension: int, size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return `size` uniform numbers below 2^dimension.

    Examples
    --------
    >>> anywhere(100, 2, np.random.default_rng(0)).dtype
    dtype('O')
    """
    if dimension <= MOST_BITS:
        return rng.integers(0, 1 << dimension, size, dtype=np.uint64)
    length = -(-dimension // 8)
    drawn = [int.from_bytes(rng.bytes(length)) >> (8 * length - dimension) for _ in range(size)]
    return np.array(drawn, dtype=object)


def check_dimension(dimension: Any, *, owner: str, most: int = MOST_BITS) -> int:
    """Return d if it is in 1 … `most`, else raise.

    Examples
    --------
    >>> check_dimension(64, owner="PointLearner")
    64
    """
    return positive_int(dimension, what=f"The `dimension` of `{owner}`", maximum=most)


@dataclass(frozen=True, eq=False)
class NumberSample(Sequence[Example]):
    """Examples (x, y), stored as counts.

    x is a whole number and y a bit. The order of examples is lost.

    Parameters
    ----------
    points
        The distinct x, increasing, shape (points,).
    zeros, ones
        How often each point has the label 0, and the label 1; whole numbers ≥ 0.

    Examples
    --------
    >>> some = NumberSample.counted([7, 3, 7], [1, 0, 1])
    >>> some.points.tolist(), some.ones.tolist(), len(some), list(some)
    ([3, 7], [0, 2], 3, [(3, 0), (7, 1), (7, 1)])
    """

    points: NDArray[Any]
    zeros: NDArray[np.int64]
    ones: NDArray[np.int64]

    @classmethod
    def counted(cls, points: Any, labels: Any, times: Any = None) -> NumberSample:
        """Return the sample with these points and labels.

        Each comes once, or as often as `times` says.
        """
        known = numbers(points)
        weights = np.ones(len(known)) if times is None else np.asarray(times, dtype=np.float64)
        is_one = np.asarray(labels, dtype=np.bool_)
        distinct, places = np.unique(known, return_inverse=True)
        zeros, ones = (
            np.bincount(places, weights=np.where(of, weights, 0.0), minlength=len(distinct)).astype(np.int64)
            for of in (~is_one, is_one)
        )
        kept = zeros + ones > 0
        return cls(distinct[kept], zeros[kept], ones[kept])

    def __len__(self) -> int:
        return int(self._ends[-1]) if len(self._ends) else 0

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        places = range(len(self))[index]
        return self._at(places) if isinstance(places, int) else [self._at(place) for place in places]

    def __repr__(self) -> str:
        return f"NumberSample({len(self)} examples of {len(self.points)} numbers)"

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        """The cumulative counts after each point's zeros and after its ones."""
        ends: NDArray[np.int64] = np.cumsum(np.stack([self.zeros, self.ones], axis=1).ravel())
        return ends

    def _at(self, place: int) -> Example:
        run = int(np.searchsorted(self._ends, place, side="right"))
        return int(self.points[run // 2]), run % 2


def sample_of(database: Any, *, dimension: int, owner: str) -> NumberSample:
    """Return a database of (x, y) as counts.

    Raises
    ------
    InvalidKind
        The database is not a sequence of pairs.
    InvalidValue
        An x is not a whole number in [0, 2^dimension), or a y is neither 0 nor 1.

    Examples
    --------
    >>> sample_of([(5, 1), (5, 1)], dimension=3, owner="PointLearner").ones
    array([2])
    >>> sample_of([(9, 1)], dimension=3, owner="It")
    Traceback (most recent call last):
    audit.errors.InvalidValue: An example of `It` must be (x, y), x a whole number from 0 to 2^3 − 1 and y 0
    or 1; got (9, 1).
    """
    if isinstance(database, NumberSample):
        return _within(database, dimension=dimension, owner=owner)
    try:
        pairs = [(x, y) for x, y in database]
    except (TypeError, ValueError):
        raise InvalidKind(
            f"A database of `{owner}` must be a list of (x, y), x a number and y 0 or 1; "
            f"got {show(database)}."
        ) from None
    top = 1 << dimension
    for pair in pairs:
        if not _is_example(pair, top):
            raise _wrong(pair, dimension=dimension, owner=owner)
    times = Counter(pairs)
    distinct = sorted({x for x, _ in times})
    zeros, ones = (np.array([times[x, y] for x in distinct], dtype=np.int64) for y in (0, 1))
    return NumberSample(numbers(distinct), zeros, ones)


def threshold_errors(sample: NumberSample, *, top: int) -> StepFunction:
    """Return how many examples each threshold gets wrong.

    Threshold j is wrong on x ≥ j labelled 1 and on x < j labelled 0.

    Examples
    --------
    >>> threshold_errors(NumberSample.counted([1, 2, 6], [1, 1, 0]), top=8).values_everywhere()
    [2.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    """
    steps = sample.zeros - sample.ones
    values = np.concatenate([[0], np.cumsum(steps)]) + sample.ones.sum()
    starts = [0, *(x + 1 for x in sample.points.tolist())]
    return StepFunction(starts, values.astype(np.float64), top=top)


def _is_example(pair: tuple[Any, Any], top: int) -> bool:
    x, y = pair
    return _is_whole(x) and 0 <= x < top and _is_whole(y) and 0 <= y <= 1


def _is_whole(value: Any) -> bool:
    return type(value) is int or isinstance(value, np.integer)


def _within(sample: NumberSample, *, dimension: int, owner: str) -> NumberSample:
    if len(sample.points) and int(sample.points[-1]) >> dimension:
        raise _wrong(sample[-1], dimension=dimension, owner=owner)
    return sample


def _wrong(pair: tuple[Any, Any], *, dimension: int, owner: str) -> InvalidValue:
    return InvalidValue(
        f"An example of `{owner}` must be (x, y), x a whole number from 0 to 2^{dimension} − 1 and y 0 or 1; "
        f"got {show(pair)}."
    )
