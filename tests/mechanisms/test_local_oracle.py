"""The LR oracle keeps every entry within its budget.

If the budget does not suffice, the oracle refuses before it draws anything.
"""

import math

import numpy as np
import pytest

from audit.errors import InvalidKind, InvalidValue
from mechanisms import KaryRandomizedResponse, RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import LocalLaplace, LROracle, SignResponse
from mechanisms.local.grouping import Grouped

SIGNIFICANCE = 1e-9


def oracle_on(database, epsilon=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return LROracle(database, epsilon=epsilon, rng=rng), rng


@pytest.mark.parametrize(
    "database",
    [
        np.array([2, 0, 1, 2]),
        [2, 0, 1, 2],
        (2, 0, 1, 2),
        [2, 0, 1, 2] * 100,  # long databases are stored as arrays
    ],
)
def test_entries_answer_in_the_order_of_the_indices(database):
    oracle, _ = oracle_on(database, epsilon=10_000.0)
    honest = KaryRandomizedResponse(epsilon=800.0, categories=3)
    assert oracle.ask(oracle.everyone, honest).tolist() == list(database)
    assert oracle.ask([3, 1, 1], honest).tolist() == [database[3], database[1], database[1]]
    assert oracle.ask(np.array([], dtype=int), honest) == []
    assert oracle.ask(2, honest) == database[2]
    assert type(oracle.ask(np.int64(2), honest)) is int


def test_objects_and_rows_can_be_entries():
    class Shout:
        claim, relation = RandomizedResponse(epsilon=0.1).claim, RandomizedResponse().relation

        def __call__(self, database, rng):
            return database[0].upper()

    oracle, _ = oracle_on(["b", "a", "b"])
    assert oracle.ask(oracle.everyone, Shout()) == ["B", "A", "B"]
    rows, _ = oracle_on(np.array([[1.0, -1.0], [0.5, 0.0]]), epsilon=2e5)
    answers = rows.ask([1, 0], LocalLaplace(epsilon=1e5, dimension=2))
    assert answers == pytest.approx(np.array([[0.5, 0.0], [1.0, -1.0]]), abs=1e-2)


@pytest.mark.parametrize("asked", [range(3), [0, 1, 2], [2, 2, 0, 1]])
def test_answers_follow_each_entrys_transition_law(asked, agreement, shares):
    response, entries = RandomizedResponse(epsilon=math.log(3)), [1, 0, 1]
    oracle, _ = oracle_on(entries, epsilon=1e9, seed=21)
    drawn = np.array([oracle.ask(asked, response) for _ in range(1000)])
    for column, place in zip(drawn.T, asked, strict=True):
        expected = [0.25, 0.75] if entries[place] else [0.75, 0.25]
        assert agreement(shares(column, (0, 1)), expected) > SIGNIFICANCE


def test_equal_entries_answer_independently(agreement, shares):
    oracle, _ = oracle_on([1] * 20_000, epsilon=10.0, seed=22)
    reports = oracle.ask(oracle.everyone, RandomizedResponse(epsilon=math.log(3)))
    joint = (2 * reports[::2] + reports[1::2]).tolist()
    assert agreement(shares(joint, range(4)), np.array([1, 3, 3, 9]) / 16) > SIGNIFICANCE


def test_the_budget_is_kept_per_entry_across_randomizers_and_rounds():
    oracle, _ = oracle_on([1, 0, 1], epsilon=1.0)
    oracle.ask([0, 1], RandomizedResponse(epsilon=0.5))
    oracle.ask(1, LocalLaplace(epsilon=0.25))
    oracle.ask([1, 2], SignResponse(epsilon=0.25, query=lambda u: 2 * u - 1))
    assert oracle.spent.tolist() == [0.5, 1.0, 0.25]
    with pytest.raises(OverspentError, match="Entry 1 has spent 1 of its epsilon of 1; `SignResponse` would"):
        oracle.ask([0, 1], SignResponse(epsilon=1e-6, query=lambda u: 2 * u - 1))
    oracle.ask(0, RandomizedResponse(epsilon=0.5))
    assert oracle.spent.tolist() == [1.0, 1.0, 0.25]


def test_an_entry_asked_k_times_in_one_question_pays_k_times():
    oracle, _ = oracle_on([1, 0], epsilon=1.0)
    oracle.ask([0, 0, 1], RandomizedResponse(epsilon=0.5))
    assert oracle.spent.tolist() == [1.0, 0.5]
    with pytest.raises(OverspentError, match=r"Entry 1 has spent 0\.5"):
        oracle.ask([1, 1], RandomizedResponse(epsilon=0.5))


class Counting:
    """A randomizer that counts its runs."""

    claim, relation = RandomizedResponse(epsilon=0.75).claim, RandomizedResponse().relation
    runs = 0

    def __call__(self, database, rng):
        self.runs += 1
        return rng.random()


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ([0, 1], OverspentError, "Entry 1 has spent 0.5"),
        (range(3), OverspentError, "Entry 1 has spent 0.5"),
        (range(1, 3), OverspentError, "Entry 1 has spent 0.5"),
        (range(1, 4), InvalidValue, "must be one of 0 … 2; got 3"),
        (range(-1, 1), InvalidValue, "must be one of 0 … 2; got -1"),
        (1, OverspentError, "Entry 1 has spent 0.5"),
        ([0, 3], InvalidValue, "must be one of 0 … 2; got 3"),
        ([-1, 0], InvalidValue, "must be one of 0 … 2; got -1"),
        (3, InvalidValue, "must be one of 0 … 2; got 3"),
        ([0.5], InvalidKind, "must be indices"),
        ([True, False, True], InvalidKind, "must be indices"),
        ([[0, 1]], InvalidValue, "must be a list of indices"),
    ],
)
def test_a_refused_question_draws_nothing_and_spends_nothing(asked, error, message):
    oracle, rng = oracle_on([1, 0, 1], epsilon=1.0)
    oracle.ask(1, RandomizedResponse(epsilon=0.5))
    before, state, randomizer = oracle.spent, rng.bit_generator.state, Counting()
    with pytest.raises(error, match=message) as refused:
        oracle.ask(asked, randomizer)
    assert "\n" not in str(refused.value)
    assert (oracle.spent == before).all()
    assert rng.bit_generator.state == state
    assert randomizer.runs == 0


def test_several_questions_are_refused_together_before_any_is_answered():
    oracle, rng = oracle_on([1, 0, 1], epsilon=1.0)
    oracle.ask(2, RandomizedResponse(epsilon=0.25))
    before, state, first = oracle.spent, rng.bit_generator.state, Counting()
    with pytest.raises(OverspentError, match=r"Entry 0 has spent 0\.75"):
        oracle.ask_all([(range(3), first), ([2, 0], RandomizedResponse(epsilon=0.5))])
    assert (oracle.spent == before).all()
    assert rng.bit_generator.state == state
    assert first.runs == 0


def test_a_caller_cannot_change_the_account():
    oracle, _ = oracle_on([1, 0], epsilon=1.0)
    oracle.spent[:] = -5.0
    assert oracle.spent.tolist() == [0.0, 0.0]


def test_each_entry_can_have_a_budget_of_its_own():
    oracle, _ = oracle_on([1, 0, 1], epsilon=np.array([1.0, 0.0, 0.5]))
    oracle.ask([0, 2], RandomizedResponse(epsilon=0.5))
    with pytest.raises(OverspentError, match="Entry 1 has spent 0 of its epsilon of 0"):
        oracle.ask([0, 1], RandomizedResponse(epsilon=0.25))
    for wrong in (np.array([1.0, 1.0]), np.array([1.0, -1.0, 1.0]), 0, math.inf):
        with pytest.raises(InvalidValue, match="The `epsilon` of `LROracle` must be"):
            oracle_on([1, 0, 1], epsilon=wrong)


@pytest.mark.parametrize("share", [0.1, 1 / 3, 0.7])
def test_shares_that_add_up_to_the_budget_up_to_rounding_are_allowed(share):
    times = 30
    oracle, _ = oracle_on([1], epsilon=share * times)
    for _ in range(times):
        oracle.ask(0, RandomizedResponse(epsilon=share))
    with pytest.raises(OverspentError):
        oracle.ask(0, RandomizedResponse(epsilon=1e-9))


def test_a_database_that_is_not_a_sequence_is_refused():
    with pytest.raises(InvalidKind, match="must be a sequence or an array of entries"):
        oracle_on(iter([1, 2]))


def test_groups_cover_every_place_once_and_hold_equal_entries():
    rng = np.random.default_rng(23)
    for entries in (rng.integers(0, 7, 200), rng.integers(0, 7, 200).tolist(), list("abracadabra")):
        groups = Grouped(entries).groups
        assert sorted(np.concatenate([places for _, places in groups]).tolist()) == list(range(len(entries)))
        for record, places in groups:
            assert all(entries[place] == record for place in places.tolist())
    kinds = [record for record, _ in Grouped([1, True, 1.0]).groups]
    assert [type(kind) for kind in kinds] == [int, bool]  # 1 equals 1.0 but not True


@pytest.mark.parametrize(
    "asked", [range(1, 3), range(2, 0, -1), range(0), np.int64(2), np.array([1], np.uint8)]
)
@pytest.mark.parametrize("database", [[1, 0, 1], np.array([1, 0, 1]), [(1, "a"), (0, "b"), (1, "c")]])
def test_a_range_of_indices_equals_the_list_of_them(asked, database):
    told = SignResponse(epsilon=800.0, query=lambda z: 2 * (z[0] if isinstance(z, tuple) else int(z)) - 1)
    oracle = LROracle(database, epsilon=800.0, rng=np.random.default_rng(0))
    answers = np.ravel(oracle.ask(asked, told)).tolist()
    places = np.ravel(np.array(asked, dtype=int)).tolist()
    assert answers == [[1, -1, 1][place] for place in places]
    assert oracle.spent.tolist() == [800.0 if place in places else 0.0 for place in range(3)]


def test_an_oracle_without_entries_accepts_only_empty_questions():
    oracle, _ = oracle_on([], epsilon=1.0)
    assert np.size(oracle.ask(oracle.everyone, RandomizedResponse())) == 0
    with pytest.raises(InvalidValue, match="without entries must be asked none; got index 0"):
        oracle.ask(0, RandomizedResponse())


@pytest.mark.parametrize("rng", [None, 3])
def test_an_oracle_without_a_generator_is_refused(rng):
    with pytest.raises(InvalidKind, match="must be a numpy generator"):
        LROracle([1], epsilon=1.0, rng=rng)


def test_a_small_overrun_is_refused_with_enough_digits_to_show_it():
    oracle, _ = oracle_on([1], epsilon=0.3)
    with pytest.raises(OverspentError, match=r"epsilon of 0\.3; .* bring it to 0\.300000001\."):
        oracle.ask(0, RandomizedResponse(epsilon=0.3 + 1e-9))
    oracle.ask(0, RandomizedResponse(epsilon=0.1))
    oracle.ask(0, RandomizedResponse(epsilon=0.2))  # 0.1 + 0.2 is 0.30000000000000004
    with pytest.raises(OverspentError):
        oracle.ask(0, RandomizedResponse(epsilon=1e-9))
