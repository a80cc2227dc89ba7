"""Published faults and their correct twins pass further checks."""

import subprocess
import sys

import numpy as np
import pytest

from audit.catalogue import load_catalogue
from mechanisms import flawed

PLACES = ("mechanisms.flawed.published", "mechanisms.comparison")
ENTRIES = {
    entry.name: entry
    for entry in load_catalogue()
    if getattr(entry.factory, "__module__", "").startswith(PLACES)
}
SUBJECTS = {name: entry.factory() for name, entry in ENTRIES.items()}
NAMED = pytest.mark.parametrize("name", ENTRIES)


def loaded_by(code):
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if "records" in entry.options])
def test_the_reduced_domain_of_an_entry_is_a_subset_of_the_subjects(name):
    subject, options = SUBJECTS[name], ENTRIES[name].options
    bounds = np.broadcast_to(subject.size, 2)
    least, greatest = np.broadcast_to(options.get("size", subject.size), 2)
    assert bounds[0] <= least <= greatest <= bounds[1]
    if isinstance(subject.records, tuple):
        assert set(options["records"]) <= set(subject.records)
    for record in options["records"]:
        subject([record] * greatest, np.random.default_rng(0))


@NAMED
def test_epsilon_is_set_by_keyword_alone(name):
    assert ENTRIES[name].factory(epsilon=0.25).claim.epsilon == 0.25


@NAMED
def test_a_parameter_out_of_range_is_refused_by_name(name):
    with pytest.raises(ValueError, match=r"^The .* must be .*; got"):
        ENTRIES[name].factory(epsilon=-1.0)


@pytest.mark.parametrize("name", [name for name, subject in SUBJECTS.items() if hasattr(subject, "sample")])
def test_an_aligned_sampler_draws_the_same_numbers_on_every_database(name):
    subject = SUBJECTS[name]
    assert subject.aligned
    states = []
    for database in ([0] * 5, [2, 1, 0, 3, 0]):
        rng = np.random.default_rng(71)
        assert len(subject.sample(database, 500, rng)) == 500
        states.append(rng.bit_generator.state)
    assert states[0] == states[1]


@pytest.mark.parametrize("database", [[], [[1.0]], [1.0, float("nan")], ["a"]])
@pytest.mark.parametrize("name", ["noisy-max-laplace", "flawed-prefix-sums"])
def test_answers_that_are_not_a_vector_of_numbers_are_refused(name, database):
    with pytest.raises((ValueError, TypeError), match="answers"):
        SUBJECTS[name](database, np.random.default_rng(0))


def test_importing_the_gallery_loads_neither_scipy_nor_hypothesis():
    heavy = {"scipy", "hypothesis", "audit.distributions"}
    assert not loaded_by("import mechanisms.flawed.published.draws") & heavy


def test_a_subject_loads_hypothesis_only_for_its_records():
    code = "from mechanisms.flawed import DiscardedClip as D; s = D(); s.claim, s.parameters"
    assert "hypothesis" not in loaded_by(code)
    assert "hypothesis" in loaded_by(f"{code}; s.records")


def test_the_package_of_flaws_exports_every_one():
    kinds = {entry.factory.__name__ for entry in ENTRIES.values() if entry.expected == "refuted"}
    assert kinds <= set(flawed.__all__)
    assert all(getattr(flawed, name) for name in flawed.__all__)
