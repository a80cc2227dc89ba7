"""Laws and samplers on plain records pass further checks than `check_subject`'s."""

import subprocess
import sys
from functools import partial

import cloudpickle
import numpy as np
import pytest

import mechanisms
from audit.catalogue import load_catalogue
from audit.claims import PureDP
from audit.laws.divergence import epsilon_at

#: Packages whose mechanisms are small enough to check every pair of databases.
ROOMS = ("noise", "responses", "selection", "concave", "flawed", "entries")


def kind_of(entry):
    return entry.factory.func if isinstance(entry.factory, partial) else entry.factory


def is_central(entry):
    package, room, *below = kind_of(entry).__module__.split(".")
    return package == "mechanisms" and room in ROOMS and below[0] not in ("published", "local")


ENTRIES = {entry.name: entry for entry in load_catalogue() if is_central(entry)}
SUBJECTS = {name: entry.factory() for name, entry in ENTRIES.items()}
NAMED = pytest.mark.parametrize("name", ENTRIES)
ALIGNED = pytest.mark.parametrize(
    "name", [name for name, it in SUBJECTS.items() if getattr(it, "aligned", False) and hasattr(it, "sample")]
)
LISTED = pytest.mark.parametrize(
    "name",
    [
        name
        for name, it in SUBJECTS.items()
        if hasattr(it, "suggested_pairs") and isinstance(getattr(it, "records", None), tuple)
    ],
)
WITH_LAW = pytest.mark.parametrize(
    "name",
    [name for name, it in SUBJECTS.items() if hasattr(it, "distribution") and isinstance(it.claim, PureDP)],
)

# Claims at ε = 1/4 as multiples of ε. The first two follow Lemma 2 of BNS with log* = 4:
# √(24·ln(1/(4·10⁻⁶))) + 24·ε. The others add up the calls of N levels: N + 1 exponential mechanisms at ε, and
# 2·N calls of A_dist at ε/2.
CALLS = {
    "concave-promise": 17.271396 + 6.0,
    "concave-promise-literal": 17.271396 + 6.0,
    "concave-promise-tight": 3.0,
    "concave-promise-climbed": 3.0,
    "concave-promise-64-bits": 5.0,
}


def loaded_by(code):
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(shown.stdout.split())


@NAMED
def test_epsilon_is_set_by_keyword_alone(name):
    calls = CALLS.get(name, 1)  # the claim of Rec is the sum over its calls
    assert ENTRIES[name].factory(epsilon=0.25).claim.epsilon == pytest.approx(0.25 * calls, rel=1e-6)


@NAMED
def test_a_parameter_out_of_range_is_refused_by_name(name):
    with pytest.raises(ValueError, match=r"^The .* must be .*; got"):
        ENTRIES[name].factory(epsilon=-1.0)


@ALIGNED
def test_subjects_are_immutable_values_that_can_be_pickled(name):
    subject = SUBJECTS[name]
    before = cloudpickle.dumps(subject)
    assert cloudpickle.loads(before) == subject
    left, _ = subject.suggested_pairs()[0]
    subject.sample(left, 10, np.random.default_rng(0))
    subject(left, np.random.default_rng(0))
    assert cloudpickle.dumps(subject) == before
    with pytest.raises(AttributeError):
        subject.epsilon = 2.0


@LISTED
def test_suggested_pairs_contain_only_valid_records(name):
    subject = SUBJECTS[name]
    assert subject.suggested_pairs()
    for left, right in subject.suggested_pairs():
        for record in [*left, *right]:
            assert any(record is known or record == known for known in subject.records) or record != record


@WITH_LAW
def test_the_first_suggested_pair_is_the_worst(name, loss, pairs_of):
    subject = SUBJECTS[name]
    law = subject.distribution
    suggested, worst = (
        max(loss(law(a), law(b)) for a, b in pairs)
        for pairs in (subject.suggested_pairs()[:1], pairs_of(subject))
    )
    assert suggested == pytest.approx(worst, rel=1e-12)


@WITH_LAW
def test_the_expected_verdict_matches_the_exact_loss(name, loss, pairs_of):
    subject = SUBJECTS[name]
    worst = max(loss(subject.distribution(a), subject.distribution(b)) for a, b in pairs_of(subject))
    refuted = worst > subject.claim.epsilon + 1e-6
    assert ("refuted" if refuted else "not refuted") == ENTRIES[name].expected
    # the loss of `exponential` approaches the claim without reaching it
    if not refuted and name != "exponential":
        assert worst == pytest.approx(subject.claim.epsilon, rel=1e-12)


@WITH_LAW
def test_the_exact_path_of_the_audit_finds_the_same_loss(name, loss):
    subject = SUBJECTS[name]
    p, q = (subject.distribution(database) for database in subject.suggested_pairs()[0])
    # For products of continuous laws the audit returns the middle of two bounds, which is within the
    # tolerance.
    assert max(epsilon_at(p, q), epsilon_at(q, p)) == pytest.approx(loss(p, q), abs=1e-9)


@ALIGNED
def test_an_aligned_subject_draws_the_same_numbers_on_every_database(name):
    subject = SUBJECTS[name]
    for left, right in subject.suggested_pairs():
        states = []
        for database in (left, right):
            rng = np.random.default_rng(71)
            subject.sample(database, 500, rng)
            states.append(rng.bit_generator.state)
        assert states[0] == states[1]


def test_importing_the_package_loads_neither_numpy_nor_scipy():
    assert not loaded_by("import mechanisms") & {"numpy", "scipy", "audit.distributions"}


def test_a_mechanism_and_its_entries_do_not_import_scipy():
    assert "scipy" not in loaded_by("from mechanisms import ChoosingMechanism, ConcavePromise, flawed")


def test_every_public_name_resolves_and_others_are_refused():
    assert all(getattr(mechanisms, name) for name in mechanisms.__all__)
    assert set(mechanisms.__all__) <= set(dir(mechanisms))
    with pytest.raises(AttributeError, match="LaplaceMedian"):
        _ = mechanisms.LaplaceMedian
