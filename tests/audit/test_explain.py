"""The printed plan agrees with what an audit does."""

import re
import time

import pytest
from hypothesis import strategies as st

from audit import PureDP, Relation, audit_privacy
from audit.distributions import Finite
from audit.doors.explain import _duration, explain
from audit.errors import InvalidValue
from audit.privacy import make_task
from audit.verdict.by_runs import least_budget

DOMAIN = {"records": [0, 1], "size": 3}


def fast(database, rng):
    return rng.random()


def plan(mechanism=fast, claim=None, **options):
    text = explain(make_task(mechanism, claim or PureDP(1.0), **options))
    assert all(len(line) <= 100 for line in text.splitlines()[1:])
    return " ".join(text.split())


class Suggests:
    claim = PureDP(0.5)
    relation = Relation.REPLACE_ONE
    records = (0, 1, 2)
    size = 2

    def __call__(self, database, rng):
        return 0

    def suggested_pairs(self):
        return [([0, 0], [0, 2])]


def test_a_finite_domain_is_counted():
    """2³ = 8 databases with 3 neighbours each, so 12 pairs."""
    said = plan(**DOMAIN)
    assert "8 databases" in said
    assert "every pair of the domain (12)" in said
    assert "the boundary of the domain" in said


def test_a_domain_too_large_to_enumerate_is_searched_at_random():
    said = plan(records=list(range(10)), size=(5, 9))
    assert "random pairs" in said
    assert f"{sum(10**n for n in range(5, 10)):,} databases" in said


def test_a_strategy_has_examples_and_no_count():
    said = plan(records=st.integers(0, 9), size=2)
    assert "10 examples from a strategy" in said
    assert "random pairs" in said
    assert "example databases" in plan(databases=st.lists(st.integers(0, 3), min_size=1, max_size=3))


def test_given_pairs_are_the_whole_domain():
    said = plan(pairs=[([0], [1])])
    assert "1 given or suggested pair only" in said
    assert "Given pairs are not shrunk" in said


def test_what_the_subject_declares_is_in_the_plan():
    text = explain(make_task(Suggests()))
    assert text.startswith("Plan for Suggests, PureDP(epsilon=0.5) under replace-one")
    assert "1 given or suggested pair first" in text


def test_a_declared_law_is_announced():
    class Declared(Suggests):
        def distribution(self, database):
            return Finite([0], probabilities=[1.0])

    assert "the laws of all 18 pairs are compared exactly" in plan(Declared())
    assert "By law" not in plan(Declared(), numerics="float")


def test_a_budget_that_can_refute_nothing_is_reported():
    least = least_budget(1.0, 0.0, 1e-6)
    assert f"an outright leak needs at least {least}. This budget can refute nothing" in plan(
        **DOMAIN, budget=20
    )
    assert "can refute nothing" not in plan(**DOMAIN, budget=least)


def test_a_slow_mechanism_is_measured_and_set_against_the_time_limit():
    def slow(database, rng):
        time.sleep(0.02)
        return 0

    said = plan(slow, **DOMAIN, time_limit=10.0)
    milliseconds = float(re.search(r"about ([\d.]+) ms, from", said)[1])
    assert 20 <= milliseconds < 60
    affordable = int(re.search(r"ends the audit after about ([\d,]+) runs", said)[1].replace(",", ""))
    assert 10 / 0.06 < affordable <= 10 / 0.02
    assert "too few to refute anything" in plan(slow, **DOMAIN, time_limit=0.5)
    assert "the time limit of 10 s is enough" in plan(**DOMAIN, time_limit=10.0, budget=1_000)


def test_only_a_few_runs_are_made():
    seen = []

    def counted(database, rng):
        seen.append(database)
        return 0

    said = plan(counted, **DOMAIN)
    assert len(seen) == int(re.search(r"from ([\d,]+) timed runs", said)[1].replace(",", ""))
    assert len(seen) < 1_500


def test_a_mechanism_that_never_answers_is_reported():
    def failing(database, rng):
        raise RuntimeError("the backend is down")

    assert "gave an answer: RuntimeError: the backend is down." in plan(failing, **DOMAIN)


def test_a_mechanism_that_changes_its_input_is_measured_on_copies():
    def shrinks(database, rng):
        database.pop()
        return 0

    assert "timed runs" in plan(shrinks, **DOMAIN)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "The audit has no databases"),
        ({"records": [0], "size": 1}, "neighbours"),
        ({**DOMAIN, "seed": -1}, "seed"),
        ({**DOMAIN, "budget": 0}, "budget"),
    ],
)
def test_what_an_audit_would_refuse_is_refused(options, words):
    with pytest.raises(InvalidValue, match=words) as caught:
        plan(**options)
    assert "\n" not in str(caught.value)


def test_a_claim_is_needed():
    with pytest.raises(InvalidValue, match="declares no claim"):
        make_task(fast, **DOMAIN)


@pytest.mark.parametrize(
    "options",
    [
        DOMAIN,
        {"pairs": [([0], [1])]},
        {"pairs": [([0], [1])], "size": 1},
        {"size": (2, 3)},
        {"databases": st.lists(st.integers(0, 2), min_size=1, max_size=2)},
        {"seed": 3, "budget": 500, "time_limit": 9, "convert": tuple, "claim": PureDP(2.0)},
    ],
    ids=["records", "pairs", "pairs and size", "size", "databases", "own"],
)
def test_the_plan_is_that_of_the_audit(options, monkeypatch):
    class Carried(Exception):
        pass

    def dispatch(task, *_):
        raise Carried(task)

    monkeypatch.setattr("audit.privacy._dispatch", dispatch)
    with pytest.raises(Carried) as caught:
        audit_privacy(Suggests(), **options)
    [audited] = caught.value.args
    explained = make_task(Suggests(), **options)
    for name in ("claim", "relation", "databases", "options"):
        assert getattr(explained, name) == getattr(audited, name)
    assert explained.subject.convert is audited.subject.convert


def test_times_are_given_in_readable_units():
    said = [_duration(s) for s in (2e-6, 3.4e-5, 2.5e-4, 0.05, 1.44, 90.0, 600.0, 36_000.0)]
    assert said == ["2 µs", "34 µs", "250 µs", "50 ms", "1.4 s", "90 s", "10 min", "10 h"]


@pytest.mark.parametrize("epsilon", [50.0, 400.0, 1e9])
def test_a_budget_that_can_refute_nothing_has_no_power(epsilon):
    text = explain(make_task(lambda database, rng: 0, PureDP(epsilon), **DOMAIN))
    assert "Power        none: this budget can refute nothing." in text
