"""A recording generator gives the ordinary numbers and records the draws."""

import random
import secrets
from enum import IntEnum

import numpy as np
import pytest

from audit.faults.scene import LEFT, Scene
from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import RecordingGenerator, Tape, drawing_methods
from audit.sampling.recorded.leaves import MOST, TooLargeError, leaves_of

#: Arguments for every drawing method of a generator.
CALLS = {
    "beta": ((2.0, 3.0), {"size": 4}),
    "binomial": ((9, 0.3), {"size": (2, 3)}),
    "bytes": ((7,), {}),
    "chisquare": ((3.0,), {}),
    "choice": (([1.5, 2.5, 3.5],), {"size": 5, "p": [0.2, 0.3, 0.5]}),
    "dirichlet": (([1.0, 2.0],), {"size": 3}),
    "exponential": ((2.0,), {}),
    "f": ((2.0, 3.0), {}),
    "gamma": ((2.0,), {"size": 3}),
    "geometric": ((0.3,), {"size": 3}),
    "gumbel": ((1.0, 2.0), {}),
    "hypergeometric": ((5, 6, 7), {}),
    "integers": ((0, 1000), {"size": 3, "dtype": np.int32}),
    "laplace": ((1.0, [1.0, 2.0]), {}),
    "logistic": ((), {"scale": 3.0}),
    "lognormal": ((), {"size": 2}),
    "logseries": ((0.4,), {}),
    "multinomial": ((9, [0.5, 0.5]), {}),
    "multivariate_hypergeometric": (([4, 5, 6], 7), {}),
    "multivariate_normal": (([0.0, 1.0], [[1.0, 0.5], [0.5, 1.0]]), {"size": 2}),
    "negative_binomial": ((4, 0.5), {}),
    "noncentral_chisquare": ((3.0, 2.0), {}),
    "noncentral_f": ((3.0, 2.0, 1.0), {}),
    "normal": ((0.0, 2.0, (2, 2)), {}),
    "pareto": ((3.0,), {}),
    "permutation": ((10,), {}),
    "permuted": ((np.arange(12).reshape(3, 4),), {"axis": 1}),
    "poisson": ((4.0,), {"size": 3}),
    "power": ((3.0,), {}),
    "random": ((), {"size": 3, "dtype": np.float32}),
    "rayleigh": ((), {}),
    "shuffle": (([1, 2, 3, 4, 5],), {}),
    "standard_cauchy": ((), {}),
    "standard_exponential": ((), {"size": 2, "method": "inv"}),
    "standard_gamma": ((2.0,), {}),
    "standard_normal": ((), {"out": np.empty(3)}),
    "standard_t": ((3.0,), {}),
    "triangular": ((0.0, 1.0, 2.0), {}),
    "uniform": ((-1.0, 1.0), {"size": 3}),
    "vonmises": ((0.0, 1.0), {}),
    "wald": ((1.0, 2.0), {}),
    "weibull": ((2.0,), {}),
    "zipf": ((3.0,), {}),
}


def copied(value):
    if isinstance(value, np.ndarray | list):
        return value.copy()
    return {name: copied(each) for name, each in value.items()} if isinstance(value, dict) else value


def called(rng, name):
    args, named = CALLS[name]
    args, named = tuple(map(copied, args)), copied(named)
    given = getattr(rng, name)(*args, **named)
    return args[0] if name == "shuffle" else given


def test_every_method_that_draws_is_compared():
    assert CALLS.keys() == drawing_methods(np.random.Generator).keys()


@pytest.mark.parametrize("name", CALLS)
def test_values_types_and_stream_are_those_of_numpy(name):
    plain, rng = np.random.Generator(np.random.PCG64(3)), RecordingGenerator(np.random.PCG64(3))
    # the second call starts from the state after the first, which may hold half of a drawn 64-bit number
    for _ in range(2):
        wanted, given = called(plain, name), called(rng, name)
        assert type(given) is type(wanted)
        assert getattr(given, "dtype", None) == getattr(wanted, "dtype", None)
        np.testing.assert_array_equal(given, wanted)
    assert rng.bit_generator.state == plain.bit_generator.state
    assert [draw.method for draw in rng.tape.draws] == [name, name]
    np.testing.assert_array_equal(rng.tape.draws[-1].values, wanted)


def test_parameters_are_recorded_by_name_without_the_size():
    rng = RecordingGenerator(np.random.PCG64(0))
    rng.laplace(1.0, size=2)
    rng.geometric(p=0.5)
    told = [dict(draw.parameters) for draw in rng.tape.draws]
    assert told == [{"loc": 1.0, "scale": 1.0}, {"p": 0.5}]
    assert [draw.shape for draw in rng.tape.draws] == [(2,), ()]


def test_a_caller_that_changes_its_values_does_not_change_the_record():
    rng = RecordingGenerator(np.random.PCG64(0))
    values = rng.laplace(size=3)
    values[:] = 0.0
    assert np.all(rng.tape.draws[0].values != 0.0)


def test_children_record_on_the_same_tape_and_draw_as_numpys():
    rng, plain = RecordingGenerator(np.random.PCG64(1)), np.random.Generator(np.random.PCG64(1))
    child, wanted = rng.spawn(1)[0], plain.spawn(1)[0]
    assert child.normal() == wanted.normal()
    assert [draw.method for draw in rng.tape.draws] == ["normal"]


def test_an_edit_changes_what_the_subject_gets_and_not_the_stream():
    tape = Tape(edit=lambda place, draw: draw.values + 5 if place == 0 else draw.values)
    rng, plain = RecordingGenerator(np.random.PCG64(2), tape), np.random.Generator(np.random.PCG64(2))
    out = np.empty(2)
    rng.standard_normal(out=out)
    np.testing.assert_array_equal(out, plain.standard_normal(2) + 5)
    second = rng.integers(10)
    assert (second, type(second)) == (plain.integers(10), np.int64)


def draw_everywhere():
    own = np.random.default_rng(7)
    state = np.random.RandomState(3)
    return (
        own.laplace(),
        state.laplace(),
        np.random.laplace(),  # noqa: NPY002 - code that is audited calls it
        random.gauss(0.0, 1.0),
        np.random.default_rng().random(),
    )


def test_generators_made_by_the_code_are_recorded_and_repeat_with_the_seed():
    wanted = np.random.default_rng(7).laplace(), np.random.RandomState(3).laplace()
    with recorded_everywhere() as reel:
        runs = []
        for seed in (1, 1, 2):
            tape = Tape()
            reel.start(tape, seed)
            runs.append((draw_everywhere(), [(draw.method, draw.own) for draw in tape.draws]))
    assert runs[0] == runs[1]
    assert runs[0][0][:2] == runs[2][0][:2] == wanted  # the code gave these generators their seeds
    assert all(a != b for a, b in zip(runs[0][0][2:], runs[2][0][2:], strict=True))
    assert runs[0][1] == [
        ("laplace", True),
        ("laplace", True),
        ("laplace", False),
        ("gauss", False),
        ("random", False),
    ]


def test_everything_is_restored_and_the_checks_of_numpy_still_work():
    before = (
        np.random.default_rng,
        np.random.Generator,
        np.random.RandomState,
        np.random.laplace,
        random.random,
    )
    with recorded_everywhere():
        assert isinstance(np.random.default_rng(), np.random.Generator)
        assert isinstance(np.random.default_rng(np.random.RandomState(1)._bit_generator), np.random.Generator)
        assert secrets.randbelow(5) < 5
    assert before == (
        np.random.default_rng,
        np.random.Generator,
        np.random.RandomState,
        np.random.laplace,
        random.random,
    )


def test_the_draws_of_a_run_stay_the_same_when_its_generator_draws_in_a_later_run():
    kept = []

    def draws_from_the_first(_, rng):
        kept.append(rng)
        return kept[0].laplace()

    with recorded_everywhere() as reel:
        scene = Scene(draws_from_the_first, {LEFT: list}, reel)
        first = scene.run(LEFT, 0)
        scene.run(LEFT, 1)
    assert [draw.method for draw in first.draws] == ["laplace"]


class Colour(IntEnum):
    RED = 3


def test_the_leaves_of_an_output_are_its_numbers_and_words():
    output = [True, np.float64(1.5), np.array(2), np.array([[3, 4]]), Colour.RED, {"a": (None, "b")}]
    found = leaves_of(output)
    assert list(found) == [(0,), (1,), (2,), (3, 0, 0), (3, 0, 1), (4,), (5, "a", 0), (5, "a", 1)]
    assert list(found.values()) == [True, 1.5, 2, 3, 4, Colour.RED, None, "b"]
    assert [type(found[place]) for place in ((0,), (1,), (2,))] == [bool, float, int]


def test_an_output_with_too_many_parts_is_refused():
    assert len(leaves_of([0.0] * MOST)) == MOST
    with pytest.raises(TooLargeError):
        leaves_of([0.0] * (MOST + 1))
