"""Witnesses in words, with expected phrases written before the code."""

import dataclasses
import math
import re

import numpy as np
import pytest

from audit import AuditResult, PureDP, audit_privacy
from audit.events.edges import point
from audit.events.event import AtomIn, Event, NumberIn
from audit.events.features.atoms import Kind, Type, Whole
from audit.events.features.numbers import Coordinate, Difference, Entry, Norm, Value
from audit.events.features.parts import Part, PartsScore
from audit.events.features.scores import AdditiveScore, TableScore
from audit.evidence.memory import PairMemory
from audit.results.result import Evidence, Verdict, Witness
from audit.sampling import Sampler
from audit.subject.subject import adapt
from audit.values.outcomes import Raised
from audit.verdict.shown.candidates import find_candidates, find_single
from audit.verdict.shown.readable import effort, in_fewer_words, is_of_one_entry
from audit.verdict.terms import Terms
from audit.words.pair_words import change, pair_words

INF = math.inf


# Faults whose cause a reader should see in the event


def raises(database, rng):
    if 7 in database:
        raise RuntimeError(f"row {rng.integers(1000)} of {len(database)} is bad")
    return len(database) + rng.laplace()


def gives_none(database, rng):
    matching = sum(record > 40 for record in database)
    return None if matching == 0 else matching + rng.laplace()


def noise_by_range(database, rng):
    return sum(database) + rng.laplace(scale=max(database) - min(database))


def keys_from_the_data(database, rng):
    return {key: database.count(key) + rng.laplace() for key in sorted(set(database))}


def one_draw_for_two(database, rng):
    noise = int(rng.integers(-20, 21))
    return (len(database) - sum(database) + noise, sum(database) + noise)


def fixed_seed(database, rng):
    return len(database) + np.random.default_rng(0).laplace()


def first_of(database, rng):
    votes = np.bincount(database, minlength=3) + rng.laplace(scale=0.1, size=3)
    return np.eye(3)[np.argmax(votes)] + rng.uniform(0, 0.5, size=3)


NUMBER = r"-?\d[\d.e+-]*"
EXPECTED = {
    raises: (range(10), (0, 3), "the call raises RuntimeError"),
    gives_none: ([0, 30, 41, 99], (0, 3), "the output is None"),
    noise_by_range: ([0, 1, 5], (1, 3), r"the output equals \d"),
    keys_from_the_data: (["a", "b", "c"], (0, 3), r"a number is released under the key '.'"),
    one_draw_for_two: ([0, 1], (1, 3), r"output\[0\] − output\[1\] equals -?1"),
    fixed_seed: ([1], (0, 3), f"the output equals {NUMBER}"),
    first_of: ([0, 1, 2], (1, 3), rf"output\[\d\] is (the largest entry|at least {NUMBER}|below {NUMBER})"),
}


@pytest.mark.parametrize("mechanism", EXPECTED, ids=lambda mechanism: mechanism.__name__)
def test_the_simplest_witness_says_what_a_maintainer_would(mechanism):
    records, size, expected = EXPECTED[mechanism]
    relation = "add-or-remove-one" if size[0] == 0 else "replace-one"
    result = audit_privacy(
        mechanism, PureDP(1.0), records=list(records), size=size, relation=relation, budget=20_000
    )
    simplest = result.witness.simplest
    assert simplest.confirmed
    assert re.fullmatch(expected, simplest.event.words()), simplest.event.words()
    never_varies = mechanism in (noise_by_range, fixed_seed)
    said = f"Every run on {simplest.direction} gave the same output."
    assert (said in " ".join(str(result).split())) == never_varies


# The order of readability


def above(feature, low=1.5):
    return Event((NumberIn(feature, ((low, INF),)),))


ORDER = [
    Event((AtomIn(Kind(), (Raised("RuntimeError", "no 3"),)),)),
    Event((NumberIn(Value(), ((-INF, INF),)),)),
    Event((NumberIn(Entry("a"), ((-INF, INF),)),)),
    above(Coordinate(0)),
    above(Difference(0, 1)),
    Event((NumberIn(Coordinate(0), ((1.0, INF),)), NumberIn(Coordinate(1), ((1.0, INF),)))),
    above(Norm()),
    Event((AtomIn(Type(), (Raised("RuntimeError"),)),)),
    above(Part((("attribute", "message"), ("number", 0)))),
    above(TableScore(((0.0,),), ((1.0, -1.0, 0.0),))),
]


def test_events_are_ordered_by_readability():
    efforts = [effort(event) for event in ORDER]
    assert efforts == sorted(set(efforts))


def test_one_bound_reads_better_than_two_and_a_number_better_than_an_interval():
    def of(*intervals, unscored=False):
        return effort(Event((NumberIn(Value(), intervals, unscored),)))

    assert of(point(0.0)) <= of((0.5, INF)) < of((0.5, 1.0)) < of((-INF, 0.0), (1.0, INF))
    assert of((0.5, INF)) < of((0.5, INF), unscored=True)


def test_events_of_one_entry_are_recognised():
    assert [is_of_one_entry(event) for event in ORDER] == [True] * 4 + [False] * 6


def memory_of(sample, *, runs=600):
    """Return the memory of a pair after this many runs a side."""

    class Subject:
        def __call__(self, database, rng):
            return sample(database, rng)

    memory = PairMemory([0], [1])
    with Sampler(adapt(Subject()), seed=3) as sampler:
        counts, blocks = memory.take(sampler.draw([0], [1], runs, (1, 1)))
    memory.learn(blocks, counts)
    return memory


TERMS = Terms(1.0, 0.0, 1e-6, 10_000)


def test_an_event_gets_shorter_words_if_they_mean_the_same_outputs():
    memory = memory_of(lambda database, rng: 0.0 if database[0] else rng.normal())
    wordy = Event((NumberIn(Value(), ((-2.4e-13, 2.4e-13),), unscored=True),))
    assert next(in_fewer_words(wordy, 0, memory)).words() == "the output equals 0"
    pieces = Event((NumberIn(Value(), ((-INF, -1.2345), (0.12345, 9.0))),))
    told = {event.words() for event in in_fewer_words(pieces, 0, memory)}
    assert "the output is at least 0.12" in told
    assert list(in_fewer_words(Event((AtomIn(Whole(), (None,)),)), 0, memory)) == []


def test_whole_numbers_have_whole_bounds():
    memory = memory_of(lambda database, rng: int(rng.integers(9)) + database[0])
    [event, *_] = in_fewer_words(above(Value(), 2.5), 0, memory)
    assert event.words() == "the output is at least 3"


def three_cells(database, rng):
    return np.array([0.9, -0.9, 0.9]) * database[0] + rng.laplace(size=3)


def test_a_sum_or_a_difference_is_preferred_to_a_score_and_the_score_is_never_first():
    memory = memory_of(three_cells, runs=3000)
    first = find_candidates(memory, TERMS)[0].event
    assert not isinstance(first.conditions[0].feature, TableScore)


def test_the_best_event_is_always_tried():
    memory = memory_of(three_cells, runs=3000)
    candidates = find_candidates(memory, TERMS)
    assert any(isinstance(each.event.conditions[0].feature, TableScore) for each in candidates)


def test_a_single_entry_is_found_beside_a_score_if_one_refutes():
    loud = memory_of(lambda database, rng: 1.5 * database[0] + rng.laplace(size=4), runs=3000)
    assert re.fullmatch(rf"output\[\d\] is (at least|below) {NUMBER}", find_single(loud, TERMS).event.words())
    quiet = memory_of(lambda database, rng: 0.1 * database[0] + rng.laplace(size=4), runs=3000)
    assert find_single(quiet, TERMS) is None


# A fitted score


RISING, FALLING, FLAT = (-1.0, 0.0, 1.0, 0.0), (0.5, 0.0, -0.5, 0.0), (0.0, 0.0, 0.0, 0.0)
EDGES = (0.0, 1.0)


def test_a_score_names_its_heaviest_entries_with_their_signs():
    peaked = (0.0, 0.2, 0.0, 0.0)
    score = TableScore((EDGES,) * 5, (FLAT, RISING, peaked, FALLING, FLAT))
    said = Event((NumberIn(score, ((-INF, -1.6),)),)).words()
    assert said == (
        "a score fitted to 5 entries, mostly + output[1], − output[3], ± output[2], is below -1.6"
    )
    two = AdditiveScore((EDGES,) * 3, (FALLING, FLAT, RISING))
    assert two.words == "a score fitted to 2 entries, mostly + (output[1] − output[0]), − output[0],"
    named = PartsScore((EDGES,) * 2, (FLAT, RISING), ((("item", "a"),), (("item", "b"),)))
    assert named.words == "a score fitted to 2 numbers, mostly + output['b'],"


def test_a_single_entry_is_confirmed_beside_a_score_by_separate_runs():
    """A printed result shows `beside`, the event about a single entry.

    A saved result keeps it.
    """
    witness = Witness([0], [1], above(Value()), 0.5, 0.1, runs=100)
    beside = dataclasses.replace(witness, event=above(Coordinate(3)), p=0.4, direction="right")
    result = AuditResult(
        "cells",
        PureDP(1.0),
        Verdict.REFUTED,
        Evidence.STATISTICAL,
        witness=dataclasses.replace(witness, beside=beside),
    )
    said = 'One entry alone shows it too: "output[3] is at least 1.5" happens with probability 0.4 on right'
    assert f"{said} and 0.1 on left; at most 0.272 is allowed." in " ".join(str(result).split())
    assert AuditResult.from_json(result.to_json()) == result


# Databases


def of(left, right):
    return Witness(left, right, None, 0.5, 0.1)


def test_the_differing_record_is_never_cut():
    long = tuple(float(k) + 0.123456 for k in range(9))
    other = (*long[:-1], 77.5)
    assert "77.5" in change(of([long], [other]))
    assert str(long[-1]) in change(of([long], [other]))
    first, second = pair_words(of([long] * 50, [*[long] * 49, other]))
    assert first.endswith("that record] (length 50)")
    assert second == "the same except for that record"
    first, second = pair_words(of([0] * 500 + [1, 2], [0] * 500 + [3, 4]))
    assert ("1, 2" in first, "3, 4" in second) == (True, True)


def test_the_context_is_left_out_and_the_record_is_shown():
    first, _ = pair_words(of([0] * 50 + [7] + [1] * 49, [0] * 50 + [8] + [1] * 49))
    assert first.startswith("[…, 0, ")
    assert ", 0, 7, 1, " in first
    assert first.endswith(", …] (length 100)")
    assert len(first) <= 90


def twelve_cells(database, rng):
    """Return cells that each move by 1.5, up or down.

    No two cells together show half of what the score of all cells shows.
    """
    return 1.5 * database[0] * np.array([1, -1] * 6) + rng.laplace(size=12)


def test_a_single_entry_is_confirmed_beside_a_score_as_a_later_try_of_the_same_judge():
    result = audit_privacy(twelve_cells, PureDP(1.0), pairs=[([0], [1])], budget=30_000, seed=0)
    witness, beside = result.witness, result.witness.beside
    assert isinstance(witness.event.conditions[0].feature, TableScore)
    assert is_of_one_entry(beside.event)
    assert beside.confirmed
    assert beside.seed[1] > witness.seed[1]  # the k-th try has the level 2^−k
    assert "One entry alone shows it too" in str(result)
