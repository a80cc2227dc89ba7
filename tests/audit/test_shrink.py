"""Shrinking a witness gives the simplest pair that still fails.

A pair on which the claim holds is never shown.
"""

import itertools

import numpy as np
import pytest

from audit import PureDP, Relation, audit_privacy
from audit.databases.chosen import Databases
from audit.evidence.memory import PairMemory
from audit.search.shrink import MOST_TRIES, failing_step, shrink, size
from audit.values import canonical

REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE


def domain(relation=REPLACE, records=(0, 1, 2, 3), sizes=(1, 6)):
    return Databases(relation, records=records, finite=True, sizes=sizes)


def shrunk(pair, fails, *, databases=None, look=None):
    """Shrink with an oracle that knows where the claim fails.

    Return the pair and what was tried.
    """
    tried = []

    def looked(memory, runs):
        assert runs > 0
        tried.append((memory.left, memory.right))
        return True if look is None else look(len(tried))

    simplest = shrink(
        PairMemory(*pair),
        simpler=(databases or domain()).simpler,
        look=looked,
        growth=lambda memory, errors: 0.5 if fails(memory.left, memory.right) else 0.0,
    )
    return (simplest.left, simplest.right), tried


def test_fewer_records_are_simpler_than_simpler_records():
    pairs = [([0], [1]), ([9], [1]), ([0.5], [9]), ([0, 0], [0, 1]), ([0, 0, 0], [0, 0, 1])]
    assert all(size(simpler) < size(other) for simpler, other in itertools.pairwise(pairs))
    assert size(([], [0])) < size(([0], [1]))


def test_if_every_pair_fails_the_simplest_of_the_domain_remains():
    pair, _ = shrunk(([3, 2, 3, 1], [3, 2, 1, 1]), lambda left, right: True)
    assert sorted(map(tuple, pair)) == [(0,), (1,)]


@pytest.mark.parametrize(
    ("fails", "expected"),
    [
        (lambda left, right: (2 in left) != (2 in right), {(2,), (0,)}),
        (lambda left, right: len(left) >= 3, {(0, 0, 0), (0, 0, 1)}),
        (lambda left, right: abs(sum(left) - sum(right)) == 3, {(3,), (0,)}),
        (lambda left, right: left.count(1) + right.count(1) >= 3, {(0, 1), (1, 1)}),
    ],
)
def test_only_what_makes_the_claim_fail_is_kept(fails, expected):
    start = ([1, 1, 3, 2, 1], [1, 1, 3, 2, 1])
    for place, record in itertools.product(range(5), range(4)):
        right = list(start[0])
        right[place] = record
        if right != start[0] and fails(start[0], right):
            pair, _ = shrunk((list(start[0]), right), fails)
            assert len(pair[0]) == len(next(iter(expected)))
            assert fails(*pair)
            assert size(pair) <= size((start[0], right))
            assert size(pair)[0] == sum(map(len, expected))


def test_pairs_stay_neighbours_within_the_domain():
    databases = domain(ADD, sizes=(2, 6))
    pair, tried = shrunk(([3, 3, 2, 1], [3, 3, 2, 1, 1]), lambda left, right: True, databases=databases)
    assert {len(side) for side in pair} == {2, 3}
    for left, right in tried:
        assert ADD.are_neighbours(left, right)
        assert all(2 <= len(side) <= 6 for side in (left, right))


def test_only_simpler_pairs_are_tried():
    start = ([1, 0, 2], [1, 0, 3])
    _, tried = shrunk(start, lambda left, right: (left, right) == start)
    assert tried
    assert all(size(pair) < size(start) for pair in tried)


def test_the_pair_is_kept_if_no_simpler_one_fails():
    start = ([1, 3, 2], [1, 0, 2])
    pair, tried = shrunk(start, lambda left, right: (left, right) == start)
    assert pair == start
    assert 0 < len(tried) <= MOST_TRIES


def test_a_pair_without_growth_is_not_shrunk():
    pair, tried = shrunk(([1, 2], [1, 3]), lambda left, right: False)
    assert pair == ([1, 2], [1, 3])
    assert tried == []


def test_shrinking_stops_after_the_maximum_number_of_tries():
    """Only the long witness fails, and each smaller version is tried at most three times."""
    long = domain(records=tuple(range(300)), sizes=(1, 40))
    start = ([9] * 39 + [299], [9] * 39 + [298])
    _, tried = shrunk(start, lambda left, right: (left, right) == start, databases=long)
    assert len(tried) == MOST_TRIES
    often = {}
    for pair in tried:
        key = canonical.key(list(pair))
        often[key] = often.get(key, 0) + 1
    assert max(often.values()) <= 3


def test_shrinking_returns_the_best_so_far_when_its_runs_end():
    start = ([3, 2, 3, 1], [3, 2, 1, 1])
    pair, tried = shrunk(start, lambda left, right: True, look=lambda number: number <= 1)
    assert len(tried) == 2
    assert pair == tried[0]


def test_blocks_of_records_are_removed_together():
    """Halves, quarters, … of 40 records are removed, of which one is needed."""
    needed, rest = 7, [1] * 19 + [2] * 20
    databases = domain(records=tuple(range(8)), sizes=(1, 41))

    def fails(left, right):
        return needed in left and needed in right

    pair, tried = shrunk(([*rest, needed, 0], [*rest, needed, 3]), fails, databases=databases)
    assert sorted(map(len, pair)) == [2, 2]
    assert all(needed in side for side in pair)
    first = next(i for i, (left, right) in enumerate(tried) if len(left) == 2 and fails(left, right))
    assert first < 80


def test_kept_records_may_grow_if_fewer_records_then_suffice():
    """Two records of 99 are fewer than three of 30 and one of 99.

    The fault needs a sum of 130.
    """
    databases = domain(ADD, records=(0, 1, 30, 99), sizes=(0, 6))
    start = ([30] * 3, [30] * 3 + [99])
    pair, _ = shrunk(start, lambda left, right: max(sum(left), sum(right)) >= 130, databases=databases)
    assert sum(map(len, pair)) == 3


def test_undecided_pairs_get_longer_looks_and_clear_ones_do_not():
    """After 200 pairs of runs, one pair of databases shows clear growth, another none."""
    looked = {}

    def look(memory, runs):
        key = canonical.key([memory.left, memory.right])
        looked[key] = [*looked.get(key, ()), runs]
        memory.runs += 2 * runs
        return True

    def growth(memory, errors):
        if len(memory.left) == 3:
            return 0.05
        if len(memory.left) == 2:
            return 0.0
        return 0.05 if not errors or memory.pairs >= 200 else 0.0

    start = PairMemory([1, 1, 0], [1, 1, 2])
    simplest = shrink(start, simpler=domain().simpler, look=look, growth=growth)
    assert len(simplest.left) == 1
    one, two = ([runs for key, runs in looked.items() if len(key[1][0][1]) == size] for size in (1, 2))
    assert max(map(sum, one)) >= 200
    assert all(len(runs) == 1 for runs in two)


@pytest.mark.parametrize("step", range(9))
def test_the_step_that_fails_is_found_by_halving(step):
    path = tuple([k] for k in range(10))
    tried = []

    def look(memory, runs):
        tried.append((memory.left, memory.right, runs))
        return True

    def growth(memory):
        return 0.1 if memory.left[0] <= step < memory.right[0] else -0.1

    found = failing_step(PairMemory([0], [9], path=path), look=look, growth=growth)
    assert (found.left, found.right, found.distance) == ([step], [step + 1], 1)
    assert len(tried) <= 2 * 4


def test_a_step_is_named_even_if_the_runs_do_not_suffice():
    path = tuple([k] for k in range(6))
    found = failing_step(PairMemory([0], [5], path=path), look=lambda *_: False, growth=lambda _: 0.0)
    assert found.distance == 1


def leaks_a_seven(database, rng):
    return 7 in database if rng.random() < 0.9 else rng.random() < 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_simplest_witness_of_an_audit_is_the_smallest_that_leaks(seed):
    """At ε = 1 one record is enough to refute.

    Pr[True] is 0.95 against 0.05, so the true ε is 2.94.
    """
    result = audit_privacy(
        leaks_a_seven, PureDP(1.0), records=range(10), size=(1, 8), budget=100_000, seed=seed
    )
    assert result.refuted
    simplest = result.witness.simplest or result.witness
    assert len(simplest.left) == len(simplest.right) == 1
    assert simplest.confirmed
    assert [7] in (simplest.left, simplest.right)


def needs_two_sevens(database, rng):
    return np.bincount(database, minlength=8)[7] >= 2 if rng.random() < 0.9 else rng.random() < 0.5


def test_shrinking_keeps_the_records_that_it_takes():
    result = audit_privacy(
        needs_two_sevens, PureDP(1.0), records=range(8), size=(1, 6), budget=200_000, seed=1
    )
    assert result.refuted
    simplest = result.witness.simplest or result.witness
    assert sorted(side.count(7) for side in (simplest.left, simplest.right)) == [1, 2]
    assert len(simplest.left) == 2
