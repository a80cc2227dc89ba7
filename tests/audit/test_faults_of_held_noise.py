"""Faults of subjects that hold a generator, or noise drawn before the recording."""

import importlib.util
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from audit import FaultKind, PureDP, audit_privacy
from audit.faults.examine import fault_behind
from audit.privacy import make_task
from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import Tape
from audit.sampling.recorded.twins import Twins
from audit.sampling.remake.reseeding import Reseeding
from audit.sampling.remake.state import Pristine
from audit.sampling.seeds import FAULT
from audit.subject.subject import adapt

K, CLAIM, PAIR = FaultKind, PureDP(1.0), ([0.0], [1.0])
PANEL = Path(__file__).parents[2] / "benchmarks" / "panel_kept_noise.py"


def two_sided(rng):
    return rng.expovariate(2.0) - rng.expovariate(2.0)


def laplace(rng):
    return rng.laplace(0.0, 0.5)


KINDS = {
    "default_rng": (np.random.default_rng, laplace),
    "Generator": (lambda: np.random.Generator(np.random.Philox()), laplace),
    "RandomState": (np.random.RandomState, laplace),
    "random.Random": (random.Random, two_sided),
}


class Holder:
    """A subject with half the noise, whose generator is made with the object."""

    def __init__(self, kind):
        self.kind, self.rng, self.calls = kind, KINDS[kind][0](), [0]

    def __call__(self, database):
        return sum(database) + KINDS[self.kind][1](self.rng)


class CountingHolder(Holder):
    def __call__(self, database):
        self.calls[0] += 1
        return super().__call__(database)


@pytest.mark.parametrize("holder", [Holder, CountingHolder])
@pytest.mark.parametrize("kind", KINDS)
def test_a_generator_that_the_subject_made_in_its_constructor_is_recorded(kind, holder, examined):
    """The noise of a subject that counts its calls is not taken for a fixed seed."""
    fault = examined(adapt(holder(kind)), PAIR, CLAIM)
    assert (fault.kind, fault.factor) == (K.NOISE_TOO_SMALL, pytest.approx(2.0)), fault.words


def test_an_audit_names_the_fault_of_a_subject_with_its_own_generator():
    fault = audit_privacy(Holder("RandomState"), CLAIM, pairs=[PAIR], budget=20_000).fault
    assert (fault.kind, fault.factor) == (K.NOISE_TOO_SMALL, pytest.approx(2.0)), fault.words


@pytest.mark.parametrize("kind", KINDS)
def test_enough_noise_from_a_held_generator_has_no_fault(kind, examined):
    fault = examined(adapt(Holder(kind)), ([0.0], [0.5]), CLAIM)
    assert fault.kind is K.UNKNOWN, fault.words


def draws(held):
    """Return draws of each kind.

    The number of normal draws is odd, because some generators make them in pairs and keep the second.
    """
    one, state, other = held
    return (
        *(one.laplace(), *one.normal(size=3)),
        *(state.normal(), state.laplace()),
        *(other.gauss(0.0, 1.0), other.random()),
    )


def test_in_every_run_twins_draw_what_new_generators_of_the_seed_draw():
    held = [np.random.Generator(np.random.Philox(1)), np.random.RandomState(2), random.Random(3)]
    pristine = Pristine(held)
    with recorded_everywhere() as reel:
        reel.start(Tape(), 0)
        twins = Twins(reel)
        copy, found = pristine.copy(twins), {}
        for seed in (4, 5, 4):
            reel.start(tape := Tape(), seed)
            twins.start()
            found[seed] = draws(copy)
            assert [(draw.method, draw.own) for draw in tape.draws] == [
                (name, False) for name in ("laplace", "normal", "normal", "laplace", "gauss", "random")
            ]
            assert found[seed] == draws(pristine.copy(Reseeding(seed, (FAULT,))))
    for seed, values in found.items():
        assert values == draws(pristine.copy(Reseeding(seed, (FAULT,))))


def test_a_generator_of_the_module_random_that_the_code_makes_is_recorded(examined):
    def fresh(database):
        return sum(database) + two_sided(random.Random())

    def seeded(database):
        return sum(database) + two_sided(random.Random(7))

    found = examined(adapt(fresh), PAIR, CLAIM)
    assert (found.kind, found.factor) == (K.NOISE_TOO_SMALL, pytest.approx(2.0))
    assert examined(adapt(seeded), PAIR, CLAIM).kind is K.FIXED_SEED


def half_seen(database, rng):
    bits = np.random.PCG64()
    return sum(database) + rng.laplace(0.0, 0.1) + bits.random_raw() / 2**64


def test_noise_beside_what_can_be_recorded_is_reported(examined):
    fault = examined(adapt(half_seen), PAIR, CLAIM)
    assert fault.kind is K.UNKNOWN
    assert "vary on the same recorded draws" in fault.words


def forced(mechanism):
    """Return the fault that a refutation of this subject on `PAIR` would name."""
    refuted = audit_privacy(sum, CLAIM, pairs=[PAIR], budget=500)
    assert refuted.refuted
    return fault_behind(make_task(mechanism, CLAIM, pairs=[PAIR]), refuted)


@pytest.fixture
def panel(monkeypatch, tmp_path):
    """Return the module `benchmarks/panel_kept_noise.py`.

    Fresh processes can import it too.
    """
    monkeypatch.syspath_prepend(PANEL.parent)
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    spec = importlib.util.spec_from_file_location(PANEL.stem, PANEL)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, PANEL.stem, module)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "name", ["NoiseAtStart", "slow_clock", "on_disk_here", "on_disk_at_home", "on_disk_among_temporary"]
)
def test_noise_drawn_before_the_run_is_not_reported_as_an_unnoised_part(panel, name):
    """Noise drawn before the run is no unnoised part.

    Within a process each mechanism gives one answer for each database, and no recorded draw changes it.
    """
    found = getattr(panel, name)
    fault = forced(found() if isinstance(found, type) else found)
    assert fault.kind is K.UNKNOWN, fault.words
    assert "two new processes" in fault.words


def in_clear_beside_a_counter(database, rng, calls=[0]):  # noqa: B006 - state that holds no noise
    calls[0] += 1
    return sum(database), rng.laplace(0.0, 1.0)


def test_a_part_in_the_clear_is_named_in_new_processes_too():
    assert forced(in_clear_beside_a_counter).kind is K.UNNOISED_PART
