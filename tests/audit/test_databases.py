"""The pairs of an audit: given pairs first, neighbours in the domain, none twice."""

import dataclasses
import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import strategies as st

from audit import PureDP, Relation, audit_privacy
from audit.databases.chosen import FEW_DATABASES, Databases
from audit.databases.domain import describe
from audit.errors import InvalidValue
from audit.relations.records import records_of
from audit.values import canonical

REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE


def rng():
    return np.random.default_rng(0)


def domain(relation=REPLACE, records=(0, 1, 2), sizes=(2, 2), **options):
    return Databases(relation, records=records, finite=True, sizes=sizes, **options)


def keys(pairs):
    """Return, for each pair, the keys of its two databases as a set."""
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
    """The expected pairs come from asking `are_neighbours` of every two databases."""
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
    # the records are examples of a strategy
    assert Databases(REPLACE, records=(0, 1), sizes=(1, 1)).count() is None
    assert Databases(REPLACE, given=(([0], [1]),)).enumerate() is None


def test_the_family_is_named_by_relation_size_and_records():
    said = domain(sizes=(1, 2)).family(21)
    assert said == "all 21 neighbouring pairs (replace-one) of sizes 1 to 2 over [0, 1, 2]"
    alone = domain(records=(0, 1), sizes=(1, 1)).family(1)
    assert alone == "the one neighbouring pair (replace-one) of size 1 over [0, 1]"


def test_given_pairs_come_first_and_are_the_only_ones_if_nothing_else_is_known():
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


def test_a_domain_with_fewer_pairs_than_asked_for_gives_all_of_them():
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
    """500 draws miss one of the 4 sizes with probability below 1e-60."""
    sizes = {len(database) for database in itertools.islice(domain(sizes=(1, 4)).random(rng()), 500)}
    assert sizes == {1, 2, 3, 4}


def asked(**options):
    """Return the databases that the audit called a mechanism on."""
    seen = {}

    def mechanism(database, rng):
        seen[canonical.key(list(database))] = list(database)
        return rng.random() < 0.5

    audit_privacy(mechanism, PureDP(1.0), budget=1_000, **options)
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


def test_given_pairs_without_a_domain_are_the_only_pairs():
    assert sorted(asked(pairs=[([0], [1]), ([5], [6])])) == [[0], [1], [5], [6]]


def test_pairs_that_the_subject_suggests_are_looked_at():
    class Suggests:
        suggested = False

        def __call__(self, database, rng):
            return database == [77]

        def suggested_pairs(self):
            return [([77], [78])]

    result = audit_privacy(Suggests(), PureDP(1.0), records=list(range(200)), size=1, budget=1_000)
    assert result.refuted
    assert [77] in (result.witness.left, result.witness.right)


def test_query_answers_need_no_records():
    result = audit_privacy(
        lambda database, rng: float(database[0]), PureDP(1.0), relation="query-answers", size=2, budget=1_000
    )
    assert result.refuted
    assert np.abs(np.subtract(result.witness.left, result.witness.right)).max() <= 1


# Proposals, variations and simpler pairs, for every kind of database

SOME = st.lists(st.integers(0, 5), min_size=1, max_size=5)
DOMAINS = {
    "numbers": {"records": st.floats(-1, 3), "size": (1, 5)},
    "numbers with NaN and infinities": {"records": st.floats(), "size": (1, 4)},
    "text": {"records": st.text(max_size=3), "size": (1, 4)},
    "tuples": {"records": st.tuples(st.floats(-1, 1), st.booleans()), "size": (1, 4)},
    "dicts": {"records": st.fixed_dictionaries({"a": st.integers(0, 9)}), "size": (1, 4)},
    "nested": {"records": st.lists(st.integers(0, 3), max_size=3), "size": (1, 4)},
    "unorderable": {"records": [None, "a", 1, (2, 3), frozenset({1})], "size": (1, 4)},
    "few": {"records": [0, 1], "size": (1, 3)},
    "whole lists": {"databases": SOME},
    "whole tuples": {"databases": SOME.map(tuple)},
    "whole texts": {"databases": st.text("abc", min_size=1, max_size=5)},
    "whole arrays": {"databases": SOME.map(np.array)},
    "whole tables": {"databases": SOME.map(lambda rows: np.array([(row, row // 2) for row in rows]))},
}


def described(relation=REPLACE, *, records=None, size=None, databases=None, pairs=None, suggested=()):
    return describe(
        relation, pairs=pairs, records=records, size=size, databases=databases, suggested=suggested
    )


@functools.cache
def domain_called(name):
    return described(**DOMAINS[name])


@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.parametrize("name", DOMAINS)
def test_every_domain_has_proposals_variations_and_simpler_pairs_that_are_neighbours(name, relation):
    databases = dataclasses.replace(domain_called(name), relation=relation)
    low, high = databases.sizes
    kind = type(next(databases.boundary()))
    proposals = list(itertools.islice(databases.proposals(rng()), 60))
    assert len(proposals) == 60 or databases.count() is not None
    for left, right in [
        *proposals,
        *itertools.islice(databases.vary(proposals[0], rng()), 30),
        *itertools.islice(databases.simpler(proposals[-1]), 30),
    ]:
        assert relation.are_neighbours(left, right)
        assert type(left) is type(right) is kind
        assert all(low <= len(side) <= high for side in (left, right))


@pytest.mark.parametrize("name", DOMAINS)
def test_records_come_from_the_domain_at_every_step(name):
    databases = domain_called(name)
    known = {canonical.key(record) for record in databases.records}
    pair = next(databases.proposals(rng()))
    steps = itertools.chain(
        itertools.islice(databases.proposals(rng()), 40),
        itertools.islice(databases.vary(pair, rng()), 40),
        itertools.islice(databases.simpler(pair), 40),
    )
    used = [record for pair in steps for side in pair for record in records_of(side)]
    new = [record for record in used if canonical.key(record) not in known]
    assert all(databases.plain is not None and record in databases.plain for record in new)


def test_strange_numbers_are_proposed_if_and_only_if_the_domain_has_them():
    strange = domain_called("numbers with NaN and infinities").pairs(most=200, rng=rng())
    used = {str(abs(record)) for pair in strange for side in pair for record in side}
    assert {"nan", "inf"} <= used
    plain = domain_called("numbers")
    used = {abs(record) for pair in plain.pairs(most=200, rng=rng()) for side in pair for record in side}
    assert all(np.isfinite(record) for record in used)


def test_the_first_proposals_have_the_least_and_the_greatest_size_and_both_extremes():
    databases = described(records=st.integers(0, 100), size=(1, 20))
    first = databases.pairs(most=40, rng=rng())
    assert {1, 20} <= {len(left) for left, _ in first}
    gaps = [max(abs(a - b) for a, b in zip(*pair, strict=True)) for pair in first]
    assert max(gaps) == 100


def test_proposed_answers_move_all_together_and_half_against_half():
    """There are three pairs, by how the answers move.

    All answers move up, or a single answer moves against the rest, or one half moves against the other
    half.
    """
    pairs = described(Relation.QUERY_ANSWERS, size=6).pairs(most=80, rng=rng())
    moves = {tuple(np.subtract(right, left)) for left, right in pairs}
    moves |= {tuple(-step for step in move) for move in moves}
    assert {(1.0,) * 6, (1.0,) * 3 + (-1.0,) * 3, (1.0,) + (-1.0,) * 5} <= moves


def test_a_small_domain_is_proposed_whole_and_a_large_one_without_end():
    small = described(records=[0, 1, 2], size=(1, 3))
    assert small.count() <= FEW_DATABASES
    assert set(keys(small.proposals(rng()))) == set(keys(small.enumerate()))
    large = described(records=range(50), size=(5, 5))
    found = set(keys(itertools.islice(large.proposals(rng()), 3_000)))
    assert len(found) > 2_000


def test_a_domain_in_which_nothing_has_a_neighbour_comes_to_an_end():
    class Nowhere:
        def are_neighbours(self, left, right):
            return False

        def neighbours(self, database, records, rng=None):
            return iter(())

    databases = Databases(Nowhere(), records=tuple(range(100)), sizes=(3, 3))
    assert list(databases.proposals(rng())) == []


def test_suggestions_follow_the_given_pairs_and_precede_the_boundary():
    given, suggested = ([5], [6]), ([7], [8])
    databases = described(records=range(10), size=1, pairs=[given], suggested=[suggested])
    assert list(itertools.islice(databases.proposals(rng()), 2)) == [given, suggested]


def test_given_pairs_alone_are_not_varied_beyond_their_own_records():
    databases = described(pairs=[([0, 5], [0, 6])])
    assert databases.only_given
    for left, right in itertools.islice(databases.vary(([0, 5], [0, 6]), rng()), 50):
        assert {*left, *right} <= {0, 5, 6}


def test_the_same_seed_gives_the_same_proposals_and_variations():
    databases = domain_called("numbers")
    first, second = (list(itertools.islice(databases.proposals(rng()), 150)) for _ in range(2))
    assert first == second
    pair = first[-1]
    once, again = (list(itertools.islice(databases.vary(pair, rng()), 50)) for _ in range(2))
    assert once == again


def test_a_domain_of_few_databases_and_too_many_pairs_is_proposed_at_random(monkeypatch):
    """The audit lists at most 10,000 of the 44,850 pairs."""
    monkeypatch.setattr("audit.databases.chosen.MOST_PAIRS", 10_000)
    dense = domain(records=tuple(range(300)), sizes=(1, 1))
    assert dense.at_most(FEW_DATABASES)
    assert dense.enumerate() is None
    pairs = dense.pairs(most=128, rng=rng())
    assert len(pairs) == 128
    assert len({record for pair in pairs for side in pair for record in side}) > 128


def _rises(database):
    return all(left < right for left, right in itertools.pairwise(database))


def test_rare_neighbours_are_found_in_a_domain_that_can_be_enumerated():
    """The domain holds 126 of 9^5 lists, one in 469.

    They are the lists of five strictly increasing numbers.
    """
    rising = domain(records=tuple(range(9)), sizes=(5, 5), valid=_rises)
    every = set(keys(rising.enumerate()))
    for seed in range(2):
        found = rising.pairs(most=60, rng=np.random.default_rng(seed))
        assert len(found) == 60
        assert set(keys(found)) <= every


def test_random_databases_of_a_rule_are_given_a_neighbour_that_obeys_it():
    """One in 24 of the 10^12 databases is increasing.

    About one in five neighbours of an increasing database is increasing too.
    """
    rising = domain(records=tuple(range(1_000)), sizes=(4, 4), valid=_rises)
    for seed in range(5):
        assert len(rising.pairs(most=20, rng=np.random.default_rng(seed))) == 20


def test_the_error_of_a_rule_that_no_random_database_obeys_says_what_to_give():
    with pytest.raises(InvalidValue, match=r"`valid` allows were found among random .* give `databases`"):
        audit_privacy(
            lambda database, rng: 0,
            claim=PureDP(1.0),
            records=range(20),
            size=12,
            valid=_rises,
            budget=10_000,
        )


STRANGE = [0.0, 0.5, 1.0, -1.0, math.inf, -math.inf, 1e300, 5e-324, math.nan, None, 10**400]


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE])
def test_strange_records_come_first_one_at_a_time_beside_plain_ones(relation):
    databases = domain(relation=relation, records=STRANGE, sizes=(2, 9))
    pairs = list(itertools.islice(databases.proposals(np.random.default_rng(0)), len(STRANGE)))
    for left, right in pairs[:-1]:
        assert left == [0.0, 0.0, 0.0]
        assert len(canonical_keys(right) - canonical_keys(left)) == 1
    told = canonical_keys([record for _, right in pairs[:-1] for record in right])
    assert told == canonical_keys(STRANGE)
    without, with_ties = pairs[-1]
    assert len(canonical_keys(without)) == len(without) == 3
    assert len(canonical_keys(with_ties)) < len(with_ties)


def canonical_keys(records):
    return {canonical.key(record) for record in records}


@pytest.mark.parametrize("strange", STRANGE[1:])
def test_a_leak_of_any_strange_record_takes_few_runs(strange):
    """The number of runs does not depend on the number of listed records.

    The audit uses 24 pairs of runs to find the pair, 16 to explore it and 64 for bets: 208 runs.
    """

    def leaks(database, rng):
        seen = canonical.key(strange) in canonical_keys(database)
        return 100.0 * seen + rng.laplace()

    result = audit_privacy(leaks, PureDP(1.0), records=STRANGE, size=30, budget=2_000)
    assert result.refuted
    assert result.samples_to_refutation <= 210
