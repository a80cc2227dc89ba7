"""The public strategies draw neighbours of allowed sizes under every relation.

Failing pairs shrink, and problems have names.
"""

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from audit import Accuracy, Relation, audit_utility, strategies
from audit.errors import AuditError, InvalidValue

FEW = settings(max_examples=40, database=None, deadline=None, suppress_health_check=list(HealthCheck))
LABELLED = [(x, y) for x in range(3) for y in (0, 1)]


def named(value):
    """Return a test id that is the same in every process."""
    plain = callable(value) or type(value).__module__ == __name__
    return (getattr(value, "__name__", None) or type(value).__name__) if plain else f"{value}"


class Shifted:
    """A custom relation: one list is the other with 1 added to every record."""

    name = "shifted"

    def are_neighbours(self, left, right):
        return [x + 1 for x in left] == list(right) or [x + 1 for x in right] == list(left)

    def neighbours(self, database, records, rng=None):
        yield [x + 1 for x in database]
        yield [x - 1 for x in database]


@pytest.mark.parametrize(
    ("relation", "records", "size"),
    [
        (Relation.REPLACE_ONE, [0, 1, None], (0, 4)),
        (Relation.REPLACE_ONE, st.floats(), 3),
        ("replace-one", st.booleans(), (1, 2)),
        (Relation.ADD_OR_REMOVE_ONE, ["a", "b"], (0, 3)),
        (Relation.ADD_OR_REMOVE_ONE, st.text(max_size=2), 3),
        (Relation.REPLACE_LABEL, LABELLED, (1, 4)),
        (Relation.REPLACE_LABEL, st.tuples(st.integers(), st.booleans()), 2),
        (Relation.LOCAL, [0, 1, 2], None),
        (Relation.QUERY_ANSWERS, None, (1, 4)),
        (Relation.QUERY_ANSWERS, [0, 1, 2, 5], 3),
        (Relation.QUERY_ANSWERS, st.integers(-5, 5), 2),
        (Shifted(), st.integers(-9, 9), (1, 3)),
        (Shifted(), [0, 1, 2], 2),
    ],
    ids=named,
)
def test_drawn_pairs_are_neighbours_of_an_allowed_size(relation, records, size):
    meant = relation if not isinstance(relation, str) else Relation.from_name(relation)
    low, high = (1, 1) if size is None else (size, size) if isinstance(size, int) else size
    low -= meant is Relation.ADD_OR_REMOVE_ONE and isinstance(size, int)

    @FEW
    @given(strategies.neighbours(relation, records=records, size=size))
    def check(pair):
        left, right = pair
        assert meant.are_neighbours(left, right)
        assert low <= min(len(left), len(right)) <= max(len(left), len(right)) <= high
        if isinstance(records, list) and isinstance(meant, Relation):
            assert all(record in records for record in (*left, *right))

    check()


@pytest.mark.parametrize(
    ("relation", "records", "size", "fails", "simplest"),
    [
        (Relation.REPLACE_ONE, range(100), (0, 9), lambda a, b: sum(b) >= 7, ([0], [7])),
        (Relation.ADD_OR_REMOVE_ONE, range(100), (0, 9), lambda a, b: len(b) > len(a), ([], [0])),
        (Relation.ADD_OR_REMOVE_ONE, st.integers(), (0, 9), lambda a, b: max(b, default=0) > 2, ([], [3])),
        (Relation.REPLACE_LABEL, LABELLED, (1, 9), lambda a, b: a[0][1] < b[0][1], ([(0, 0)], [(0, 1)])),
        (Relation.QUERY_ANSWERS, st.integers(0, 9), (1, 9), lambda a, b: sum(a) > 2, ([3], [2])),
        (Shifted(), st.integers(0, 9), (1, 9), lambda a, b: b[0] > a[0], ([0], [1])),
    ],
    ids=named,
)
def test_a_failing_pair_shrinks_to_the_fewest_and_first_records(relation, records, size, fails, simplest):
    found = find(strategies.neighbours(relation, records=records, size=size), lambda pair: fails(*pair))
    if relation is Relation.QUERY_ANSWERS:  # −1 and 1 are equally simple
        assert found[0] == simplest[0]
    elif isinstance(relation, Shifted):  # either of two neighbours may come first
        assert found in (simplest, ([-1], [0]))
    else:
        assert found == simplest


def test_both_orders_of_an_asymmetric_relation_are_drawn():
    drawn = strategies.neighbours(Relation.ADD_OR_REMOVE_ONE, records=[0], size=(0, 2))
    assert find(drawn, lambda pair: len(pair[0]) < len(pair[1])) == ([], [0])
    assert find(drawn, lambda pair: len(pair[0]) > len(pair[1])) == ([0], [])


def test_only_valid_databases_are_drawn():
    @FEW
    @given(
        strategies.databases(records=[0, 1, 2], size=(2, 4), valid=lambda rows: rows[0] == 0),
        strategies.neighbours(records=[0, 1, 2], size=(2, 4), valid=lambda rows: rows[0] == 0),
    )
    def check(database, pair):
        assert all(each[0] == 0 and 2 <= len(each) <= 4 for each in (database, *pair))

    check()


def test_problems_have_distinct_names_and_work_in_an_audit():
    small = strategies.databases(records=[0, 1], size=(1, 3))
    sums = strategies.problems(lambda output, rows: abs(output - sum(rows)), databases=small)
    result = audit_utility(sum, Accuracy(alpha=0.5, beta=0.1), problems=sums, budget=4_000)
    assert result.met
    assert audit_utility(lambda rows: 0, Accuracy(alpha=1.5, beta=0.1), problems=sums).refuted
    long = strategies.problems(
        lambda output, rows: 0.0, databases=st.sampled_from([[0] * 99, [0] * 98 + [1]])
    )
    last = [find(long, lambda problem, end=end: problem.database[-1] == end).name for end in (0, 1)]
    assert last[0][:40] == last[1][:40]
    assert last[0] != last[1]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: strategies.databases(records=[], size=2), "`records` are empty"),
        (lambda: strategies.databases(records=5, size=2), "list of records or a Hypothesis strategy; got 5"),
        (lambda: strategies.databases(records=[0], size=-1), "`size` must be n ≥ 0"),
        (lambda: strategies.databases(records=[0], size=None), "`size` is missing"),
        (lambda: strategies.neighbours(records=[0, 1]), "`size` is missing"),
        (lambda: strategies.neighbours(size=2), "`records` are missing"),
        (lambda: strategies.neighbours(records=[0, 1], size=5_000), "must begin at 2,000 at most.*got 5000"),
        (lambda: strategies.neighbours(records=[0], size=2), "only one value, 0"),
        (lambda: strategies.neighbours("replaced", records=[0, 1], size=2), "must be one of"),
        (lambda: strategies.neighbours(records=[0, 1], size=0), "at least 1 for replace-one"),
        (lambda: strategies.problems(3, databases=st.just([])), "`measure` must be a function"),
        (lambda: strategies.problems(len, databases=[[]]), "`databases` must be a Hypothesis strategy"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(make, words):
    with pytest.raises(AuditError, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_custom_relation_that_lists_a_non_neighbour_is_refused():
    class Wrong(Shifted):
        def are_neighbours(self, left, right):
            return False

    with pytest.raises(InvalidValue, match="not neighbours under shifted"):
        find(strategies.neighbours(Wrong(), records=[0, 1], size=2), lambda pair: True)
