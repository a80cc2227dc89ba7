"""Vectors of answers to queries of sensitivity 1. Neighbours differ by at most 1 in every answer."""

import math
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from numbers import Rational, Real
from typing import Any

import numpy as np

from audit.relations.records import distinct, rebuilt, records_of
from audit.values.canonical import key, same


def is_answer(answer: Any) -> bool:
    """Return whether `answer` is a real number. Booleans are not.

    Examples
    --------
    >>> is_answer(1.5), is_answer(True), is_answer("1")
    (True, False, False)
    """
    return isinstance(answer, Real) and not isinstance(answer, bool | np.bool_)


def within_one(left: Any, right: Any) -> bool:
    """Return whether two answers differ by at most 1.

    The comparison is exact for integers, and up to rounding for floats.

    Parameters
    ----------
    left, right
        Two numbers. NaN and the infinities are within 1 only of themselves. The difference of floats may
        exceed 1 by four times the spacing of floats of that size.

    Examples
    --------
    >>> 3.7 - 2.7 <= 1, within_one(3.7, 2.7), within_one(3, 5)
    (True, True, False)
    """
    if same(left, right):
        return True
    if isinstance(left, Rational) and isinstance(right, Rational):
        return abs(Fraction(left) - Fraction(right)) <= 1
    a, b = float(left), float(right)
    rounding = 4 * max(_spacing(left), _spacing(right)) * max(1.0, abs(a), abs(b))
    return math.isfinite(rounding) and abs(a - b) <= 1 + rounding


def _spacing(number: Any) -> float:
    return float(np.finfo(type(number)).eps) if isinstance(number, np.floating) else sys.float_info.epsilon


def moved(database: Any, rng: Any = None) -> Iterator[Any]:
    """Yield databases with answers raised or lowered by 1.

    Parameters
    ----------
    database
        A vector of numbers.
    rng
        If it is None, every pattern comes once, and its opposite. Some patterns raise all answers, one answer
        or one half. Others raise one half, one quarter, one answer or every other answer, and lower the rest.
        With a `numpy.random.Generator`, the steps are random.

    Examples
    --------
    >>> list(moved([0, 5]))
    [[1, 6], [-1, 4], [1, 5], [-1, 5], [0, 6], [0, 4], [1, 4], [-1, 6]]
    """
    answers = records_of(database)
    for pattern in _patterns(len(answers)) if rng is None else _random_patterns(len(answers), rng):
        steps = [answer + step for answer, step in zip(answers, pattern, strict=True)]
        if isinstance(database, np.ndarray):
            with np.errstate(all="ignore"):  # the relation drops databases that overflowed
                yield np.array(steps).astype(database.dtype)
        else:
            yield rebuilt(database, steps)


def chosen(database: Any, records: Sequence[Any], rng: Any = None) -> Iterator[Any]:
    """Yield other databases, made of `records` within 1 of the answers.

    Each answer stays, or becomes one of the `records`.

    Parameters
    ----------
    database
        A vector of numbers.
    records
        The possible answers.
    rng
        If it is None, every such database comes once, the largest changes first. With a
        `numpy.random.Generator`, such databases come at random, endlessly.

    Examples
    --------
    >>> list(chosen([0, 2], [0, 1, 2, 3]))
    [[1, 3], [0, 1], [1, 2], [0, 3], [1, 1]]
    """
    answers = records_of(database)
    domain = sorted(record for _, record in distinct(records, like=()) if is_answer(record))
    options = [
        [answer, *(value for value in domain if within_one(answer, value) and not same(answer, value))]
        for answer in answers
    ]
    if all(len(option) == 1 for option in options):
        return
    choices = _every_choice(options) if rng is None else _random_choices(options, rng)
    yield from (rebuilt(database, choice) for choice in choices)


def _every_choice(options: list[list[Any]]) -> Iterator[Sequence[Any]]:
    ends = [(min(option), option[0], max(option)) for option in options]
    seen = {key([option[0] for option in options])}
    for pattern in _patterns(len(options)):
        choice = [end[step + 1] for end, step in zip(ends, pattern, strict=True)]
        if key(choice) not in seen:
            seen.add(key(choice))
            yield choice
    yield from (choice for choice in map(list, product(*options)) if key(choice) not in seen)


def _random_choices(options: list[list[Any]], rng: Any) -> Iterator[Sequence[Any]]:
    while True:
        picks = [int(rng.integers(len(option))) for option in options]
        if any(picks):
            yield [option[pick] for option, pick in zip(options, picks, strict=True)]


def _patterns(size: int) -> Iterator[tuple[int, ...]]:
    """Yield distinct patterns of steps −1, 0 and 1, each followed by its opposite."""
    seen: set[tuple[int, ...]] = set()
    for shape in _shapes(size):
        for pattern in (tuple(shape), tuple(-step for step in shape)):
            if any(pattern) and pattern not in seen:
                if size < 4:  # patterns of 4 or more steps never repeat
                    seen.add(pattern)
                yield pattern


def _shapes(size: int) -> Iterator[list[int]]:
    half = size // 2
    yield [1] * size
    yield from ([int(place == one) for place in range(size)] for one in range(size))
    yield [1] * half + [0] * (size - half)
    yield [0] * half + [1] * (size - half)
    yield [1] * half + [-1] * (size - half)
    # If a mechanism answers queries one by one, raising the first answers and lowering the rest reveals most.
    yield from ([1] * first + [-1] * (size - first) for first in (size - size // 4, size // 4) if size >= 8)
    yield [1 - 2 * (place % 2) for place in range(size)]
    yield from ([1 - 2 * int(place == one) for place in range(size)] for one in range(size))


def _random_patterns(size: int, rng: Any) -> Iterator[tuple[int, ...]]:
    while size:
        steps = rng.choice((-1, 1) if rng.integers(2) else (-1, 0, 1), size=size)
        if steps.any():
            yield tuple(steps.tolist())
