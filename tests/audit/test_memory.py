"""What is learned about a pair is fixed before each batch.

It does not depend on how the runs are cut into blocks.
"""

import math

import numpy as np
import pytest

from audit.events.features.scores import AdditiveScore
from audit.events.features.views import View
from audit.evidence.bets import outcomes
from audit.evidence.growth import growth_rate
from audit.evidence.memory import FIRST, KEPT, KEPT_BYTES, PairMemory, bet_on, broken_off
from audit.self_audit.subjects.limits import best_log_growth
from audit.values.outcomes import Raised, Unfinished


def fed(left, right, cuts=(), **options):
    """Return a memory that has learned one batch, cut into blocks."""
    memory = PairMemory([0], [1], **options)
    return learned(memory, left, right, cuts)


def learned(memory, left, right, cuts=()):
    counts, blocks = [], []
    for start, end in zip((0, *cuts), (*cuts, len(left)), strict=True):
        a, b = View(left[start:end]), View(right[start:end])
        counted = memory.count(a, b)
        counts = [x + y for x, y in zip(counts, counted, strict=True)] if counts else counted
        blocks.append(memory.keep(a, b))
    memory.learn(blocks, counts)
    return memory


def laplace(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.laplace(size=n), 1 + rng.laplace(size=n)


def as_numbers(chosen):
    return [(item.table, item.side, item.candidates.p.tolist(), item.log_prior.tolist()) for item in chosen]


@pytest.mark.parametrize("cuts", [(100,), (1, 2, 3), (50, 100, 150)])
def test_the_cut_into_blocks_changes_nothing(cuts):
    left, right = laplace(200)
    whole, parts = fed(left, right), fed(left, right, cuts)
    assert as_numbers(whole.choose(1.0, 0.0)) == as_numbers(parts.choose(1.0, 0.0))
    whole, parts = (learned(memory, *laplace(300, 1), cuts) for memory in (whole, parts))
    assert as_numbers(whole.choose(1.0, 0.0)) == as_numbers(parts.choose(1.0, 0.0))


def test_lists_and_arrays_teach_the_same():
    left, right = laplace(200)
    assert as_numbers(fed(left, right).choose(1.0, 0.0)) == as_numbers(
        fed(left.tolist(), right.tolist()).choose(1.0, 0.0)
    )


def test_every_table_has_counted_every_run():
    memory = fed(*laplace(100))
    for seed in range(6):
        memory = learned(memory, *laplace(150, seed + 1))
    assert memory.pairs == 1000
    for table in memory.tables:
        assert table.counts.sum(axis=1).tolist() == [1000, 1000]


def test_beyond_the_reservoir_runs_are_counted_and_not_kept():
    memory = fed(*laplace(100))
    for seed in range(4):
        memory = learned(memory, *laplace(KEPT // 2, seed))
    assert memory.pairs == 100 + 2 * KEPT
    assert sum(len(view) for view in memory.kept(0)[0]) <= KEPT
    assert {int(table.counts[0].sum()) for table in memory.tables} == {memory.pairs}


def test_counting_and_keeping_a_batch_does_not_move_what_was_chosen():
    memory = fed(*laplace(200))
    chosen = memory.choose(1.0, 0.0)
    before = as_numbers(chosen)
    left, right = View(np.full(50, 9.0)), View(np.full(50, -9.0))
    memory.count(left, right)
    memory.keep(left, right)
    assert as_numbers(chosen) == before == as_numbers(memory.choose(1.0, 0.0))


def test_weights_are_a_share_of_the_stake_at_most():
    """The prior weights of all bets sum to at most 1."""
    for left, right in (laplace(500), ([(0, 1)] * 300, [(1, 1)] * 300), (["a", "b"] * 50, ["a"] * 100)):
        chosen = fed(left, right).choose(1.0, 0.0)
        weights = np.exp(np.concatenate([item.log_prior for item in chosen]))
        assert 0 < weights.sum() <= 1 + 1e-12


def test_a_bet_counts_both_directions():
    memory = fed(["yes"] * 60 + ["no"] * 40, ["yes"] * 30 + ["no"] * 70)
    chosen = memory.choose(0.1, 0.0)
    assert {item.side for item in chosen} == {0, 1}
    left, right = View(["yes", "yes", "no"]), View(["no", "yes"])
    bet = bet_on(chosen, memory.count(left, right))
    expected = []
    for item in chosen:
        p_side, q_side = (left, right) if item.side == 0 else (right, left)
        for k in range(len(item.candidates.p)):
            event = memory.event(item, k)
            p, q = event.members(p_side), event.members(q_side)
            expected.append([p.sum(), (~p).sum(), q.sum(), (~q).sum()])
    assert bet.counts.tolist() == expected
    assert set(bet.past) == {200}


def test_an_interrupted_batch_is_bet_on_by_its_coins():
    """Calls on the likelier database count as outside the event, the others as inside."""
    chosen = fed(["yes"] * 60 + ["no"] * 40, ["yes"] * 30 + ["no"] * 70).choose(0.1, 0.0)
    bet = broken_off(chosen, 7, 5)
    sides = [(7, 5) if item.side == 0 else (5, 7) for item in chosen for _ in item.candidates.p]
    assert bet.counts.tolist() == [[0, p_side, q_side, 0] for p_side, q_side in sides]


def test_a_pair_counts_as_silent_until_a_run_answers():
    memory = fed([Raised("ValueError", "no")] * 3, [Unfinished("out of memory")] * 3)
    assert not memory.answered
    assert memory.silence == Raised("ValueError", "no")
    assert memory.unfinished
    assert learned(memory, [1.0], [2.0]).answered


def test_nothing_is_chosen_before_any_run_was_seen():
    assert PairMemory([0], [1]).choose(1.0, 0.0) == []


@pytest.mark.parametrize(
    ("p", "q", "epsilon", "delta"), [(0.31, 0.1, 1.0, 0.0), (0.5, 0.2, 0.8, 0.0), (0.3, 0.09, 1.0, 0.04)]
)
def test_the_growth_rate_is_that_of_the_best_bet_near_the_claim(p, q, epsilon, delta):
    """The growth rate is within 15 % of the largest E[log(1 + λ·D)].

    The stake is λ, and D are the payoffs of two calls. The rate is a second-order approximation.
    """
    ratio = np.exp(epsilon)
    h = p + ratio * q
    gains = np.array([2 - h, -h, h - 2 * ratio, h]) - delta
    rates = np.linspace(0, 1 / -gains.min(), 20_001)[:-1]
    best = 2 * (outcomes(np.array(p), np.array(q)) @ np.log1p(gains[:, None] * rates)).max()
    assert growth_rate(np.array(p), np.array(q), epsilon, delta) == pytest.approx(best, rel=0.15)
    assert best <= best_log_growth(p, q, epsilon, delta)


@pytest.mark.parametrize("distance", [1, 3])
def test_the_evidence_of_a_pair_is_that_of_all_its_runs_against_shares_of_the_claim(distance):
    """Two answers have the shares 0.6 and 0.4 in n runs a side. The table has a third cell for no number.

    Against the ratio R the evidence is 2·n·(0.6 − 0.4·R)²/(0.6 + 0.4·R²) less ½ for each cell, for R < 1.5.
    Three steps allow the cube of what one step allows.
    """
    memory, shares = PairMemory([0], [1], path=tuple(range(distance + 1))), (0.0, 0.5, 1.0)
    claimed = math.log(1.5) / distance
    assert memory.strengths(claimed, 0.0, shares).tolist() == [0.0] * 3
    for runs in (100, 400):
        more = runs - memory.pairs
        left = [1.0] * round(0.6 * more) + [0.0] * round(0.4 * more)
        learned(memory, left, [1.0 - answer for answer in left])
        square = [
            2 * runs * (0.6 - 0.4 * r) ** 2 / (0.6 + 0.4 * r**2) - 1.5 for r in (1.0, math.sqrt(1.5), 1.5)
        ]
        expected = np.sqrt(np.maximum(square, 0.0))
        assert memory.strengths(claimed, 0.0, shares) == pytest.approx(expected)


def test_evidence_for_the_claim_has_a_negative_growth_rate():
    rates = growth_rate(np.array([0.1, 0.2, 0.27]), np.array([0.1, 0.1, 0.1]), 1.0, 0.0)
    assert (rates < 0).all()
    assert (np.diff(rates) > 0).all()


@pytest.mark.parametrize("size", [1_000, 40_000])
def test_kept_outputs_are_bounded_in_bytes(size):
    memory = PairMemory([0], [1])
    for _ in range(4):
        sides = [[np.full(size, 0.5) for _ in range(FIRST)] for _ in "lr"]
        memory = learned(memory, *sides)
    kept = sum(len(view) for view in memory.kept(0)[0])
    assert memory.pairs == 4 * FIRST
    assert FIRST <= kept <= max(FIRST, KEPT_BYTES // (8 * size))
    assert (kept == memory.pairs) is (size == 1_000)


def test_a_score_is_fitted_until_there_are_enough_pairs_and_its_cells_count_the_rest(monkeypatch):
    monkeypatch.setattr("audit.evidence.memory.ENOUGH", KEPT + 2_000)  # more than the kept pairs
    rng = np.random.default_rng(0)

    def vectors(n, moved):
        return rng.laplace(size=(n, 3)) + moved

    def score_of(memory):
        [table] = [table for table in memory.tables if isinstance(table.bins.feature, AdditiveScore)]
        return table.bins.feature, table.counts.sum(axis=1)

    def more(n):
        return score_of(learned(memory, vectors(n, 0.0), vectors(n, 0.3)))

    memory = fed(vectors(2_000, 0.0), vectors(2_000, 0.3))
    first, _ = more(KEPT - 1_000)
    second, counted = more(KEPT)
    last, all_counted = more(2 * KEPT)
    assert first != second == last
    assert (all_counted - counted).tolist() == pytest.approx([2 * KEPT] * 2)


def test_a_learned_score_is_bet_on_even_if_nothing_breaks_claims_near_this_one():
    """Ten entries all move by 0.02. No event breaks the claim ε = 0.5, but the score may break much smaller
    claims."""
    rng = np.random.default_rng(1)
    memory = fed(rng.laplace(size=(4_000, 10)), rng.laplace(size=(4_000, 10)) + 0.02)
    aim = memory.aim(0.5, 0.0, calls=100_000)
    features = [memory.tables[each.table].bins.feature for each in aim.tables]
    assert sum(isinstance(feature, AdditiveScore) for feature in features) == 1
