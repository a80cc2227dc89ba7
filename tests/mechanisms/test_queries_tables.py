"""Exact audits of transparent randomizers as tables.

They prove the correct ones and refute the wrong ones.
"""

import math
import pickle

import numpy as np
import pytest

from audit import Evidence, Verdict, audit_privacy
from audit.claims import PureDP
from audit.errors import InvalidKind, InvalidValue
from audit.relations import Relation
from mechanisms import RandomizedResponse
from mechanisms.composition.budget import OverspentError
from mechanisms.local import LROracle
from mechanisms.local.randomizers import cost_of
from mechanisms.queries import TableRandomizer, binary_response, clamped_geometric, kary_response
from mechanisms.queries.simulations import tables

RNG = np.random.default_rng

RIGHT = {
    "binary": (binary_response(1.5), 1.5),
    "4-ary": (kary_response(0.7, 4), 0.7),
    "blunt": (kary_response(0.0, 3), 0.0),
    "clamped geometric": (clamped_geometric(1.2, 5), 1.2),
    "of a subject": (TableRandomizer.from_subject(RandomizedResponse(epsilon=0.4), [0, 1]), 0.4),
}


@pytest.mark.parametrize("name", RIGHT)
def test_the_exact_audit_finds_that_a_table_loses_what_it_claims(name):
    randomizer, epsilon = RIGHT[name]
    assert randomizer.claim == PureDP(epsilon)
    assert randomizer.relation is Relation.LOCAL
    # A proof needs a budget of 16,000. For the exact loss 1,000 runs are enough, to compare law and code.
    proof = name == "4-ary"
    result = audit_privacy(randomizer, budget=16_000 if proof else 1_000)
    assert result.verdict is (Verdict.PROVED if proof else Verdict.NOT_REFUTED)
    assert result.evidence is Evidence.EXACT
    assert result.epsilon_lower == pytest.approx(epsilon, abs=1e-12)


def unscaled(epsilon, top):
    """Return a randomizer whose two-sided geometric noise has rate epsilon.

    Its rate should be epsilon/top. If the record changes by 1, a probability changes by up to e^epsilon.
    """
    keep = math.exp(-epsilon)
    point = (1 - keep) / (1 + keep)
    table = [
        [
            sum(point * keep ** abs(u - w) for w in ws)
            for ws in (range(-400, 1), *([w] for w in range(1, top)), range(top, top + 401))
        ]
        for u in range(top + 1)
    ]
    return TableRandomizer(range(top + 1), range(top + 1), table, claimed=epsilon)


WRONG = {
    # the truth with probability 2/3, else a fair coin, which may also give the truth: (2/3 + 1/6)/(1/6)
    "truthful lie": (
        TableRandomizer([0, 1], [0, 1], [[5 / 6, 1 / 6], [1 / 6, 5 / 6]], claimed=math.log(2)),
        5.0,
    ),
    "geometric, rate not divided by its range": (unscaled(0.5, 4), math.exp(4 * 0.5)),
    "one entry of many is off": (
        TableRandomizer("abc", "xyz", [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2], [0.4, 0.2, 0.4]], claimed=0.6),
        2.0,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_table_that_loses_more_than_it_claims_is_refuted(name):
    randomizer, ratio = WRONG[name]
    assert randomizer.epsilon == pytest.approx(math.log(ratio), rel=1e-12)
    result = audit_privacy(randomizer, budget=1_000, recorded=False)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(math.log(ratio), rel=1e-9)
    (left,), (right,) = randomizer.suggested_pairs()[0]
    rows = randomizer.row(left), randomizer.row(right)
    assert np.abs(np.log(rows[0] / rows[1])).max() == pytest.approx(math.log(ratio))


def test_runs_follow_the_table_and_the_test_detects_a_wrong_table():
    size = 200_000
    randomizer = clamped_geometric(1.0, 3)
    drawn = randomizer.sample([1], size, RNG(5))
    shares = np.bincount(drawn, minlength=4) / size
    # standard deviation at most 0.5/√200,000 = 0.0011; false alarm probability 2e-9 each (6 standard
    # deviations)
    assert shares == pytest.approx(randomizer.row(1), abs=0.0067)
    assert [randomizer.distribution([1]).pmf(w) for w in range(4)] == pytest.approx(list(randomizer.row(1)))
    assert randomizer([1], RNG(5)) == drawn[0]

    class Honest(TableRandomizer):
        def sample(self, database, size, rng):
            return [database[0]] * size

    honest = Honest(randomizer.records, randomizer.outcomes, randomizer.table)
    result = audit_privacy(honest, budget=1_000)
    assert result.verdict is Verdict.ERROR
    assert "the subject's outputs do not follow its declared law" in str(result)


def test_entries_answer_through_a_table_within_their_budget():
    oracle = LROracle("abba", epsilon=1.0, rng=RNG(0))
    coin = TableRandomizer("ab", ["heads", "tails"], [[0.6, 0.4], [0.4, 0.6]])
    said = oracle.ask(range(4), coin)
    assert len(said) == 4
    assert set(said) <= {"heads", "tails"}
    assert cost_of(coin) == pytest.approx(math.log(1.5))
    assert oracle.spent == pytest.approx([math.log(1.5)] * 4)
    oracle.ask(0, coin)
    with pytest.raises(OverspentError, match=r"Entry 0 has spent 0\.81"):
        oracle.ask(0, coin)


def test_impossible_outcomes_are_never_drawn_and_do_not_disturb_the_exact_loss():
    randomizer = TableRandomizer([0, 1], "abc", [[0.0, 0.5, 0.5], [0.0, 0.25, 0.75]], claimed=math.log(2))
    assert set(randomizer.sample([0], 1_000, RNG(0))) == {"b", "c"}
    result = audit_privacy(randomizer, budget=1_000)
    assert (result.verdict, result.evidence) == (Verdict.NOT_REFUTED, Evidence.EXACT)
    assert result.epsilon_lower == pytest.approx(math.log(2), rel=1e-9)


def test_a_used_table_has_the_same_pickle_as_an_unused_one():
    before = pickle.dumps(clamped_geometric(1.0, 3))
    used = pickle.loads(before)
    used.sample([1], 3, RNG(0))
    assert pickle.dumps(used) == before
    assert used.parameters == {"epsilon": 1.0, "top": 3}
    assert clamped_geometric(**used.parameters).claim == used.claim


def test_the_parameters_of_the_entry_of_the_catalogue_can_be_set():
    assert tables.entry.factory(epsilon=0.25, top=2).claim == PureDP(0.25)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: binary_response(1.0)([0, 1], RNG(0)), "must hold one record; got 2"),
        (lambda: binary_response(1.0)(None, RNG(0)), "must be a list or an array; got None"),
        (lambda: binary_response(1.0)([7], RNG(0)), "must be an input of the randomizer; 7 is none"),
        (
            lambda: TableRandomizer([0], [0], [[1.0]], claimed=-1.0),
            "The `claimed` of `TableRandomizer` must be a finite number ≥ 0; got -1.0",
        ),
    ],
)
def test_an_invalid_entry_or_claim_is_refused_in_one_line(ask, words):
    with pytest.raises((InvalidKind, InvalidValue)) as refused:
        ask()
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_one_record_alone_has_no_neighbour():
    assert TableRandomizer([0], [0, 1], [[0.5, 0.5]]).suggested_pairs() == []
