"""Faulty mechanisms that claim ε = 1.

They ignore the generator that they receive and draw their own noise. From outside they look like mechanisms
that keep their noise. An audit must refute them, both with the parameter `rng` and without it (`WithoutRng`).
"""

import random

SYSTEM = random.SystemRandom()


def noise(scale=1.0):
    """A Laplace draw that no seed reproduces."""
    return scale * (SYSTEM.expovariate(1) - SYSTEM.expovariate(1))


def a_tenth_too_much(database, rng):
    """True ε = 1.1."""
    del rng
    return sum(database) + noise(1 / 1.1)


def half_too_much(database, rng):
    """True ε = 1.5."""
    del rng
    return sum(database) + noise(1 / 1.5)


def far_too_much(database, rng):
    """True ε = 2.5."""
    del rng
    return sum(database) + noise(1 / 2.5)


def rare_tail(database, rng):
    """A noisy sum that reveals a record 1 in one run of fifty."""
    del rng
    return "found" if 1 in database and SYSTEM.random() < 0.02 else noise()


def in_clear(database, rng):
    del rng
    return sum(database)


def in_clear_beside_noise(database, rng):
    """The sum itself, and one with noise."""
    del rng
    return sum(database), sum(database) + noise()


def one_draw_for_two(database, rng):
    """Two cells with the same noise."""
    del rng
    same = noise()
    return sum(database) + same, len(database) - sum(database) + same


def no_noise_for_nothing(database, rng):
    """A noisy sum, or None without a record 1."""
    del rng
    return sum(database) + noise() if any(database) else None


_CALLS = [0]


def careless_when_warm(database, rng):
    """True ε = 1 in the first hundred calls, 4 later."""
    del rng
    _CALLS[0] += 1
    return sum(database) + noise(1 if _CALLS[0] <= 100 else 0.25)


class WithoutRng:
    """A mechanism of this module, called without a generator."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def __call__(self, database):
        return self.mechanism(database, None)


# Copies of cases of OpenDP in a file of cases


def length_in_clear(database, rng):
    """Randomized response of every bit.

    The output has as many bits as the record.
    """
    del rng
    return [bit if SYSTEM.random() < 0.73 else 1 - bit for bit in database[0]]


def count_in_clear(database, rng):
    """The exact number of records, and their noisy sum."""
    del rng
    present = [record for record in database if record is not None]
    return len(present), sum(present) + noise()


def raising_on_nothing(database, rng):
    """The noisy share of the first record in the sum.

    If the sum is 0, the call raises an exception.
    """
    del rng
    return database[0] / sum(database) + noise()
