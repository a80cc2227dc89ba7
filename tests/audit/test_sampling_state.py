"""Subjects that keep state are detected, or made anew for every run."""

import functools
import importlib
import itertools
import random
import sys
import types
from dataclasses import dataclass

import numpy as np
import pytest

from audit.sampling import BET, CONFIRM, Sampler
from audit.sampling.remake.modules import is_importable, is_users
from audit.sampling.remake.state import Pristine
from audit.subject.subject import adapt

CALLS = 0
SHARED = np.random.default_rng(11)


class AttributeCounter:
    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        self.calls += 1
        return self.calls


class ClassCounter:
    calls = 0

    def __call__(self, database, rng):
        ClassCounter.calls += 1
        return type(self).calls


class GlobalCounterInMethod:
    def __call__(self, database, rng):
        return global_counter(database, rng)


class SampledCounter:
    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        raise AssertionError

    def sample(self, database, size, rng):
        self.calls += size
        return np.arange(self.calls - size, self.calls) + 1.0


def closure_counter():
    calls = 0

    def mechanism(database, rng):
        nonlocal calls
        calls += 1
        return calls

    return mechanism


def global_counter(database, rng):
    global CALLS  # noqa: PLW0603
    CALLS += 1
    return CALLS - BEFORE[0]


BEFORE = [0]


def default_counter(database, rng=None, calls=[0]):  # noqa: B006
    calls[0] += 1
    return calls[0]


def generator_counter():
    counter = iter([*range(1, 1000)])
    return lambda database, rng: next(counter)


class CachedNoise:
    def __init__(self):
        self.noise = {}

    def __call__(self, database, rng):
        return self.noise.setdefault(len(database), rng.random())


@functools.lru_cache
def remembered(key):
    return CACHE_SOURCE.random()


CACHE_SOURCE = random.Random(3)


def cached_by_decorator(database, rng):
    return remembered(len(database))


class OwnGenerator:
    def __init__(self):
        self.rng = np.random.default_rng(7)

    def __call__(self, database):
        return self.rng.random()


class OwnRandomState(OwnGenerator):
    def __init__(self):
        self.rng = np.random.RandomState(7)


class OwnRandom(OwnGenerator):
    def __init__(self):
        self.rng = random.Random(7)


def shared_generator(database):
    return SHARED.random()


def drawn(sampler, *, fresh, size=20):
    blocks = list(sampler.draw([0], [1], size, (CONFIRM if fresh else BET,), fresh=fresh))
    return [x for b in blocks for side in (b.left, b.right) for x in side]


COUNTERS = [
    AttributeCounter,
    ClassCounter,
    GlobalCounterInMethod,
    SampledCounter,
    closure_counter,
    lambda: global_counter,
    lambda: functools.partial(global_counter),
    lambda: AttributeCounter().__call__,
    lambda: default_counter,
    generator_counter,
]


@pytest.mark.parametrize("make", COUNTERS)
def test_a_call_counter_is_state_and_starts_afresh_in_every_copy(make):
    ClassCounter.calls = default_counter.__defaults__[1][0] = 0
    BEFORE[0] = CALLS
    sampler = Sampler(adapt(make()), seed=0)
    kept = drawn(sampler, fresh=False)
    assert len(set(kept)) == 40
    assert sampler.state_kept() is True
    assert drawn(sampler, fresh=True) == [1] * 40


@pytest.mark.parametrize("make", [AttributeCounter, ClassCounter, closure_counter, lambda: global_counter])
def test_copies_do_not_change_the_users_object(make):
    ClassCounter.calls = 0
    BEFORE[0] = CALLS
    method = ClassCounter.__call__
    mechanism = make()
    sampler = Sampler(adapt(mechanism), seed=0)
    before = max(drawn(sampler, fresh=False))
    drawn(sampler, fresh=True)
    assert mechanism([0], None) == before + 1
    assert ClassCounter.__call__ is method


@pytest.mark.parametrize("make", [CachedNoise, lambda: cached_by_decorator])
def test_cached_noise_is_state_and_fresh_copies_draw_their_own(make):
    remembered.cache_clear()
    sampler = Sampler(adapt(make()), seed=0)
    assert len(set(drawn(sampler, fresh=False))) == 1
    assert sampler.state_kept() is True
    assert len(set(drawn(sampler, fresh=True))) == 40


@pytest.mark.parametrize("make", [OwnGenerator, OwnRandomState, OwnRandom, lambda: shared_generator])
def test_an_own_generator_does_not_count_as_state(make):
    sampler = Sampler(adapt(make()), seed=0)
    assert len(set(drawn(sampler, fresh=False))) == 40
    assert sampler.state_kept() is False
    assert len(set(drawn(sampler, fresh=True))) == 40


class CountingWithGenerator(OwnGenerator):
    calls = 0

    def __call__(self, database):
        self.calls += 1
        return (self.calls, self.rng.random())


def test_generators_inside_fresh_copies_are_seeded_afresh_and_repeatably():
    first, second = (drawn(Sampler(adapt(CountingWithGenerator()), seed=0), fresh=False) for _ in range(2))
    assert first == second
    sampler = Sampler(adapt(CountingWithGenerator()), seed=0)
    drawn(sampler, fresh=False)
    once, again = drawn(sampler, fresh=True), drawn(sampler, fresh=True)
    assert once == again
    assert {calls for calls, _ in once} == {1}
    assert len({noise for _, noise in once}) == 40


@dataclass(frozen=True)
class Record:
    age: int


class CountsRecords(AttributeCounter):
    def __call__(self, database, rng):
        super().__call__(database, rng)
        return sum(isinstance(record, Record) for record in database)


def test_a_fresh_copy_recognises_the_class_of_records():
    sampler = Sampler(adapt(CountsRecords()), seed=0)
    [runs] = sampler.draw([Record(1)], [Record(2), Record(3)], 5, (BET,))
    [runs] = sampler.draw([Record(1)], [Record(2), Record(3)], 5, (CONFIRM,), fresh=True)
    assert (runs.left, runs.right) == ([1] * 5, [2] * 5)


@pytest.mark.parametrize("mechanism", [lambda database, rng: 0, len, OwnGenerator()])
def test_a_subject_without_state_is_run_without_copies(mechanism, monkeypatch):
    monkeypatch.setattr(Pristine, "copy", None)
    sampler = Sampler(adapt(mechanism), seed=0)
    drawn(sampler, fresh=True)
    assert sampler.state_kept() is False


def test_a_subject_that_cannot_be_pickled_is_run_without_copies_and_its_state_is_unknown():
    stream = (n for n in itertools.count())
    sampler = Sampler(adapt(lambda database, rng: next(stream)), seed=0)
    assert len(set(drawn(sampler, fresh=True))) == 40
    assert sampler.state_kept() is None
    assert any("cannot check whether the subject keeps state" in note for note in sampler.notes)


def test_a_module_is_looked_for_in_the_folder_that_is_current_now(tmp_path, monkeypatch):
    """An empty entry of `sys.path` is the current folder, which a program may change."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "of_this_folder.py").write_text("")
        monkeypatch.chdir(folder)
        monkeypatch.delitem(sys.modules, "of_this_folder", raising=False)
        importlib.invalidate_caches()
        assert is_importable(importlib.import_module("of_this_folder"))


def test_our_packages_count_as_installed_and_a_users_package_of_the_same_name_does_not():
    """In a checkout too, the state of the catalogue's modules is not compared."""
    ours, users = importlib.import_module("mechanisms.noise.laplace"), types.ModuleType("mechanisms.noise")
    users.__file__ = "/home/somebody/mechanisms/noise.py"
    assert not is_users(ours)
    assert is_users(users)
    assert is_users(sys.modules[__name__])
