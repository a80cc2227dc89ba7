"""Paths of neighbouring databases: their steps, their halves and their length."""

import itertools
import math

import numpy as np
import pytest

from audit import Relation
from audit.claims import at_distance
from audit.databases.chosen import Databases
from audit.databases.paths import MOST_STEPS, halves, lengths, repeated
from audit.evidence.growth import growth_rate

LABELLED = ((0, "a"), (0, "b"), (1, "a"), (1, "b"))
DOMAINS = {
    "replace": (Relation.REPLACE_ONE, (0, 1, 2, 7), (1, 9), ([0, 1, 2], [0, 7, 2])),
    "fixed size": (Relation.REPLACE_ONE, (0, 1), (4, 4), ([0, 0, 0, 0], [0, 1, 0, 0])),
    "add": (Relation.ADD_OR_REMOVE_ONE, (0, 1, 2), (1, 8), ([1, 2], [1, 0, 2])),
    "remove": (Relation.ADD_OR_REMOVE_ONE, (0, 1, 2), (0, 8), ([1, 0, 2], [1, 2])),
    "labels": (Relation.REPLACE_LABEL, LABELLED, (2, 6), ([(0, "a"), (1, "a")], [(0, "b"), (1, "a")])),
    "answers": (Relation.QUERY_ANSWERS, None, (3, 3), ([0.0, 1.0, 0.0], [1.0, 1.0, 1.0])),
    "arrays": (Relation.REPLACE_ONE, (0.0, 1.0), (2, 9), (np.zeros(5), np.array([0.0, 0, 1, 0, 0]))),
    "text": (Relation.ADD_OR_REMOVE_ONE, ("a", "b"), (0, 6), ("ab", "aab")),
}


def further(name, steps):
    relation, records, sizes, pair = DOMAINS[name]
    databases = Databases(relation, records=records, sizes=sizes, whole=() if records else (pair[0],))
    return relation, sizes, list(databases.further(pair, steps))


@pytest.mark.parametrize("name", DOMAINS)
def test_every_step_of_a_path_is_a_pair_of_neighbours_in_the_domain_but_its_ends_are_not(name):
    relation, (low, high), paths = further(name, (2, 3, 5))
    assert paths
    for path in paths:
        assert 3 <= len(path) <= 6
        assert all(relation.are_neighbours(*step) for step in itertools.pairwise(path))
        assert not relation.are_neighbours(path[0], path[-1])
        assert all(low <= len(database) <= high for database in path)
        assert {type(database) for database in path} == {type(DOMAINS[name][3][0])}


def test_a_group_of_duplicates_moves_and_then_the_records_of_the_database():
    moved = [(path[0], path[-1]) for path in further("replace", (3,))[2]]
    assert moved == [([1, 1, 1], [7, 7, 7]), ([0, 1, 2], [7, 7, 7])]


def test_labels_change_and_features_stay():
    for path in further("labels", (2,))[2]:
        assert {tuple(x for x, _ in database) for database in path} == {tuple(x for x, _ in path[0])}


def test_a_pair_that_cannot_go_further_gives_no_path():
    databases = Databases(Relation.REPLACE_ONE, records=(0, 1), sizes=(1, 1))
    assert list(databases.further(([0], [1]), (2, 5))) == []
    assert list(databases.further(([0], [1]), ())) == []


def test_only_differing_records_are_replaced():
    [_, path] = repeated(Relation.REPLACE_ONE, [0, 7, 5], [7, 7, 5], 9, most=3)
    assert path == [[0, 7, 5], [7, 7, 5], [7, 7, 7]]


@pytest.mark.parametrize("count", range(3, 12))
def test_halves_share_the_middle_and_have_all_steps(count):
    first, then = halves(range(count))
    assert first[-1] == then[0]
    assert [*first, *then[1:]] == list(range(count))
    assert abs(len(first) - len(then)) <= 1


@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.02, 0.4])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.05, 0.3, 1.0, 2.0, 2.1, 50.0])
def test_lengths_leave_room_for_an_event_that_the_claim_forbids(epsilon, delta):
    for steps in lengths(epsilon, delta):
        far, more = at_distance(epsilon, delta, steps)
        assert 2 <= steps <= MOST_STEPS
        assert far <= 4
        assert more <= 0.5


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3, 1.0])
def test_the_first_length_is_nearly_best_if_every_step_loses_a_fifth_too_much(epsilon):
    """The first length has nearly the largest growth of all lengths.

    The growth is to second order, for Laplace noise and p = 1/2 at one end of the path.
    """

    def promised(steps):
        return float(growth_rate(0.5, 0.5 * math.exp(-1.2 * steps * epsilon), steps * epsilon, 0.0))

    assert promised(lengths(epsilon, 0.0)[0]) >= 0.9 * max(map(promised, range(1, MOST_STEPS + 1)))
