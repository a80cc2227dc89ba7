"""Every learner entry declares what its privacy and utility audits need."""

import cloudpickle
import numpy as np
import pytest

from audit.catalogue import load_catalogue
from audit.claims import PAC, Accuracy, PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.findings import Finding
from audit.problems import Problem
from audit.relations import Relation
from audit.subject.subject import adapt
from learners import AmplifiedParityLearner, ParityLearner
from learners.findings import findings
from learners.finite.at_size import AtSize


def room_of(entry):
    """Return the package of the learner's class, as `at_size` expects it."""
    made = entry.factory
    kind = made.args[0] if getattr(made, "args", ()) else getattr(made, "func", made)
    return ".".join(getattr(kind, "__module__", "").split(".")[:2])


ROOMS = ("learners.generic", "learners.by_queries", "learners.masked")
ENTRIES = {e.name: e for e in load_catalogue() if e.options is not None and room_of(e) in ROOMS}
NAMED = pytest.mark.parametrize("name", ENTRIES)
WITH_LAW = pytest.mark.parametrize(
    "name", [name for name, entry in ENTRIES.items() if hasattr(entry.factory(), "distribution")]
)


def some_database(subject):
    if isinstance(subject, AtSize):
        return list(subject.suggested_pairs()[0][0][: subject.audited])
    least = subject.size if isinstance(subject.size, int) else subject.size[0]
    records = list(subject.records)
    return [records[place % len(records)] for place in range(least)]


@NAMED
def test_an_entry_declares_its_claim_relation_and_domain(name):
    entry = ENTRIES[name]
    subject = adapt(entry.factory())
    assert isinstance(subject.claim, PureDP)
    assert isinstance(subject.relation, Relation)
    if name.endswith("-at-size"):
        pairs = subject.suggested_pairs()
        assert len(pairs) >= 6
        assert all(subject.relation.are_neighbours(left, right) for left, right in pairs)
    else:
        assert len(subject.records) >= 2
    assert entry.reference
    assert len(entry.summary) < 75
    assert (entry.expected == "refuted") == name.startswith("flawed")


@NAMED
def test_an_entry_takes_an_epsilon_and_can_be_pickled(name):
    subject = cloudpickle.loads(cloudpickle.dumps(ENTRIES[name].factory(epsilon=0.25)))
    assert subject.claim == PureDP(0.25)
    subject(some_database(subject), np.random.default_rng(0))
    with pytest.raises(ValueError, match="epsilon"):
        ENTRIES[name].factory(epsilon=0.0)


@pytest.mark.parametrize("database", [3, None])
@pytest.mark.parametrize(
    "subject",
    [
        *(entry.factory() for name, entry in ENTRIES.items() if "-at-size" not in name),
        ParityLearner(2, 1.0),
        AmplifiedParityLearner(2, 1.0),
    ],
    ids=lambda subject: getattr(subject, "name", None),
)
def test_an_invalid_database_is_refused_in_one_line_by_runs_and_by_the_law(subject, database):
    asked = [lambda: subject(database, np.random.default_rng(0))]
    for way in ("sample", "distribution"):
        if hasattr(subject, way):
            more = (2, np.random.default_rng(0)) if way == "sample" else ()
            asked.append(lambda way=way, more=more: getattr(subject, way)(database, *more))
    for ask in asked:
        with pytest.raises((InvalidKind, InvalidValue), match=r"^A database (of `\w+` )?must be .*\.$"):
            ask()


@WITH_LAW
def test_the_law_gives_every_run_a_positive_probability_and_sums_to_one(name):
    subject = ENTRIES[name].factory()
    database = some_database(subject)
    before = list(database)
    law = subject.distribution(database)
    assert float(np.exp(law.log_probabilities).sum()) == pytest.approx(1.0)
    for output in subject.sample(database, 20, np.random.default_rng(1)):
        assert law.pmf(output) > 0.0
    assert database == before


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, entry in ENTRIES.items()
        if hasattr(entry.factory(), "problems") and entry.factory().utility_claim is not None
    ],
)
def test_the_best_output_of_each_problem_has_no_error(name):
    subject = ENTRIES[name].factory()
    assert isinstance(subject.utility_claim, PAC | Accuracy)
    problems = subject.problems()
    assert len({problem.name for problem in problems}) == len(problems)
    for problem in problems:
        assert isinstance(problem, Problem)
        assert len(problem.draw(np.random.default_rng(2))) == subject.sample_size()
        assert problem.error("insufficient samples", None) >= 1.0
    rng = np.random.default_rng(3)
    for problem in (subject.random(rng), subject.vary(problems[-1], rng)):
        assert isinstance(problem, Problem)
        assert len(problem.draw(rng)) == subject.sample_size()


def test_every_utility_claim_of_a_learner_is_audited_at_its_own_sample_size():
    kinds = {entry.factory().part.name for entry in ENTRIES.values() if entry.name.endswith("-at-size")}
    assert all(ENTRIES[name].utility is not None for name in ENTRIES if name.endswith("-at-size"))
    small = {entry.factory().name for name, entry in ENTRIES.items() if not name.startswith("flawed")}
    assert kinds == {name for name in small if not name.endswith("-at-size")}


def test_at_size_every_learner_claims_a_failure_probability_of_at_most_a_tenth():
    claims = {name: entry.factory().utility_claim for name, entry in ENTRIES.items() if "-at-size" in name}
    assert len(claims) >= 13
    assert {name: claim for name, claim in claims.items() if claim.beta > 0.1} == {}


def test_every_finding_is_computed_under_its_own_name():
    mine = ("E3", "E4", "E7", "E13", "N1", "N19", "N23", "N24", "K11 Theorem 5.16", "K11 Figure 2")
    offered = findings()
    for name in mine:
        found = offered[name]()
        assert isinstance(found, Finding)
        assert found.name == name
        assert found.tables
