"""Every subject refuses an invalid generator, size or database in one line."""

import inspect
import pickle

import numpy as np
import pytest

from audit.catalogue import load_catalogue
from audit.errors import InvalidKind, InvalidValue
from learners import KMeans, PointLearner
from mechanisms import LaplaceMechanism

ENTRIES = {entry.name: entry for entry in load_catalogue() if entry.expected == "not refuted"}
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module")
def subjects():
    return {name: entry.factory() for name, entry in ENTRIES.items()}


def test_a_seed_in_place_of_a_generator_is_refused_with_the_way_to_make_one(subjects):
    drawing = [made for made in subjects.values() if "rng" in inspect.signature(made).parameters]
    assert len(drawing) > 100
    for made in drawing:
        with pytest.raises(
            InvalidKind, match=r"`rng` of .* must be a .*numpy\.random\.default_rng\(3\)`; got 3"
        ):
            made([], 3)
        if hasattr(made, "sample"):
            with pytest.raises(InvalidKind, match=r"`rng` of"):
                made.sample([], 1, 3)


def test_an_invalid_number_of_runs_is_refused(subjects):
    for made in subjects.values():
        if hasattr(made, "sample"):
            for size in (-1, 1.5, None):
                with pytest.raises((InvalidKind, InvalidValue), match=r"`size` of a sample of"):
                    made.sample([], size, RNG)


@pytest.mark.parametrize("made", [LaplaceMechanism(), PointLearner(), KMeans()])
@pytest.mark.parametrize("database", [None, 3, {}])
def test_anything_but_a_list_of_records_is_refused(made, database):
    said = r"A database of .* must be a list or an array; got"
    with pytest.raises(InvalidKind, match=said):
        made(database, RNG)
    with pytest.raises(InvalidKind, match=said):
        made.sample(database, 2, rng=RNG)
    if hasattr(made, "distribution"):
        with pytest.raises(InvalidKind, match=said):
            made.distribution(database)


def test_a_missing_argument_raises_type_error_and_pickling_keeps_the_signature():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'rng'"):
        LaplaceMechanism()([0, 1, 1])
    assert list(inspect.signature(LaplaceMechanism()).parameters) == ["database", "rng"]
    again = pickle.loads(pickle.dumps(LaplaceMechanism()))
    one, two = (each([0, 1, 1], np.random.default_rng(5)) for each in (again, LaplaceMechanism()))
    assert one == two
