"""Steps from one pair of databases to other pairs.

They stay in the domain, and some of them simplify a pair.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.databases.variations import middle, simplicity, simplified, varied
from audit.values import canonical

POOL = [0, 1, 2, 7]
rows = st.lists(st.sampled_from(POOL), max_size=6)


@st.composite
def replaced(draw):
    """Return two lists that differ in exactly one record."""
    left = draw(st.lists(st.sampled_from(POOL), min_size=1, max_size=6))
    place = draw(st.integers(0, len(left) - 1))
    other = draw(st.sampled_from([record for record in POOL if record != left[place]]))
    return left, [*left[:place], other, *left[place + 1 :]]


@given(rows, rows)
def test_the_common_prefix_and_suffix_are_equal_and_do_not_overlap(left, right):
    start, end = middle(left, right)
    assert left[:start] == right[:start]
    assert left[len(left) - end :] == right[len(right) - end :]
    assert start + end <= min(len(left), len(right))


def test_only_an_added_record_differs():
    assert middle([1, 2, 3], [1, 2, 9, 3]) == (2, 1)
    assert middle([1, 1], [1, 1, 1]) == (2, 0)
    assert middle([float("nan"), 1], [float("nan"), 2]) == (1, 0)


@given(replaced(), st.integers(0, 2**32))
def test_variations_of_a_replaced_record_differ_in_at_most_one_record(pair, seed):
    before = [list(side) for side in pair]
    for left, right in itertools.islice(varied(*pair, POOL, np.random.default_rng(seed)), 30):
        assert len(left) == len(right)
        assert sum(a != b for a, b in zip(left, right, strict=True)) <= 1
        assert set(left) | set(right) <= set(POOL)
    assert [list(side) for side in pair] == before


@given(rows, st.sampled_from(POOL), st.integers(0, 2**32))
def test_variations_of_an_added_record_add_one_record(rest, extra, seed):
    for left, right in itertools.islice(varied(rest, [extra, *rest], POOL, np.random.default_rng(seed)), 30):
        assert len(right) == len(left) + 1
        assert any(right[:i] + right[i + 1 :] == left for i in range(len(right)))


def test_variations_reach_every_replaced_pair_of_a_small_domain():
    """A walk of 20,000 steps reaches all 3·2·(1 + 3 + 3) ordered pairs."""
    pool, rng = ["a", "b", "c"], np.random.default_rng(0)
    pair, seen = (["a"], ["b"]), set()
    for _ in range(20_000):
        left, right = next(varied(*pair, pool, rng))
        if len(left) <= 2 and left != right:
            pair = left, right
            seen.add((tuple(left), tuple(right)))
    everything = [rows for n in (1, 2) for rows in itertools.product(pool, repeat=n)]
    expected = {
        (a, b)
        for a, b in itertools.product(everything, repeat=2)
        if len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1
    }
    assert seen == expected


def test_nothing_is_varied_without_records_to_use():
    assert list(varied([1], [2], [], np.random.default_rng(0))) == []


@pytest.mark.parametrize(
    "records",
    [
        [0, 1, -1, 2, 100, 2.5, 0.123456789],
        [0.0, 3.0, 1e300, float("inf")],
        [(0, 0), (0, 1), (3, 4)],
        ["", "a", "abc", "abcdefgh"],
        [0, "a", None][:2],
    ],
)
def test_records_are_ordered_from_simple_to_strange(records):
    assert all(simplicity(first) < simplicity(then) for first, then in itertools.pairwise(records))


def test_numbers_come_before_nan_and_nan_can_be_ordered():
    ordered = sorted([float("nan"), 5, float("-inf"), 0], key=simplicity)
    assert ordered[:2] == [0, 5]


@given(replaced())
def test_simpler_pairs_are_not_longer_and_have_no_new_record(pair):
    left, right = pair
    pool = sorted(POOL, key=simplicity)
    for a, b in simplified(left, right, pool):
        assert len(a) == len(b) <= len(left)
        assert sum(x != y for x, y in zip(a, b, strict=True)) <= 1
        assert set(a) | set(b) <= set(POOL)


def test_the_largest_step_comes_first_and_single_records_are_tried_too():
    pairs = list(simplified([5, 6, 1, 7], [5, 6, 2, 7], [0, 1, 2]))
    assert pairs[0] == ([1], [2])
    for place in (0, 1, 3):
        left, right = [5, 6, 1, 7], [5, 6, 2, 7]
        del left[place], right[place]
        assert (left, right) in pairs
    assert ([5, 6, 0, 7], [5, 6, 2, 7]) in pairs  # the differing record becomes simpler on one side
    assert ([0, 0, 1, 0], [0, 0, 2, 0]) in pairs


def test_single_steps_reach_the_simplest_pair():
    """Greedy steps in any order end at two databases of one record."""
    pair = ([7, 2, 2, 7, 1], [7, 2, 1, 7, 1])
    for _ in range(100):
        choices = [step for step in simplified(*pair, POOL) if step[0] != step[1] and step != pair]
        if not choices:
            break
        pair = choices[-1]  # the smallest step
    assert sorted(pair, key=canonical.key) == [[0], [1]] or {*pair[0], *pair[1]} == {0, 1}
