"""The records that a strategy certainly contains.

Only these replace records when a witness is rounded.
"""

import math

import pytest
from hypothesis import strategies as st

from audit import PureDP, Relation, audit_privacy
from audit.databases.domain import describe
from audit.databases.plain_records import PlainRecords
from audit.relations.records import records_of

ODD = -3.9999999999999996
PLAIN = [
    (st.floats(-5, 5), [0.0, 1.0, -4.0, 5.0], [5.1, -5.5, 1, True, math.nan, math.inf, "0"]),
    (st.floats(0.5, 5), [1.0, 4.0], [0.0, -4.0]),
    (st.floats(allow_nan=False), [0.0, -4.0], [0, math.inf]),
    (st.integers(0, 9), [0, 9], [10, 1.0, True]),
    (st.integers(max_value=-3), [-3], [0]),
    (
        st.tuples(st.floats(-1, 1), st.sampled_from("ab")),
        [(0.0, "a")],
        [(0.0, "c"), (2.0, "a"), (0.0,), [0.0, "a"]],
    ),
    (st.one_of(st.just(7), st.floats(0, 1)), [7, 1.0], [7.0, 1]),
    (st.lists(st.floats(0, 3), max_size=4), [], [2.0, [2.0]]),
]
HIDDEN = [
    st.floats(-5, 5).map(abs),
    st.floats(-5, 5).filter(lambda x: x % 1),
    st.floats(-5, 5, width=32),
    st.floats(-5, 5, exclude_max=True),
    st.decimals(-5, 5),
    st.builds(float, st.floats(-5, 5)),
    st.floats(-5, 5).flatmap(st.just),
]


@pytest.mark.parametrize(("strategy", "held", "others"), PLAIN)
def test_the_records_that_a_strategy_plainly_contains_are_known_by_type_and_value(strategy, held, others):
    plain = PlainRecords(strategy)
    assert all(record in plain for record in held)
    assert not any(record in plain for record in others)


def test_a_strategy_for_lists_plainly_contains_the_records_of_its_lists():
    lists = st.lists(st.floats(0, 3), max_size=4)
    assert 2.0 in PlainRecords(lists, whole=True)
    assert 4.0 not in PlainRecords(lists, whole=True)
    assert 2.0 not in PlainRecords(lists.map(sorted), whole=True)
    assert 2.0 not in PlainRecords(st.tuples(st.floats(0, 3), st.floats(0, 3)), whole=True)


@pytest.mark.parametrize("strategy", HIDDEN)
def test_a_strategy_that_may_hide_a_rule_contains_nothing_plainly(strategy):
    plain = PlainRecords(strategy)
    assert not any(record in plain for record in (0.0, 1.0, -4.0, 5.0))
    assert plain.rounded(ODD, 0) == ODD
    assert list(plain.simpler(ODD)) == []


def test_simpler_records_are_0_1_round_or_equal_and_never_minus_zero():
    assert list(PlainRecords(st.floats(-5, 5)).simpler(ODD)) == [0.0, 1.0, -4.0]
    assert list(PlainRecords(st.floats(-4.5, -3.2)).simpler(-3.26)) == [-3.3]
    assert math.copysign(1.0, PlainRecords(st.floats(-5, 5)).rounded(-1e-38, 0)) == 1.0
    pairs = PlainRecords(st.tuples(st.floats(-5, 5), st.floats(-5, 5)))
    assert list(pairs.simpler((4.9999, 2e-310)))[:4] == [(0.0, 0.0), (1.0, 1.0), (5.0, 0.0), (5.0, 5.0)]


def simpler_records(records, pair, **options):
    databases = describe(
        Relation.REPLACE_ONE, pairs=None, records=records, size=(1, 3), databases=None, **options
    )
    return {record for pair in databases.simpler(pair) for side in pair for record in records_of(side)}


def test_simpler_pairs_are_round_within_the_domain_only():
    pair = ([-2.7000000000000006, 2.5], [-2.7000000000000006, 0.0])
    records = st.floats(-5, 5)
    known = set(describe(Relation.REPLACE_ONE, pairs=None, records=records, size=1, databases=None).records)
    assert -2.7 in simpler_records(records, pair) - known
    assert -2.7 not in simpler_records(records.filter(lambda x: x != -2.7), pair)
    assert -2.7 not in simpler_records(st.floats(-2.69, 5), pair)
    assert -2.7 not in simpler_records(records, pair, valid=lambda database: -2.7 not in database)


def keeps_large_ones(database, rng):
    """Return a noisy indicator of any record of −2 or less, with loss 2."""
    return min(sum(min(record, 0.0) <= -2.0 for record in database), 1) + rng.laplace(scale=0.5)


def test_a_witness_has_round_records_and_says_how_many_simpler_pairs_did_not_fail():
    result = audit_privacy(
        keeps_large_ones,
        PureDP(1.0),
        records=st.floats(-5, -0.3),
        size=1,
        budget=60_000,
    )
    simplest = result.witness.simplest
    records = [simplest.left[0], simplest.right[0]]
    assert all(-5 <= record <= -0.3 for record in records)
    assert all(record == round(record, 1) for record in records)


def only_one(database, rng):
    return float(database == [5, 3]) + rng.laplace(scale=0.3)


def test_a_pair_without_simpler_ones_counts_those_that_were_tried():
    result = audit_privacy(only_one, PureDP(1.0), records=[0, 3, 5], size=2, budget=30_000)
    tried = result.witness.simpler_tried
    assert result.witness.simpler is None
    assert tried > 0
    said = f"None of the {tried} simpler pairs tried failed."
    assert (said if tried > 1 else "The one simpler pair tried did not fail.") in " ".join(
        str(result).split()
    )
