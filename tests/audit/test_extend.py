"""An audit that continues another audit keeps its wealth and draws no run twice."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audit import ApproximateDP, AuditResult, PureDP, audit_privacy
from audit.errors import AuditError
from audit.evidence.bets import Bet, Ledger
from audit.evidence.bounds import claims_of, delta_bound, epsilon_bound, standing
from audit.evidence.goals import Aim, CellCounts, Goals
from audit.evidence.standing import FOR_GOOD
from audit.sampling import Sampler
from mechanisms import LaplaceMechanism

WHERE = {"records": [0, 1], "size": 3, "budget": 1_000}


def loud(database, rng):
    """Return a noisy sum whose loss is 2."""
    return sum(database) + rng.laplace(scale=1 / 2)


def as_claimed(database, rng):
    return sum(database) + rng.laplace(scale=1.0)


@pytest.fixture(scope="module")
def first():
    return audit_privacy(as_claimed, PureDP(1.0), **WHERE)


@pytest.fixture(scope="module")
def text(first):
    """Return the file of the first audit."""
    return json.dumps(first.to_json(extend=True))


def random_bet(rng, events, counts):
    p, q = rng.uniform(0.001, 0.999, (2, events))
    return Bet(np.log(rng.dirichlet(np.ones(events))), p, q, rng.choice([0.0, 30.0, 3_000.0], events), counts)


def some_ledger(rng, *, bets):
    ledger = Ledger(goals=Goals(14.0, 0.5))
    for _ in range(bets):
        events = int(rng.integers(1, 4))
        counts = rng.multinomial(40, rng.dirichlet(np.ones(4)), size=events).astype(float)
        past, seen = rng.multinomial(100, rng.dirichlet(np.ones(3)), size=2), rng.integers(0, 9, (2, 2, 4))
        aim = Aim((CellCounts(0, past.astype(float), 3, seen.astype(float)),), calls=5_000)
        ledger.add(random_bet(rng, events, counts), aim)
    return ledger


@pytest.mark.parametrize("cut", [0, 1, 4])
def test_a_ledger_cut_in_two_has_the_wealth_of_the_whole_up_to_rounding_down(cut):
    """Every 51st claim of `claims_of` is checked, after every bet."""
    epsilon, delta = 0.5, 0.01
    whole = some_ledger(np.random.default_rng(cut), bets=6)
    before = Ledger(whole.bets[:cut], goals=whole.goals, aims=whole.aims[:cut])
    held = standing(before, epsilon=epsilon, delta=delta, significance=1e-300)
    after = Ledger(whole.bets[cut:], goals=whole.goals, aims=whole.aims[cut:], start=held)
    for claim in claims_of(epsilon, delta)[::51]:
        path = whole.path(*claim)[cut:]
        assert (after.path(*claim) <= path + 1e-9).all()
        assert after.path(*claim) == pytest.approx(path, abs=5e-3)


def test_what_was_rejected_once_stays_rejected():
    claim = {"epsilon": 0.1, "delta": 0.0}
    rng = np.random.default_rng(0)
    won = Ledger([random_bet(rng, 1, np.zeros((1, 4)))])
    won.bets[0] = replace(won.bets[0], p=np.array([0.9]), q=np.array([0.1]), past=np.array([500.0]))
    won.bets[0] = replace(won.bets[0], counts=np.array([[50.0, 0, 0, 50]]))
    held = standing(won, **claim, significance=1e-6)
    assert held.own[0] == FOR_GOOD
    lost = [bet.at_worst() for bet in won.bets] * 5
    bound = epsilon_bound(Ledger(lost, start=held), **claim, significance=1e-6)
    fine = epsilon_bound(won, **claim, significance=1e-6)
    assert 0.1 < bound <= fine < 1.09 * bound
    assert 0 < delta_bound(Ledger(lost, start=held), epsilon=0.1, significance=1e-6) < 1
    assert epsilon_bound(Ledger([*won.bets, *lost]), **claim, significance=1e-6) == fine


def test_going_on_in_memory_and_from_a_file_give_the_same_bytes(first, text):
    here, read = first.extend(budget=500), AuditResult.from_json(text)
    there = audit_privacy(as_claimed, PureDP(1.0), **{**WHERE, "budget": 500}, extend=read)
    assert json.dumps(here.to_json()["result"]) == json.dumps(there.to_json()["result"])
    assert here.to_json(extend=True)["standing"] == there.to_json(extend=True)["standing"]
    assert (here.samples, here.budget, here.earlier) == (1_500, 1_500, (1_000,))
    assert here.pairs_tried > first.pairs_tried
    assert AuditResult.from_json(here.to_json()) == here
    assert "in 2 audits that go on from one another" in f"{here}"
    for course, old, end in (
        (here.wealth_course, first.wealth_course, 1_500),
        (here.search_course, first.search_course, here.pairs_tried),
    ):
        now, then = (dict(zip(each.places, each.values, strict=True)) for each in (course, old))
        assert then.items() <= now.items()
        assert old.places[-1] < course.places[-1] <= end
    assert here.wealth_course.values[-1] == pytest.approx(here.log_wealth, rel=1e-5)


def test_more_runs_make_smaller_losses_detectable(first):
    more = first.extend(budget=4_000)
    assert first.detectable_epsilon > more.detectable_epsilon > 1.0
    assert max(first.epsilon_lower, more.epsilon_lower) <= 1.0


def test_no_run_is_drawn_twice(monkeypatch):
    drawn, draw = [], Sampler.draw

    def noted(self, left, right, size, path, **options):
        drawn.append(tuple(path))
        return draw(self, left, right, size, path, **options)

    monkeypatch.setattr(Sampler, "draw", noted)
    result = audit_privacy(as_claimed, PureDP(1.0), **WHERE)
    for _ in range(2):
        result = result.extend(budget=500)
    assert len(drawn) == len({*drawn}) > 30


def test_parts_that_are_too_short_alone_refute_together():
    """Coupled runs need fewer than 480 runs, but more than 200.

    A loss of 2 against a claim of 1 gives 0.059 nats per pair of independent runs. 14 nats then take at
    least 480 runs.
    """
    result = audit_privacy(loud, PureDP(1.0), **{**WHERE, "budget": 200})
    parts = 1
    while not result.refuted and parts < 20:
        assert result.samples == 200 * parts
        result = result.extend(budget=200)
        parts += 1
    assert result.refuted
    assert parts > 1
    assert 200 * (parts - 1) < result.samples_to_refutation <= 200 * parts
    assert result.witness.confirmed
    assert 1.0 <= result.epsilon_lower < 2.0


OTHER = {
    "claim": ({"claim": PureDP(1.1)}, "differs in its claim."),
    "δ": ({"claim": ApproximateDP(1.0, 1e-6)}, "differs in its claim."),
    "seed": ({"seed": 1}, "differs in its seed."),
    "significance": ({"significance": 0.01}, "differs in its significance."),
    "records": ({"records": [0, 1, 2]}, "differs in its databases."),
    "code": ({"mechanism": loud}, "differs in its code (or a version)."),
    "two": ({"seed": 1, "size": 2}, "differs in its databases and its seed."),
}


@pytest.mark.parametrize(("other", "said"), OTHER.values(), ids=OTHER)
def test_another_audit_is_refused_in_one_line(text, other, said):
    told = {"mechanism": as_claimed, "claim": PureDP(1.0), **WHERE, **other}
    with pytest.raises(AuditError, match="An audit cannot go on") as caught:
        audit_privacy(told.pop("mechanism"), told.pop("claim"), **told, extend=AuditResult.from_json(text))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_result_that_more_runs_cannot_change_is_refused(first, text):
    proved = audit_privacy(LaplaceMechanism(epsilon=1.0), size=1, budget=1_000)
    refuted = audit_privacy(sum, PureDP(1.0), **WHERE)
    for result, said in ((proved, "declared law"), (refuted, "its verdict is REFUTED")):
        with pytest.raises(AuditError, match=said):
            result.extend(budget=1_000)
    with pytest.raises(AuditError, match="was not made here"):
        AuditResult.from_json(text).extend(budget=1_000)
    with pytest.raises(AuditError, match="no evidence to go on from"):
        audit_privacy(as_claimed, PureDP(1.0), **WHERE, extend=AuditResult.from_json(first.to_json()))
    with pytest.raises(AuditError, match="takes no `seed`"):
        first.extend(budget=1_000, seed=1)
    with pytest.raises(AuditError, match="budget"):
        first.extend(budget=0)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("own", [FOR_GOOD], "refuted the claim"),
        ("goal", [], "numbers in each column"),
        ("own", "x", "must be a list"),
        ("batches", -1, "whole number"),
        ("of", 3, "must be an object"),
    ],
)
def test_a_damaged_or_forged_standing_is_refused(text, field, value, said):
    document = json.loads(text)
    kept = document["standing"][field]
    document["standing"][field] = (
        [*value, *kept[len(value) :]] if value and isinstance(value, list) else value
    )
    with pytest.raises(AuditError, match=said):
        audit_privacy(as_claimed, PureDP(1.0), **WHERE, extend=AuditResult.from_json(document))


def test_a_pair_of_a_file_that_is_not_in_the_domain_is_not_tried(text, monkeypatch):
    document, drawn, draw = json.loads(text), [], Sampler.draw

    def noted(self, left, right, size, path, **options):
        drawn.extend([left, right])
        return draw(self, left, right, size, path, **options)

    best = document["standing"]["pairs"][0]["path"]
    document["standing"]["pairs"] = [
        {"path": [best[0], [7, 7, 7]], "sections": []},
        {"path": [[0, 0, 0], [1, 1, 0]], "sections": []},
        {"path": best, "sections": []},
    ]
    monkeypatch.setattr(Sampler, "draw", noted)
    read = AuditResult.from_json(document)
    # recorded=True would draw the scouts by another method than `Sampler.draw`
    audit_privacy(as_claimed, PureDP(1.0), **WHERE, extend=read, recorded=False)
    assert drawn[:2] == [best[0], best[-1]]
    assert [7, 7, 7] not in drawn


@pytest.mark.usefixtures("folder")
def test_a_nightly_command_begins_goes_on_and_sees_that_the_code_changed(call):
    file = Path("night.py")
    file.write_text("def noisy_sum(database, rng):\n    return sum(database) + rng.laplace(scale=1.0)\n")
    where = ("--records", "[0, 1]", "--size", "2", "--epsilon", "1", "--budget", "500")
    nightly = ("run", "night.py:noisy_sum", *where, "--extend", "night.json")
    code, text, said = call(*nightly)
    assert (code, "500 runs drawn;" in text) == (0, True), said
    assert "night.json does not exist yet: a first audit" in said
    code, text, _ = call(*nightly)
    assert (code, "1,000 runs drawn, in 2 audits" in text) == (0, True)
    kept = Path("night.json").read_bytes()
    file.write_text(file.read_text().replace("1.0", "0.5"))
    code, text, said = call(*nightly)
    assert (code, text) == (2, "")
    assert "what is given now differs in its code (or a version)" in said
    assert Path("night.json").read_bytes() == kept
    assert math.isfinite(json.loads(kept)["standing"]["own"][0])
