"""Which pairs an audit looks at: those given first, real neighbours only, each once, inside the domain."""

import itertools

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import PureDP, Relation, audit_privacy, canonical
from audit.databases import Databases

REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE


def rng():
    return np.random.default_rng(0)


def domain(relation=REPLACE, records=(0, 1, 2), sizes=(2, 2), **options):
    return Databases(relation, records=records, finite=True, sizes=sizes, **options)


def keys(pairs):
    """Return unordered pairs by what their databases are."""
    return [frozenset(map(canonical.key, pair)) for pair in pairs]


@pytest.mark.parametrize(
    ("relation", "records", "sizes", "count"),
    [
        (REPLACE, (0, 1, 2), (2, 2), 18),  # 2 positions · 3 others · 3 pairs of values
        (REPLACE, (0, 1), (0, 3), 1 + 4 + 12),  # n·2^(n−1) edges of the cube
        (ADD, (0, 1), (0, 2), 2 + 6),
        (Relation.LOCAL, ("a", "b", "c"), (1, 1), 3),
        (Relation.REPLACE_LABEL, ((0, 0), (0, 1), (1, 0)), (1, 1), 1),
    ],
)
def test_a_small_domain_is_enumerated_once_and_whole(relation, records, sizes, count):
    """Against every two databases of the domain, asked for one by one."""
    pairs = domain(relation, records, sizes).enumerate()
    every = [
        list(rows) for n in range(sizes[0], sizes[1] + 1) for rows in itertools.product(records, repeat=n)
    ]
    expected = [pair for pair in itertools.combinations(every, 2) if relation.are_neighbours(*pair)]
    assert len(pairs) == len(set(keys(pairs))) == count
    assert set(keys(pairs)) == set(keys(expected))


def test_databases_are_counted_before_they_are_built():
    assert domain(records=(0, 1, 2), sizes=(1, 3)).count() == 3 + 9 + 27
    assert domain(records=tuple(range(100)), sizes=(50, 50)).enumerate() is None
    assert Databases(REPLACE, records=(0, 1), sizes=(1, 1)).count() is None  # examples of a strategy
    assert Databases(REPLACE, given=(([0], [1]),)).enumerate() is None


def test_the_family_is_named_by_relation_size_and_records():
    said = domain(sizes=(1, 2)).family(21)
    assert said == "all 21 neighbouring pairs (replace-one) of sizes 1 to 2 over [0, 1, 2]"


def test_given_pairs_come_first_and_alone_where_nothing_else_is_known():
    given = (([5], [6]), ([7], [8]))
    assert Databases(REPLACE, given).pairs(most=10, rng=rng()) == list(given)
    pairs = domain(given=given).pairs(most=10, rng=rng())
    assert pairs[:2] == list(given)
    assert len(pairs) == 10


@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("sizes", [(1, 1), (2, 5), (0, 20)])
def test_pairs_are_distinct_neighbours_inside_the_domain(relation, sizes):
    if relation is ADD and sizes[0] == sizes[1]:
        sizes = (0, 1)
    pairs = domain(relation, tuple(range(6)), sizes).pairs(most=40, rng=rng())
    assert 0 < len(pairs) <= 40
    assert len(set(keys(pairs))) == len(pairs)
    for left, right in pairs:
        assert relation.are_neighbours(left, right)
        assert all(sizes[0] <= len(side) <= sizes[1] for side in (left, right))
        assert set(left) | set(right) <= set(range(6))


def test_a_domain_smaller_than_what_is_affordable_is_looked_at_whole():
    assert set(keys(domain().pairs(most=48, rng=rng()))) == set(keys(domain().enumerate()))


def test_pairs_are_repeated_with_their_seed():
    many = domain(records=tuple(range(20)), sizes=(3, 6))
    assert many.pairs(most=30, rng=rng()) == many.pairs(most=30, rng=rng())


def test_the_boundary_has_equal_extremes_and_one_outlier_at_the_least_and_greatest_size():
    boundary = list(domain(records=(3, -5, 0, 9), sizes=(1, 4)).boundary())
    for database in ([-5], [9], [-5] * 4, [9] * 4):
        assert database in boundary
    outliers = [sorted(database) for database in boundary if len(database) == 4]
    assert [-5, 9, 9, 9] in outliers
    assert [-5, -5, -5, 9] in outliers


def test_random_databases_have_every_size():
    """500 draws miss one of 4 sizes with probability below 1e-60."""
    sizes = {len(database) for database in itertools.islice(domain(sizes=(1, 4)).random(rng()), 500)}
    assert sizes == {1, 2, 3, 4}


def asked(**options):
    """Return the databases that a mechanism was called on."""
    seen = {}

    def mechanism(database, rng):
        seen[canonical.key(list(database))] = list(database)
        return rng.random() < 0.5

    audit_privacy(mechanism, PureDP(1.0), budget=4_000, **options)
    return list(seen.values())


def test_strategies_for_records_give_the_records_of_databases():
    for database in asked(records=st.integers(10, 12), size=(1, 3)):
        assert 1 <= len(database) <= 3
        assert set(database) <= {10, 11, 12}


def test_a_strategy_for_whole_databases_gives_neighbours_of_its_databases():
    databases = asked(
        databases=st.lists(st.sampled_from("ab"), min_size=2, max_size=4), relation="replace-one"
    )
    assert len(databases) > 2
    assert all(2 <= len(database) <= 4 and set(database) <= {"a", "b"} for database in databases)


def test_given_pairs_alone_are_looked_at_alone():
    assert sorted(asked(pairs=[([0], [1]), ([5], [6])])) == [[0], [1], [5], [6]]


def test_pairs_that_the_subject_suggests_are_looked_at():
    class Suggests:
        suggested = False

        def __call__(self, database, rng):
            return database == [77]

        def suggested_pairs(self):
            return [([77], [78])]

    result = audit_privacy(Suggests(), PureDP(1.0), records=list(range(200)), size=1, budget=4_000)
    assert result.refuted
    assert [77] in (result.witness.left, result.witness.right)


def test_query_answers_need_no_records():
    result = audit_privacy(
        lambda database, rng: float(database[0]), PureDP(1.0), relation="query-answers", size=2, budget=4_000
    )
    assert result.refuted
    assert np.abs(np.subtract(result.witness.left, result.witness.right)).max() <= 1
