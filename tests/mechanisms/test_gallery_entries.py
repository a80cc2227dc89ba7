"""Every entry of the gallery says of itself what an audit needs, and importing it stays light."""

import copy
import subprocess
import sys

import cloudpickle
import numpy as np
import pytest

from audit.claims import ApproximateDP, PureDP
from audit.relations import Relation
from audit.subject.subject import adapt
from mechanisms import flawed
from mechanisms.entries import central as entries
from mechanisms.entries.gallery import exhibits

ENTRIES = {entry.name: entry for entry in exhibits()}
SUBJECTS = {name: entry.factory() for name, entry in ENTRIES.items()}
RIGHT = [name for name, entry in ENTRIES.items() if entry.expected == "not refuted"]
FLAWED = [name for name, entry in ENTRIES.items() if entry.expected == "refuted"]
NAMED = pytest.mark.parametrize("name", ENTRIES)

# a database of each domain, by the kind of its records
DATABASES = {
    "flawed-swapped-shares": [(0.5,) * 16],
    "flawed-keys-from-data": ["b", "a"],
    "flawed-inclusive-threshold": ["k"] * 4,
    "threshold-release": ["k"] * 4,
    "label-response": [("x", 0), ("y", 2)],
}


def database_of(name):
    return DATABASES.get(name, [1, 0, 1, 0, 1])


def loaded_by(code):
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


def test_the_gallery_has_right_counterparts_and_a_subject_for_every_published_fault():
    assert RIGHT == [
        "noisy-max-laplace",
        "noisy-max-exponential",
        "sparse-vector",
        "sparse-vector-resampling",
        "counts",
        "saturating-sum",
        "label-response",
        "threshold-release",
    ]
    assert len(FLAWED) == 2 + 4 + 2 + 16  # noisy max, sparse vector, two with a wrong scale, reported faults
    assert all(name.startswith("flawed-") for name in FLAWED)


def test_names_are_new_to_the_catalogue():
    assert not set(ENTRIES) & {entry.name for entry in entries.catalogue()}


@NAMED
def test_an_entry_carries_claim_relation_domain_reference_and_summary(name):
    subject, entry = adapt(SUBJECTS[name]), ENTRIES[name]
    assert isinstance(subject.claim, PureDP | ApproximateDP)
    assert isinstance(subject.relation, Relation)
    assert subject.size is not None
    assert (subject.records is None) <= (subject.relation is Relation.QUERY_ANSWERS)
    assert subject.takes_rng
    assert subject.name == name
    assert len(entry.reference) > 10
    assert entry.reference == subject.reference
    assert 10 < len(entry.summary) < 100


@pytest.mark.parametrize("name", FLAWED)
def test_a_flawed_entry_leaves_the_pair_to_the_auditor_and_all_but_two_the_law(name):
    subject = adapt(SUBJECTS[name])
    assert subject.suggested_pairs is None
    has_law = name in ("flawed-swapped-shares", "flawed-classical-gaussian")
    assert (subject.declared_law is not None) == has_law


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_entry_suggests_pairs_that_are_neighbours(name):
    subject = SUBJECTS[name]
    assert subject.suggested_pairs()
    for left, right in subject.suggested_pairs():
        assert subject.relation.are_neighbours(left, right)


def test_only_floating_point_is_audited_as_floats():
    assert [name for name, entry in ENTRIES.items() if "numerics" in entry.options] == [
        "flawed-textbook-laplace"
    ]
    assert ENTRIES["flawed-textbook-laplace"].options["numerics"] == "float"


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if "pairs" in entry.options])
def test_a_pair_of_an_entry_is_one_under_its_relation(name):
    for left, right in ENTRIES[name].options["pairs"]:
        assert SUBJECTS[name].relation.are_neighbours(left, right)


def test_only_the_two_that_need_most_runs_are_given_a_pair():
    given = [name for name, entry in ENTRIES.items() if "pairs" in entry.options]
    assert given == ["flawed-sparse-vector-values", "flawed-sparse-vector-cheap-noise"]


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if "records" in entry.options])
def test_a_smaller_domain_of_an_entry_is_a_part_of_the_subjects(name):
    subject, options = SUBJECTS[name], ENTRIES[name].options
    least, greatest = options.get("size", subject.size)
    assert subject.size[0] <= least < greatest <= subject.size[1]
    if isinstance(subject.records, tuple):
        assert set(options["records"]) < set(subject.records)
    for record in options["records"]:
        subject([record] * greatest, np.random.default_rng(0))


@NAMED
def test_epsilon_is_set_by_keyword_alone(name):
    assert ENTRIES[name].factory(epsilon=0.25).claim.epsilon == 0.25


@NAMED
def test_a_subject_can_be_built_again_from_its_parameters(name):
    subject = ENTRIES[name].factory(epsilon=0.75)
    assert ENTRIES[name].factory(**subject.parameters) == subject


@NAMED
def test_a_parameter_out_of_range_is_refused_by_name(name):
    with pytest.raises(ValueError, match=r"^The .* must be .*; got"):
        ENTRIES[name].factory(epsilon=-1.0)


@NAMED
def test_subjects_are_values_that_travel_and_never_change(name):
    subject, database = SUBJECTS[name], database_of(name)
    before, rows = cloudpickle.dumps(subject), copy.deepcopy(database)
    assert cloudpickle.loads(before) == subject
    subject(database, np.random.default_rng(0))
    assert cloudpickle.dumps(subject) == before
    assert database == rows
    with pytest.raises(AttributeError):
        subject.epsilon = 2.0


@NAMED
def test_the_same_generator_gives_the_same_outputs(name):
    subject, database = SUBJECTS[name], database_of(name)
    first, second = (
        [np.asarray(subject(database, rng), dtype=object).tolist() for _ in range(20)]
        for rng in (np.random.default_rng(72), np.random.default_rng(72))
    )
    assert first == second


@pytest.mark.parametrize("name", [name for name, subject in SUBJECTS.items() if hasattr(subject, "sample")])
def test_an_aligned_sampler_uses_the_generator_alike_on_every_database(name):
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
def test_answers_that_are_no_vector_of_numbers_are_refused(name, database):
    with pytest.raises((ValueError, TypeError), match="answers"):
        SUBJECTS[name](database, np.random.default_rng(0))


def test_building_the_gallery_loads_neither_scipy_nor_hypothesis():
    heavy = {"scipy", "hypothesis", "audit.distributions"}
    assert not loaded_by("from mechanisms.entries.gallery import exhibits; exhibits()") & heavy


def test_a_subject_loads_hypothesis_only_for_its_records():
    code = "from mechanisms.flawed import DiscardedClip as D; s = D(); s.claim, s.parameters"
    assert "hypothesis" not in loaded_by(code)
    assert "hypothesis" in loaded_by(f"{code}; s.records")


def test_the_package_of_flaws_names_every_one():
    kinds = {entry.factory.__name__ for entry in ENTRIES.values() if entry.expected == "refuted"}
    assert kinds <= set(flawed.__all__)
    assert all(getattr(flawed, name) for name in flawed.__all__)
