"""Mechanisms that draw noise once and keep it.

The first answer satisfies ε = 1. To somebody who knows earlier answers, a later call breaks the claim.
But no fresh process shows a loss above the claim, so an audit must not refute these mechanisms. They
ignore the generator that they receive. A function keeps its noise in a folder of the running process, or
in this module.
"""

import functools
import os
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

SYSTEM = random.SystemRandom()


def noise():
    """A Laplace draw of scale 1 that no seed reproduces."""
    return SYSTEM.expovariate(1) - SYSTEM.expovariate(1)


def jitter():
    """A small draw, new in every call."""
    return SYSTEM.gauss(0, 0.01)


@functools.cache
def _answer(records):
    return sum(records) + noise()


def memoised(database, rng):
    del rng
    return _answer(tuple(database))


def memoised_without_rng(database):
    return _answer(tuple(database))


def memoised_at_times(database, rng):
    """A third of the calls return the kept answer."""
    del rng
    return _answer(tuple(database)) if SYSTEM.random() < 1 / 3 else sum(database) + noise()


def memoised_with_jitter(database, rng):
    del rng
    return _answer(tuple(database)) + jitter()


@functools.lru_cache(maxsize=20)
def _recent(records):
    return sum(records) + noise()


def last_twenty(database, rng):
    """The answers to the last twenty databases are kept."""
    del rng
    return _recent(tuple(database))


_ANSWERS = defaultdict(list)


def twenty_each(database, rng):
    """Twenty answers are drawn for every database, and each call repeats one of them."""
    del rng
    answers = _ANSWERS[tuple(database)]
    if len(answers) < 20:
        answers.append(sum(database) + noise())
        return answers[-1]
    return SYSTEM.choice(answers)


_GENERATOR = np.random.default_rng()


def generator_at_import(database, rng):
    """New noise in every call, from a generator made at import.

    Every copy starts in the same state.
    """
    del rng
    return sum(database) + _GENERATOR.laplace()


def generator_at_import_without_rng(database):
    return sum(database) + _GENERATOR.laplace()


_NOISE = noise()


def noise_at_import(database, rng):
    del rng
    return sum(database) + _NOISE + jitter()


class NoiseAtStart:
    """Noise drawn when the object is made."""

    def __init__(self):
        self.noise = noise()

    def __call__(self, database, rng):
        del rng
        return sum(database) + self.noise


class NoiseAtStartWithJitter(NoiseAtStart):
    def __call__(self, database, rng):
        return super().__call__(database, rng) + jitter()


_CLOCK = [time.time_ns(), 0]


def slow_clock(database, rng):
    """The seed is the time of a clock that ticks every 200 calls."""
    del rng
    _CLOCK[1] += 1
    source = random.Random(_CLOCK[0] + _CLOCK[1] // 200)
    return sum(database) + source.expovariate(1) - source.expovariate(1)


_LEFT = defaultdict(lambda: 50)


def budget_each(database, rng):
    """The first fifty calls on a database get an answer, later calls None."""
    del rng
    records = tuple(database)
    _LEFT[records] -= 1
    return sum(records) + noise() if _LEFT[records] >= 0 else None


def _on_disk(database, folder):
    path = Path(folder, "answer-" + "-".join(map(str, database)))
    if not path.exists():
        path.write_text(repr(sum(database) + noise()), encoding="ascii")
    return float(path.read_text(encoding="ascii"))


def on_disk_here(database, rng):
    del rng
    return _on_disk(database, ".")


def on_disk_at_home(database, rng):
    del rng
    return _on_disk(database, Path.home())


def on_disk_among_temporary(database, rng):
    del rng
    return _on_disk(database, os.environ.get("TMPDIR", "/tmp"))
