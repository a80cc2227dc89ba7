"""If no audit can use a database, a one-line error says what to write instead."""

import time

import pytest
from hypothesis import strategies as st

from audit import PureDP, Verdict, audit_privacy
from audit.errors import AuditError, InvalidKind, InvalidValue, SubjectError

REPLACE, ADD, LABEL = "replace-one", "add-or-remove-one", "replace-label"


def coin(database, rng):
    return int(rng.integers(0, 2))


def leak(database, rng):
    return [getattr(record, "value", record) for record in database]


def audit(mechanism=coin, **options):
    return audit_privacy(mechanism, PureDP(0.1), **{"budget": 1_000, **options})


def test_a_local_audit_needs_no_size():
    said = audit(records=[0, 1], relation="local", seed=3)
    assert said == audit(records=[0, 1], size=1, relation="local", seed=3)


def refused(**options):
    with pytest.raises(AuditError) as caught:
        audit(**options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    return str(caught.value)


NOTHING = st.integers().filter(lambda number: False)
SCARCE = st.integers(0, 10**6).filter(lambda number: number % 100_000 == 7)
SPARSE = st.integers(0, 10**6).filter(lambda number: number % 50 == 7)
LISTS = st.lists(st.integers(0, 3), max_size=3)


class Table:
    """A stand-in for a frame of pandas."""

    iloc, columns, to_dict = None, ("town", "age"), dict

    def __iter__(self):
        return iter(self.columns)


REFUSALS = {
    "one pair": ({"pairs": ([0, 1], [1, 1])}, ["must be a list; for one pair write `pairs=[(left, right)]`"]),
    "a frame for records": ({"records": Table(), "size": 2}, ['give `records=frame.to_dict("records")`']),
    "frames for databases": (
        {"pairs": [(Table(), Table())]},
        ["give lists of records, and audit `audit.adapters.pandas(function, columns=[...])`"],
    ),
    "rejects everything": (
        {"records": NOTHING, "size": 2},
        ["The strategy `records` generates no values", "Build the values instead"],
    ),
    "rejects nearly everything": (
        {"records": SCARCE, "size": 2},
        ["The strategy `records` rejects nearly everything", "`st.integers(0, 9).map("],
    ),
    "rejects databases": (
        {"databases": LISTS.filter(lambda rows: sum(rows) == 99)},
        ["The strategy `databases` generates no values", "Build the values instead"],
    ),
    "empty strategy": ({"records": st.nothing(), "size": 2}, ["generates no values"]),
    "a strategy that raises": (
        {"records": st.integers().map(lambda number: 1 // 0), "size": 2},
        ["The strategy `records` failed: ZeroDivisionError"],
    ),
    "a strategy not called": ({"records": st.integers, "size": 2}, ["call it: `integers()`"]),
    "one record": ({"records": [5], "size": 2}, ["only one value, 5", "give at least two"]),
    "one record written twice": ({"records": [5, 5.0], "size": 2}, ["only one value", "give at least two"]),
    "one record from a strategy": ({"records": st.just(5), "size": 2}, ["only one value, 5"]),
    "one record, local": ({"records": ["a"], "size": 1, "relation": "local"}, ["only one value", "local"]),
    "one record in databases": ({"databases": st.just([1, 1])}, ["only one value, 1", "`databases`"]),
    "one label": (
        {"records": [(1, 0), (2, 0)], "size": 1, "relation": LABEL},
        ["only one label, 0", "give records with at least two"],
    ),
    "no labels": ({"records": [1, 2], "size": 1, "relation": LABEL}, ["an (x, y) pair; got 1"]),
    "size 0": ({"records": [0, 1], "size": 0}, ["`size` must be at least 1", "got 0"]),
    "size 0, add": ({"records": [0, 1], "size": 0, "relation": ADD}, ["`size` must be at least 1"]),
    "size 2, local": ({"records": [0, 1], "size": 2, "relation": "local"}, ["at most 1", "got 2"]),
    "no size": ({"records": [0, 1]}, ["The `records` need a `size`"]),
    "empty databases": ({"databases": st.just([])}, ["only empty databases", "min_size=1"]),
    "empty databases, add": ({"databases": st.just([]), "relation": ADD}, ["only empty databases"]),
    "databases that are none": (
        {"databases": st.integers()},
        ["must generate sequences of records", "generated 0"],
    ),
    "sets as databases": ({"databases": st.sets(st.integers())}, ["must generate sequences of records"]),
}


@pytest.mark.parametrize(("options", "words"), REFUSALS.values(), ids=REFUSALS.keys())
def test_a_domain_that_cannot_be_audited_gets_one_line_that_says_what_to_write(options, words):
    said = refused(**options)
    assert all(word in said for word in words), said


def test_wrong_kinds_and_wrong_values_raise_different_errors():
    with pytest.raises(InvalidKind):
        audit(databases=st.integers())
    with pytest.raises(InvalidValue):
        audit(records=[5], size=2)


def test_a_strategy_that_rejects_most_values_does_not_delay_the_audit():
    """Hypothesis would need ten seconds or more to draw 800 examples.

    The strategy keeps one number in fifty.
    """
    start = time.process_time()  # processor time, because other processes may slow this one
    assert audit(records=SPARSE, size=2).verdict is Verdict.NOT_REFUTED
    assert time.process_time() - start < 5


def test_a_strategy_of_few_values_is_accepted():
    result = audit(leak, records=st.sampled_from([3, 8]), size=1)
    assert result.refuted
    assert sorted([result.witness.left, result.witness.right]) == [[3], [8]]


@pytest.mark.parametrize("size", [1, 2])
def test_one_record_is_enough_under_add_or_remove_one(size):
    result = audit(lambda database, rng: len(database), records=["a"], size=size, relation=ADD)
    assert result.refuted


def test_databases_of_one_size_lose_a_record_under_add_or_remove_one():
    fixed = st.lists(st.integers(0, 3), min_size=2, max_size=2)
    result = audit(lambda database, rng: len(database), databases=fixed, relation=ADD)
    assert result.refuted
    assert {len(result.witness.left), len(result.witness.right)} == {1, 2}


class Unhashable:
    """A record that can be neither hashed nor ordered."""

    __hash__ = None

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Unhashable) and self.value == other.value


@pytest.mark.parametrize(
    "records",
    [
        [Unhashable(1), Unhashable(2)],
        [{"age": 1}, {"age": 2}],
        [{1}, "a", None, 3, [1, 2], float("nan"), 1j],
        st.one_of(st.none(), st.builds(Unhashable, st.integers(0, 3)), st.text(max_size=2)),
    ],
    ids=["objects", "dicts", "mixed", "strategy of mixed"],
)
def test_records_that_cannot_be_hashed_or_ordered_are_records_like_others(records):
    assert audit(records=records, size=2).verdict is Verdict.NOT_REFUTED
    assert audit(leak, records=records, size=2).refuted


@pytest.mark.parametrize("isolate", [False, True])
def test_a_convert_that_fails_is_named_with_its_own_message(isolate):
    def convert(rows):
        raise KeyError("age")

    with pytest.raises(SubjectError, match=r"`convert` failed.*KeyError: 'age'") as caught:
        audit(records=[0, 1], size=2, convert=convert, isolate=isolate)
    assert "\n" not in str(caught.value)


def test_a_mechanism_that_refuses_some_databases_of_the_boundary_is_audited():
    def needs_three(database, rng):
        if len(set(database)) < 3:
            raise ValueError("too few distinct values")
        return coin(database, rng)

    result = audit(needs_three, records=list(range(10)), size=6)
    assert result.verdict is not Verdict.ERROR


def test_a_mechanism_that_refuses_every_database_of_the_boundary_is_audited_on_ordinary_ones():
    """Random databases reach values that boundary databases do not.

    A boundary database has at most two different values, and its neighbour at most three. Six draws from
    ten values have four or more different ones with probability 0.93.
    """

    def needs_four(database, rng):
        if len(set(database)) < 4:
            raise ValueError("too few distinct values")
        return coin(database, rng)

    assert audit(needs_four, records=list(range(10)), size=6).verdict is not Verdict.ERROR


def test_a_mechanism_that_refuses_every_database_says_why_in_its_own_words():
    def refuses(database, rng):
        raise ValueError("too few distinct values")

    result = audit(refuses, records=list(range(10)), size=3)
    assert result.verdict is Verdict.ERROR
    assert "ValueError: too few distinct values" in result.reason
