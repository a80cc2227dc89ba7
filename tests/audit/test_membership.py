"""Correct mechanisms that rely on the user's domain are never refuted.

Each mechanism says openly when a database is outside its domain. Bets on such a database would refute it
within a few hundred runs. The significance is 1e-6. The file is long because each way to state a domain
has a mechanism that needs it.
"""

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import PureDP, Relation, Verdict, audit_privacy
from audit.databases.chosen import MOST_CHECKED
from audit.databases.domain import describe
from audit.errors import InvalidKind, InvalidValue, SubjectError

ADD, LABEL, ANSWERS = Relation.ADD_OR_REMOVE_ONE, Relation.REPLACE_LABEL, Relation.QUERY_ANSWERS
DIGITS = st.integers(0, 9)


@st.composite
def counted(draw):
    """Return the number of rows, then the rows."""
    rows = draw(st.lists(DIGITS, min_size=1, max_size=5))
    return [len(rows), *rows]


@st.composite
def checked(draw):
    """Return digits, then their check digit."""
    digits = draw(st.lists(DIGITS, min_size=1, max_size=5))
    return [*digits, sum(digits) % 10]


class AnyOne:
    """A relation whose neighbours differ at one place, which may hold any value.

    `neighbours` also puts a text there.
    """

    def are_neighbours(self, left, right):
        return len(left) == len(right) and sum(a != b for a, b in zip(left, right, strict=True)) == 1

    def neighbours(self, database, records, rng=None):
        for place, record in itertools.product(range(len(database)), [*records, "other"]):
            if record != database[place]:
                yield type(database)([*database[:place], record, *database[place + 1 :]])


class Checked:
    """A relation whose neighbours differ in one digit, and maybe the check digit."""

    def are_neighbours(self, left, right):
        return (
            len(left) == len(right) and sum(a != b for a, b in zip(left[:-1], right[:-1], strict=True)) == 1
        )

    def neighbours(self, database, records, rng=None):
        for place, record in itertools.product(range(len(database) - 1), records):
            if record != database[place]:
                changed = [*database[:place], record, *database[place + 1 : -1]]
                yield [*changed, sum(changed) % 10]


class Floats(AnyOne):
    """A relation whose neighbours hold floats, although the records are ints."""

    def neighbours(self, database, records, rng=None):
        known = (other for other in super().neighbours(database, records, rng) if "other" not in other)
        return ([float(row) for row in other] for other in known)


class Case(NamedTuple):
    """A domain, the check that a database belongs to it, and the released total."""

    options: dict[str, Any]
    belongs: Callable[[Any], bool]
    total: Callable[[Any], float] = sum


CASES = {
    "a header row": Case(
        {"databases": st.lists(DIGITS, min_size=1, max_size=5).map(lambda rows: ["age", *rows])},
        lambda database: database[0] == "age" and "age" not in database[1:],
        lambda database: sum(database[1:]),
    ),
    "sorted values": Case(
        {"databases": st.lists(DIGITS, min_size=2, max_size=6).map(sorted)},
        lambda database: database == sorted(database),
    ),
    "an array of sorted values": Case(
        {"databases": st.lists(DIGITS, min_size=2, max_size=6).map(sorted).map(np.array)},
        lambda database: bool(np.all(np.diff(database) >= 0)),
        lambda database: int(np.sum(database)),
    ),
    "a check digit": Case(
        {"databases": checked(), "relation": Checked()},
        lambda database: database[-1] == sum(database[:-1]) % 10,
        lambda database: sum(database[:-1]),
    ),
    "unique values": Case(
        {"databases": st.lists(DIGITS, min_size=1, max_size=5, unique=True)},
        lambda database: len(set(database)) == len(database),
    ),
    "unique values that come and go": Case(
        {"databases": st.lists(DIGITS, max_size=5, unique=True), "relation": ADD},
        lambda database: len(set(database)) == len(database),
    ),
    "a number of rows": Case(
        {"databases": counted()},
        lambda database: database[0] == len(database) - 1,
        lambda database: sum(database[1:]),
    ),
    "an even sum": Case(
        {"databases": st.lists(DIGITS, min_size=2, max_size=4).filter(lambda rows: sum(rows) % 2 == 0)},
        lambda database: sum(database) % 2 == 0,
    ),
    "one of some databases": Case(
        {"databases": st.sampled_from([[0, 0], [0, 9], [4, 9], [5, 5], [9, 9]])},
        lambda database: database in [[0, 0], [0, 9], [4, 9], [5, 5], [9, 9]],
    ),
    "either of two kinds": Case(
        {"databases": st.one_of(*(st.lists(st.integers(k, k + 4), min_size=2, max_size=3) for k in (0, 5)))},
        lambda database: max(database) < 5 or min(database) > 4,
    ),
    "one record again and again": Case(
        {"databases": st.lists(st.shared(DIGITS, key="all"), min_size=1, max_size=3)},
        lambda database: len(set(database)) == 1,
    ),
    "places with records of their own": Case(
        {"databases": st.tuples(st.integers(0, 4), st.integers(5, 9))},
        lambda database: database[0] < 5 <= database[1],
    ),
    "a relation that takes any record": Case(
        {"databases": st.tuples(st.just("age"), DIGITS, DIGITS), "relation": AnyOne()},
        lambda database: database[0] == "age" and all(type(row) is int for row in database[1:]),
        lambda database: sum(database[1:]),
    ),
    "a relation that makes records": Case(
        {"databases": st.lists(DIGITS, min_size=1, max_size=4), "relation": AnyOne()},
        lambda database: all(type(row) is int for row in database),
    ),
    "a relation that makes others of listed records": Case(
        {"records": [0, 4, 9], "size": (1, 3), "relation": AnyOne()},
        lambda database: all(row in (0, 4, 9) for row in database),
    ),
    "a relation that makes floats of ints": Case(
        {"records": [0, 4, 9], "size": 2, "relation": Floats()},
        lambda database: all(type(row) is int for row in database),
    ),
    "filtered records": Case(
        {"databases": st.lists(DIGITS.filter(lambda row: row % 2), min_size=1, max_size=4)},
        lambda database: all(row % 2 for row in database),
    ),
    "records from a filter": Case(
        {"records": DIGITS.filter(lambda row: row % 2), "size": (1, 4)},
        lambda database: all(row % 2 for row in database),
    ),
    "labels that go with their records": Case(
        {"records": [(0, 0), (0, 5), (1, 4), (1, 9)], "size": (1, 3), "relation": LABEL},
        lambda database: all(row in [(0, 0), (0, 5), (1, 4), (1, 9)] for row in database),
        lambda database: sum(y for _, y in database),
    ),
    "labels drawn with their records": Case(
        {
            "records": st.integers(0, 4).flatmap(lambda x: st.tuples(st.just(x), st.integers(x, x + 5))),
            "size": (1, 3),
            "relation": LABEL,
        },
        lambda database: all(x <= y <= x + 5 for x, y in database),
        lambda database: sum(y for _, y in database),
    ),
    "answers between 0 and 1": Case(
        {"records": [0.0, 0.5, 1.0], "size": 1, "relation": ANSWERS},
        lambda database: all(0 <= answer <= 1 for answer in database),
        lambda database: 9 * sum(database),
    ),
}
FAULTY = (
    "a header row",
    "an array of sorted values",
    "a check digit",
    "unique values that come and go",
    "a number of rows",
    "one of some databases",
    "a relation that takes any record",
    "labels drawn with their records",
    "answers between 0 and 1",
)


def released(case, scale):
    """Return a mechanism that releases the noisy total, or "outside".

    It says "outside" if the database is not in the domain. Between neighbours a total moves by at most 9.
    """

    def release(database, rng):
        return case.total(database) + rng.laplace(scale=scale) if case.belongs(database) else "outside"

    return release


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mechanism_that_relies_on_its_domain_is_never_refuted(case):
    result = audit_privacy(released(case, 9.0), PureDP(1.0), budget=1_000, **case.options)
    assert result.verdict in {Verdict.NOT_REFUTED, Verdict.INCONCLUSIVE}
    if result.verdict is Verdict.INCONCLUSIVE:
        assert "give `valid=`" in result.reason


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_inside_a_restricted_domain_is_refuted(name):
    """The loss is 4/0.9 or more.

    The noise has scale 0.9 instead of 9, and some neighbours differ in their totals by 4 or more.
    """
    case = CASES[name]
    result = audit_privacy(released(case, 0.9), PureDP(1.0), budget=20_000, **case.options)
    assert result.refuted, result.reason
    simplest = result.witness.simplest
    for database in (result.witness.left, result.witness.right, simplest.left, simplest.right):
        assert case.belongs(database)


# `valid=`


def described(
    relation=Relation.REPLACE_ONE, *, records=None, size=None, databases=None, pairs=None, **options
):
    return describe(relation, pairs=pairs, records=records, size=size, databases=databases, **options)


def rises(database):
    return database == sorted(database)


def audited(subject, **options):
    return audit_privacy(subject, PureDP(1.0), budget=600, **options)


def is_sorted(database, rng):
    return rises(database)


@pytest.mark.parametrize(
    "options",
    [
        {"databases": st.lists(DIGITS, min_size=2, max_size=4)},
        {"databases": st.lists(DIGITS, min_size=2, max_size=4).filter(bool)},
        {"records": [0, 1, 2], "size": (2, 4)},
        {"records": DIGITS, "size": (2, 4)},
    ],
    ids=["lists", "filtered lists", "listed records", "drawn records"],
)
def test_valid_restricts_every_kind_of_domain(options):
    databases = described(valid=rises, **options)
    rng = np.random.default_rng(0)
    pairs = databases.pairs(most=20, rng=rng)
    steps = [*itertools.islice(databases.vary(pairs[-1], rng), 40), *databases.simpler(pairs[-1])]
    assert len(pairs) >= 10
    assert steps
    assert all(rises(side) for pair in [*pairs, *steps] for side in pair)
    assert audited(is_sorted, valid=rises, **options).verdict is Verdict.NOT_REFUTED
    assert audited(is_sorted, **options).refuted


def test_a_valid_that_allows_everything_admits_every_recombination():
    digits = {"databases": st.lists(DIGITS, min_size=3, max_size=5).map(sorted)}
    assert audited(is_sorted, **digits).verdict is Verdict.NOT_REFUTED
    assert audited(is_sorted, valid=lambda database: True, **digits).refuted


def test_databases_not_known_to_be_allowed_refute_nothing():
    """No two databases with a check digit differ at exactly one place."""
    result = audited(lambda database, rng: database, databases=checked())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "may lie outside your domain" in result.reason
    assert "give `valid=`" in result.reason
    assert audited(lambda database, rng: 0, databases=checked()).verdict is not Verdict.REFUTED


def test_laws_of_databases_not_known_to_be_allowed_refute_nothing():
    from audit.distributions import Finite

    class Tells:
        def __call__(self, database, rng):
            return str(database)

        def distribution(self, database):
            return Finite([str(database)], [1.0])

    result = audited(Tells(), databases=checked())
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "give `valid=`" in result.reason
    assert audited(Tells(), databases=st.lists(DIGITS, min_size=1, max_size=3)).refuted


@pytest.mark.parametrize(
    ("valid", "kind", "words"),
    [
        (3, InvalidKind, "The `valid` must be a function of one database; got 3."),
        (len, InvalidKind, "The `valid` must return True or False; got 1 for "),
        (lambda database: None, InvalidKind, "The `valid` must return True or False; got None for "),
        (lambda database: 1 / 0, InvalidValue, "it raised ZeroDivisionError: division by zero."),
        (lambda database: False, InvalidValue, "No two databases of this domain are neighbours"),
    ],
)
def test_a_valid_that_cannot_be_used_is_refused_in_one_line(valid, kind, words):
    with pytest.raises(kind) as refused:
        audited(is_sorted, records=[0, 1], size=1, valid=valid)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_valid_refuses_given_pairs_with_an_error_and_drops_suggested_ones_silently():
    class Suggests:
        def __call__(self, database, rng):
            return database

        def suggested_pairs(self):
            return [([5], [6])]

    with pytest.raises(
        InvalidValue, match=r"The `valid` excludes a database of the given pair \(\[5\], \[6\]\)"
    ):
        audited(is_sorted, pairs=[([5], [6])], valid=lambda database: database != [6])
    result = audited(Suggests(), records=[0, 1], size=1, valid=lambda database: max(database) < 2)
    assert result.refuted
    assert {result.witness.left[0], result.witness.right[0]} == {0, 1}


def test_valid_may_change_its_argument():
    def emptied(database):
        while database:
            database.pop()
        return True

    seen = []
    audited(lambda database, rng: seen.append(len(database)), records=[0, 1], size=3, valid=emptied)
    assert set(seen) == {3}


def test_a_proof_on_a_domain_that_valid_restricts_says_so():
    from mechanisms import RandomizedResponse

    result = audit_privacy(
        RandomizedResponse(epsilon=1.0), records=[0, 1], size=1, valid=lambda database: len(database) == 1
    )
    assert result.verdict is Verdict.PROVED
    assert "over [0, 1] that `valid` allows" in result.family


# Relations given by the user that list too few neighbours


class Next:
    """A relation of consecutive numbers that does not list numbers from `limit` on."""

    def __init__(self, limit):
        self.limit = limit

    def are_neighbours(self, left, right):
        return abs(left[0] - right[0]) == 1

    def neighbours(self, database, records, rng=None):
        return ([n] for n in (database[0] - 1, database[0] + 1) if max(n, database[0]) < self.limit)


#: Only records from this number on show the fault. No audit here uses them.
BEYOND = 10_000


class Sign:
    """A subject that reveals whether its record is at least `BEYOND`."""

    def __call__(self, database, rng):
        return database[0] >= BEYOND

    def distribution(self, database):
        from audit.distributions import Finite

        return Finite([database[0] >= BEYOND], [1.0])


@pytest.mark.parametrize(
    ("many", "verdict"), [(MOST_CHECKED + 1, Verdict.NOT_REFUTED), (300, Verdict.PROVED)]
)
def test_a_relation_that_may_list_too_few_neighbours_rules_out_a_proof(many, verdict):
    result = audit_privacy(Sign(), PureDP(1.0), records=range(many), size=1, relation=Next(many))
    assert result.verdict is verdict


def test_a_relation_that_lists_too_few_neighbours_is_refused_if_every_pair_can_be_checked():
    with pytest.raises(
        SubjectError, match=r"calls \[399\] and \[400\] neighbours, but its `neighbours` lists neither"
    ):
        audit_privacy(Sign(), PureDP(1.0), records=range(500), size=1, relation=Next(400))


def test_a_relation_is_checked_in_both_directions():
    class Down(Next):
        def are_neighbours(self, left, right):
            return left[0] - right[0] == 1 and left[0] > 100

        def neighbours(self, database, records, rng=None):
            return iter(())

    with pytest.raises(SubjectError, match="lists neither from the other") as refused:
        audit_privacy(Sign(), PureDP(1.0), records=range(200), size=1, relation=Down(0))
    assert "\n" not in str(refused.value)
