"""Correct mechanisms of many kinds, without kept noise.

Most meet their claim with equality. Randomized response over k outputs returns the record's own output with
probability e^ε/(e^ε + k − 1). Each other output has a probability smaller by the factor e^ε. Every pair of
records meets ε with equality, for any outputs.
"""

import functools
import math
import random
from datetime import UTC, datetime, timedelta

import numpy as np

SYSTEM = random.SystemRandom()


def respond(database, outputs, rng):
    """Apply randomized response at ε = 1 to an index into `outputs`.

    The index is the only record.
    """
    truth, others = database[0], len(outputs) - 1
    if rng.random() < math.e / (math.e + others):
        return outputs[truth]
    return outputs[(truth + 1 + int(rng.integers(others))) % len(outputs)]


# Outputs of several types


def numbers_alike(database, rng):
    """Five outputs, some of them equal, all of different types."""
    return respond(database, (1, 1.0, True, np.float32(1), "1"), rng)


def containers(database, rng):
    return respond(database, ([1], (1,), {1}, {1: 1}, np.ones(1)), rng)


def odd_numbers(database, rng):
    return respond(database, (math.nan, math.inf, -math.inf, 0.0, -0.0), rng)


def answers_or_errors(database, rng):
    """A number, None, a text, or one of two exceptions."""
    outcome = respond(database, (0.5, None, "x", ValueError("a"), KeyError("a")), rng)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def lengths(database, rng):
    """A vector of noise whose length is a randomized response."""
    return rng.laplace(size=respond(database, (0, 1, 2, 3, 4), rng))


def moment(database, rng):
    """A point in time, whose distance in days from the start of 2020 is a noisy sum."""
    return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(days=sum(database) + rng.laplace())


def number_or_nothing(database, rng):
    """A noisy sum, which a sixth of the runs round to an integer.

    In another sixth of the runs it is None.
    """
    answer = sum(database) + rng.laplace()
    return (answer, answer, answer, answer, round(answer), None)[int(rng.integers(6))]


# Databases with an invariant; all others are refused


def of_sorted(database, rng):
    """The sum of ascending records from 0 to 3."""
    if list(database) != sorted(database):
        raise ValueError("the records are not in order")
    return sum(database) + rng.laplace(scale=3)


def with_header(database, rng):
    """A noisy sum of the rows below the first, which names the column."""
    name, *rows = database
    if name != "value" or "value" in rows:
        raise KeyError(name)
    return sum(rows) + rng.laplace()


def of_distinct(database, rng):
    """The sum of records from 0 to 4, all of them different."""
    if len(set(database)) < len(database):
        raise ValueError("a record occurs twice")
    return sum(database) + rng.laplace(scale=4)


# Caches of values without noise


@functools.cache
def _sum(records):
    return sum(records)


def cached_answer(database, rng):
    """A noisy answer.

    The true answer is computed at the first call on a database and kept. The noise is always new.
    """
    return _sum(tuple(database)) + rng.laplace()


@functools.cache
def _bounds():
    return sorted([1.0, 0.0])


def cached_bounds(database, rng):
    """The first call computes bounds that do not depend on any database."""
    low, high = _bounds()
    return sum(min(max(record, low), high) for record in database) + rng.laplace(scale=high - low)


# Exponential mechanism


def scores(total):
    """Weights of the candidates 0 to 3, largest nearest to the total."""
    weights = np.exp(-np.abs(np.arange(4) - total) / 2)
    return weights / weights.sum()


#: The exact loss: the largest log-ratio between totals that differ by 1.
EXPONENTIAL = max(float(np.abs(np.log(scores(k) / scores(k + 1))).max()) for k in range(3))


class TableOfWeights:
    """The exponential mechanism, with weights computed when first needed."""

    def __init__(self):
        self.table = {}

    def __call__(self, database, rng):
        total = sum(database)
        if total not in self.table:
            self.table[total] = scores(total).cumsum()
        return int(np.searchsorted(self.table[total], rng.random()))


def exponential(database, rng):
    return int(np.searchsorted(scores(sum(database)).cumsum(), rng.random()))


# Others


def refusing(database, rng):
    """Randomized response at ε = ln 3, with an answer and an exception as outputs."""
    if (database[0] == 1) == (rng.random() < 0.75):
        raise PermissionError("no answer")
    return "answer"


def clamped(database, rng):
    """A noisy sum clamped to [0, 3].

    Its law has an atom at each end and a density between the ends.
    """
    return min(max(sum(database) + rng.laplace(), 0.0), 3.0)


def seldom_in_clear(database, rng):
    """The database itself with probability δ = 0.05, else a noisy sum.

    It meets (1, δ) with equality.
    """
    return list(database) if rng.random() < 0.05 else sum(database) + rng.laplace()


def sparse_vector(database, rng):
    """The place of the first answer above a threshold of 1/2.

    Threshold and answer get half of ε each.
    """
    threshold = 0.5 + rng.laplace(scale=2)
    for place, answer in enumerate(database):
        if answer + rng.laplace(scale=4) >= threshold:
            return place
    return None


def by_system(database):
    """A noisy sum whose noise no seed reproduces."""
    return sum(database) + SYSTEM.expovariate(1) - SYSTEM.expovariate(1)


def by_system_beside_rng(database, rng):
    """`by_system` with a generator in its signature, which it ignores."""
    del rng
    return by_system(database)
