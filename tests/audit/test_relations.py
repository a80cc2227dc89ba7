"""Each relation lists all neighbours of a database and no others.

The file is long because the same databases go through all relations.
"""

import copy
import math
import pickle
from collections import deque, namedtuple
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import InvalidKind, InvalidValue
from audit.relations import NeighbourRelation, Relation, check_pair, check_relation, name_of
from audit.relations.answers import chosen, moved
from audit.values.canonical import key, same

fixed = settings(derandomize=True, deadline=None, database=None)

ALL = (
    Relation.REPLACE_ONE,
    Relation.ADD_OR_REMOVE_ONE,
    Relation.REPLACE_LABEL,
    Relation.LOCAL,
    Relation.QUERY_ANSWERS,
)
LABELLED = [(x, y) for x in "ab" for y in (0, 1, 2)]
kinds = st.sampled_from([list, tuple, np.array])


def everything(records, sizes):
    return [list(database) for size in sizes for database in product(records, repeat=size)]


def keys(databases):
    return [key(database) for database in databases]


def generator(seed=0):
    return np.random.default_rng(seed)


def hamming(left, right):
    return sum(a != b for a, b in zip(left, right, strict=True))


# the definitions, written out for lists of plain records
DEFINITIONS = {
    Relation.REPLACE_ONE: lambda left, right: len(left) == len(right) and hamming(left, right) == 1,
    Relation.ADD_OR_REMOVE_ONE: lambda left, right: any(
        long[:place] + long[place + 1 :] == short
        for short, long in ((left, right), (right, left))
        for place in range(len(long))
    ),
    Relation.REPLACE_LABEL: lambda left, right: (
        len(left) == len(right)
        and [x for x, _ in left] == [x for x, _ in right]
        and hamming(left, right) == 1
    ),
    Relation.LOCAL: lambda left, right: len(left) == len(right) == 1 and left != right,
    Relation.QUERY_ANSWERS: lambda left, right: (
        len(left) == len(right)
        and left != right
        and all(abs(a - b) <= 1 for a, b in zip(left, right, strict=True))
    ),
}
DOMAINS = [
    (Relation.REPLACE_ONE, [0, 1, 2], range(4)),
    (Relation.ADD_OR_REMOVE_ONE, [0, 1, 2], range(4)),
    (Relation.REPLACE_LABEL, LABELLED, range(3)),
    (Relation.LOCAL, ["a", "b", None, True, 1], range(3)),
    (Relation.QUERY_ANSWERS, [0, 1, 2, 3], range(4)),
    (Relation.QUERY_ANSWERS, [0.0, 0.5, 1.5], range(4)),
]


@pytest.mark.parametrize(("relation", "records", "sizes"), DOMAINS)
def test_a_relation_agrees_with_its_definition(relation, records, sizes):
    definition = DEFINITIONS[relation]
    plain = [record for record in records if record is not True]  # True == 1 in the definitions above
    databases = everything(plain, sizes)
    for left, right in product(databases, repeat=2):
        assert relation.are_neighbours(left, right) == definition(left, right)


@pytest.mark.parametrize(("relation", "records", "sizes"), DOMAINS)
def test_the_neighbours_are_all_there_once_and_nothing_else(relation, records, sizes):
    domain = everything(records, range(max(sizes) + 2))
    for database in everything(records, sizes):
        before = copy.deepcopy(database)
        found = keys(relation.neighbours(database, records))
        assert len(found) == len(set(found))
        assert set(found) == {key(other) for other in domain if relation.are_neighbours(database, other)}
        assert database == before
        assert found == keys(relation.neighbours(database, records))


@pytest.mark.parametrize(("relation", "records", "sizes"), DOMAINS)
def test_random_neighbours_are_neighbours_and_reach_every_one(relation, records, sizes):
    # There are at most 11 neighbours. The rarest is an insertion (a half, one of 3 places, one of 3 records)
    # with probability ≥ 1/18. 1,000 draws miss one of them with probability at most 11·(17/18)^1000 < 1e-23.
    for database in everything(records, [min(2, max(sizes))])[:20]:
        every = set(keys(relation.neighbours(database, records)))
        drawn = set(keys(islice(relation.neighbours(database, records, generator()), 1000)))
        assert drawn == every


@fixed
@given(st.sampled_from(DOMAINS), st.data())
def test_neighbourhood_is_symmetric_and_never_holds_for_equal_databases(domain, data):
    relation, records, sizes = domain
    databases = st.sampled_from(everything(records, sizes))
    left, right = data.draw(databases), data.draw(databases)
    assert relation.are_neighbours(left, right) == relation.are_neighbours(right, left)
    assert not relation.are_neighbours(left, copy.deepcopy(left))
    for other in relation.neighbours(left, records):
        assert relation.are_neighbours(left, other)
        assert relation.are_neighbours(other, left)


@fixed
@given(
    st.sampled_from(
        [Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE, Relation.LOCAL, Relation.QUERY_ANSWERS]
    ),
    kinds,
    st.lists(st.integers(0, 3), min_size=1, max_size=4),
    st.integers(0, 2**32),
)
def test_neighbours_keep_the_kind_of_the_database(relation, kind, records, seed):
    database = kind(records)
    before = copy.deepcopy(database)
    for rng in (None, generator(seed)):
        for other in islice(relation.neighbours(database, [0, 1, 2], rng), 20):
            assert type(other) is type(database)
            assert relation.are_neighbours(database, other)
            assert getattr(other, "dtype", None) == getattr(database, "dtype", None)
    assert same(database, before)


@fixed
@given(st.lists(st.integers(0, 2), max_size=6), st.integers(0, 6), st.integers(0, 6))
def test_one_record_more_is_a_neighbour_at_every_position(records, place, other):
    longer = [*records[:place], "new", *records[place:]]
    assert Relation.ADD_OR_REMOVE_ONE.are_neighbours(records, longer)
    twice = [*longer[:other], "new", *longer[other:]]
    assert not Relation.ADD_OR_REMOVE_ONE.are_neighbours(records, twice)


@pytest.mark.parametrize("relation", ALL)
def test_a_relation_has_a_name_that_leads_back_to_it(relation):
    assert Relation.from_name(relation.name) is relation
    assert Relation.from_name(repr(relation).removeprefix("Relation.")) is relation
    assert check_relation(relation.name) is relation is check_relation(relation)
    assert pickle.loads(pickle.dumps(relation)) is relation
    assert copy.deepcopy(relation) is relation
    assert name_of(relation) == relation.name


def test_an_unknown_relation_is_refused_with_the_known_names():
    with pytest.raises(InvalidValue) as caught:
        Relation.from_name("swap")
    assert str(caught.value) == (
        "The `relation` must be one of replace-one, add-or-remove-one, replace-label, local, query-answers; "
        "got 'swap'."
    )


@pytest.mark.parametrize(
    ("relation", "left", "right", "why"),
    [
        (Relation.REPLACE_ONE, [1, 2, 3, 4], [0, 2, 3, 5], "they differ at 2 positions (0 and 3)"),
        (Relation.REPLACE_ONE, [0] * 9, [1] * 9, "they differ at 9 positions (0, 1, 2, 3, 4, …)"),
        (Relation.REPLACE_ONE, [1, math.nan], [1.0, math.nan], "they are equal"),
        (Relation.REPLACE_ONE, [1], [1, 2], "their lengths are 1 and 2"),
        (Relation.REPLACE_ONE, [1], (2,), "they have different kinds, list and tuple"),
        (Relation.REPLACE_ONE, [1], 2, "the right one is not a sequence of records: 2"),
        (Relation.REPLACE_ONE, {1}, [2], "the left one is not a sequence of records: {1}"),
        (Relation.REPLACE_ONE, [], [], "they are equal"),
        (
            Relation.ADD_OR_REMOVE_ONE,
            [1, 2],
            [1, 3],
            "their lengths are 2 and 2, but must differ by one",
        ),
        (
            Relation.ADD_OR_REMOVE_ONE,
            [1, 2],
            [2, 1, 1],
            "deleting one record does not turn the longer one into the shorter one",
        ),
        (
            Relation.REPLACE_LABEL,
            [(1, 0)],
            [(2, 0)],
            "the x differs at position 0, but only one y may differ",
        ),
        (Relation.REPLACE_LABEL, [(1, 0)] * 2, [(1, 1)] * 2, "they differ at 2 positions (0 and 1)"),
        (
            Relation.REPLACE_LABEL,
            [(1, 0), 5],
            [(1, 1), 5],
            "record 1 of the left one is not an (x, y) pair: 5",
        ),
        (Relation.LOCAL, [1, 2], [1], "each must hold one record, but they hold 2 and 1"),
        (Relation.QUERY_ANSWERS, [0, 1, 2], [0, 3, 2], "the answers differ by more than 1 at position 1"),
        (Relation.QUERY_ANSWERS, [0, "a"], [1, "a"], "answer 1 of the left one is not a number: 'a'"),
        (Relation.QUERY_ANSWERS, [True], [0], "answer 0 of the left one is not a number: True"),
        (Relation.QUERY_ANSWERS, [math.nan], [0.5], "the answers differ by more than 1 at position 0"),
        (Relation.QUERY_ANSWERS, [math.inf], [1e300], "the answers differ by more than 1 at position 0"),
    ],
)
def test_a_pair_of_non_neighbours_is_refused_with_the_reason(relation, left, right, why):
    with pytest.raises(InvalidValue) as caught:
        check_pair(relation, left, right)
    assert str(caught.value) == f"These databases are not neighbours under {relation.name}: {why}."
    assert not relation.are_neighbours(left, right)


@pytest.mark.parametrize(
    ("relation", "left", "right"),
    [
        (Relation.REPLACE_ONE, [1], [True]),
        (Relation.REPLACE_ONE, np.array([1, 2]), np.array([1.0, 2.5])),
        (Relation.REPLACE_ONE, np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 5]])),
        (Relation.REPLACE_ONE, "abc", "abd"),
        (Relation.REPLACE_ONE, range(3), [0, 1, 3]),
        (Relation.ADD_OR_REMOVE_ONE, np.zeros((0, 2)), np.zeros((1, 2))),
        (Relation.ADD_OR_REMOVE_ONE, "abc", "bc"),
        (Relation.REPLACE_LABEL, [[1, 0]], [[1, 1]]),
        (Relation.REPLACE_LABEL, np.array([[1, 0], [2, 0]]), np.array([[1, 0], [2, 1]])),
        (Relation.LOCAL, (math.nan,), (None,)),
        (Relation.QUERY_ANSWERS, [0.1, 2.7], [1.1, 3.7]),
        (Relation.QUERY_ANSWERS, [math.inf, 0], [math.inf, 1]),
        (Relation.QUERY_ANSWERS, [Fraction(1, 3)], [Fraction(4, 3)]),
        (Relation.QUERY_ANSWERS, np.array([0.1], dtype="f4"), np.array([0.1], dtype="f4") + np.float32(1)),
        (Relation.QUERY_ANSWERS, np.array([250], dtype="u1"), np.array([251], dtype="u1")),
    ],
)
def test_these_are_neighbours(relation, left, right):
    check_pair(relation, left, right)
    check_pair(relation, right, left)


def test_a_difference_just_above_one_is_too_much():
    assert not Relation.QUERY_ANSWERS.are_neighbours([0.0], [1 + 1e-12])
    assert not Relation.QUERY_ANSWERS.are_neighbours([10**20], [10**20 + 2])


def arrays(relation, database, records, rng=None):
    return [(other.dtype.kind, other.tolist()) for other in relation.neighbours(database, records, rng)]


def test_an_array_takes_the_dtype_that_a_new_record_needs():
    assert arrays(Relation.REPLACE_ONE, np.array([1]), [0.5, 2]) == [("f", [0.5]), ("i", [2])]
    assert arrays(Relation.REPLACE_ONE, np.array(["a"]), ["bcd"]) == [("U", ["bcd"])]
    # among integers False would become 0, which is another value
    assert arrays(Relation.REPLACE_ONE, np.array([True, False]), [2])[0] == ("O", [2, False])
    assert arrays(Relation.REPLACE_ONE, np.array([1]), [None, "a"]) == [("O", [None]), ("O", ["a"])]
    assert arrays(Relation.REPLACE_ONE, np.array([1, 2]), [(3, 4)])[0] == ("O", [(3, 4), 2])


def test_the_rows_of_an_array_may_be_given_in_any_form():
    rows = [(0, 1), [0, 1], np.array([0.0, 1.0]), (1, 1)]
    database = np.array([[0, 1], [0, 1]])
    assert arrays(Relation.REPLACE_ONE, database, rows) == [("i", [[1, 1], [0, 1]]), ("i", [[0, 1], [1, 1]])]
    assert arrays(Relation.ADD_OR_REMOVE_ONE, database[:0], np.array(rows[3:])) == [("i", [[1, 1]])]
    with pytest.raises(InvalidValue, match=r"^The records of this array must have shape \(2,\); got 5\.$"):
        arrays(Relation.REPLACE_ONE, database, [5])


def test_databases_of_more_containers_than_a_key_opens_are_still_compared(monkeypatch):
    monkeypatch.setattr("audit.values.canonical._NODES", 10)
    left, right = [(place, 0) for place in range(50)], [(place, place == 30) for place in range(50)]
    for relation in (Relation.REPLACE_LABEL, Relation.REPLACE_ONE):
        assert relation.are_neighbours(left, [*left[:30], (30, 1), *left[31:]])
        assert not relation.are_neighbours(left, right)
    assert Relation.ADD_OR_REMOVE_ONE.are_neighbours(left, [*left[:30], *left[31:]])
    assert not Relation.ADD_OR_REMOVE_ONE.are_neighbours(left, [*left[1:30], *left[31:], (9, 9)])


def test_labels_change_in_every_form_of_a_pair():
    labelled = namedtuple("labelled", "x y")  # noqa: PYI024  the kind people use
    assert list(Relation.REPLACE_LABEL.neighbours([labelled(7, 0)], [(0, 1)])) == [[labelled(7, 1)]]
    assert list(Relation.REPLACE_LABEL.neighbours([[7, 0]], [(0, 1), (1, 1)])) == [[[7, 1]]]
    assert arrays(Relation.REPLACE_LABEL, np.array([[7, 0]]), np.array([[0, 1]])) == [("i", [[7, 1]])]
    structured = np.array([(7, 0)], dtype=[("x", int), ("y", int)])
    assert arrays(Relation.REPLACE_LABEL, structured, structured.copy()) == []
    assert arrays(Relation.REPLACE_LABEL, structured, [(0, 1)]) == [("V", [(7, 1)])]
    with pytest.raises(
        InvalidValue, match=r"^A record under replace-label must be an \(x, y\) pair; got 5\.$"
    ):
        Relation.REPLACE_LABEL.neighbours([(1, 0)], [5])


def test_texts_and_other_sequences_are_databases_too():
    assert list(Relation.REPLACE_ONE.neighbours("ab", "ab")) == ["bb", "aa"]
    assert list(Relation.ADD_OR_REMOVE_ONE.neighbours(b"a", b"a")) == [b"", b"aa"]
    assert list(Relation.REPLACE_ONE.neighbours(deque([1, 2]), [3])) == [[3, 2], [1, 3]]
    with pytest.raises(InvalidValue, match=r"^The records of a string must be single characters; got "):
        list(Relation.REPLACE_ONE.neighbours("ab", ["cd"]))
    with pytest.raises(InvalidKind, match=r"^A database must be a sequence of records; got \{1\}\.$"):
        Relation.REPLACE_ONE.neighbours({1}, [2])


@pytest.mark.parametrize("relation", ALL)
@pytest.mark.parametrize("rng", [None, generator()])
def test_a_database_without_neighbours_yields_nothing(relation, rng):
    labelled = relation is Relation.REPLACE_LABEL
    empty = relation is Relation.ADD_OR_REMOVE_ONE
    database = [] if empty else [(0, 0)] if labelled else [0]
    records = [] if empty else [(1, 0), (2, 0)] if labelled else [0, 0.0]
    assert list(relation.neighbours(database, records, rng)) == []
    assert empty or list(relation.neighbours([], records, rng)) == []


def test_answers_move_one_by_one_together_by_halves_and_against_each_other():
    found = [tuple(other) for other in Relation.QUERY_ANSWERS.neighbours([0, 0, 0, 0], None)]
    assert len(found) == len(set(found)) == 26
    for expected in [(1, 0, 0, 0), (-1,) * 4, (1, 1, 0, 0), (1, 1, -1, -1), (1, -1, 1, -1), (-1, 1, 1, 1)]:
        assert expected in found
        assert tuple(-step for step in expected) in found
    for size in range(1, 5):
        small = [tuple(other) for other in Relation.QUERY_ANSWERS.neighbours([0] * size, None)]
        assert len(small) == len(set(small))
    assert list(Relation.QUERY_ANSWERS.neighbours([], None)) == []


def test_random_moves_reach_every_direction():
    # Each of the 26 steps has probability ≥ 1/54. 2,000 draws miss one with probability at most
    # 26·(53/54)^2000 ≈ 2e-15.
    drawn = islice(Relation.QUERY_ANSWERS.neighbours([5, 5, 5], None, generator()), 2000)
    assert {tuple(other) for other in drawn} == set(product([4, 5, 6], repeat=3)) - {(5, 5, 5)}


def test_answers_keep_their_dtype_and_never_leave_it():
    for dtype in ("u1", "i4", "f4", "f8"):
        for other in Relation.QUERY_ANSWERS.neighbours(np.array([0, 0], dtype=dtype), None):
            assert other.dtype == dtype
            assert np.abs(other.astype(float)).max() == 1
    assert len(list(Relation.QUERY_ANSWERS.neighbours(np.array([0], dtype="u1"), None))) == 1
    assert list(Relation.QUERY_ANSWERS.neighbours([1e17, math.inf, math.nan], None)) == []
    narrow = np.array([0.1, 0.7], dtype="f4")
    assert len(list(Relation.QUERY_ANSWERS.neighbours(narrow, None))) == 8


def test_every_move_and_every_choice_changes_something():
    # If a draw left the database unchanged with probability 1/18, a thousand draws would almost certainly
    # show it.
    assert (0, 0) not in map(tuple, islice(moved([0, 0], generator()), 1000))
    assert (0, 0) not in map(tuple, islice(chosen([0, 0], [0, 1], generator()), 1000))
    assert (0, 0) not in map(tuple, chosen([0, 0], [0, 1]))


def test_random_moves_end_where_no_move_is_possible():
    for answers in ([1e17], [math.inf, math.nan], np.array([2.0**60])):
        assert list(Relation.QUERY_ANSWERS.neighbours(answers, None, generator())) == []


def test_answers_must_be_numbers():
    with pytest.raises(
        InvalidValue, match=r"^The answers of a database must be numbers; got 'a' at position 1\.$"
    ):
        Relation.QUERY_ANSWERS.neighbours([0, "a"], None)


def test_the_first_neighbours_of_many_answers_come_at_once():
    many = [0] * 2000
    assert len(list(islice(Relation.QUERY_ANSWERS.neighbours(many, range(10)), 3))) == 3
    assert len(list(islice(Relation.QUERY_ANSWERS.neighbours(many, None), 3))) == 3


class Swap:
    """Two databases are neighbours if they differ by a swap of two adjacent records."""

    def are_neighbours(self, left, right):
        return np.bool_(right in list(self.neighbours(left, None)))

    def neighbours(self, database, records, rng=None):
        for place in range(len(database) - 1):
            first, second = database[place : place + 2]
            yield [*database[:place], second, first, *database[place + 2 :]]


class Failing(Swap):
    name = "always failing"

    def are_neighbours(self, left, right):
        raise RuntimeError("cannot compare\nthese")


def test_a_custom_relation_works_like_the_others():
    relation = check_relation(Swap())
    assert isinstance(relation, NeighbourRelation)
    assert name_of(relation) == "Swap"
    check_pair(relation, [1, 2, 3], [1, 3, 2])
    with pytest.raises(InvalidValue) as caught:
        check_pair(relation, [1, 2, 3], [3, 2, 1])
    assert str(caught.value) == (
        "These databases are not neighbours under Swap: its `are_neighbours` returns False for [1, 2, 3] and "
        "[3, 2, 1]."
    )


def test_equal_databases_are_refused_under_a_custom_relation():
    with pytest.raises(
        InvalidValue, match=r"^These databases are not neighbours under Swap: they are equal\.$"
    ):
        check_pair(Swap(), [1, 1], [1, 1])


def test_a_custom_relation_that_fails_is_reported_in_one_line():
    with pytest.raises(InvalidValue) as caught:
        check_pair(Failing(), [1], [2])
    assert str(caught.value) == (
        "These databases are not neighbours under always failing: its `are_neighbours` raised RuntimeError: "
        "cannot compare these."
    )


@pytest.mark.parametrize("relation", [None, 1, Swap, object(), Relation])
def test_an_object_that_is_not_a_relation_is_refused(relation):
    with pytest.raises(
        InvalidKind, match=r"^The `relation` must be a Relation, or an object with the methods "
    ):
        check_relation(relation)
