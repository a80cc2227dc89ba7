"""An audit that continues another one keeps its wealth, draws no run twice, and refuses another subject."""

import json
import math
import subprocess
import sys
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

DP_AUDIT = Path(sys.executable).with_name("dp-audit")
WHERE = {"records": [0, 1], "size": 3, "budget": 3_000}


def a_little_loud(database, rng):
    """Return a noisy sum whose loss is 1.3."""
    return sum(database) + rng.laplace(scale=1 / 1.3)


def as_claimed(database, rng):
    return sum(database) + rng.laplace(scale=1.0)


def saved(result):
    return AuditResult.from_json(json.dumps(result.to_json(extend=True)))


@pytest.fixture(scope="module")
def first():
    return audit_privacy(as_claimed, PureDP(1.0), **WHERE)


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
@pytest.mark.parametrize("seed", range(3))
def test_a_ledger_cut_in_two_has_the_wealth_of_the_whole_up_to_rounding_down(seed, cut):
    """Every 17th claim of `claims_of` is checked, after every bet."""
    epsilon, delta = 0.5, 0.01
    whole = some_ledger(np.random.default_rng(seed), bets=6)
    before = Ledger(whole.bets[:cut], goals=whole.goals, aims=whole.aims[:cut])
    held = standing(before, epsilon=epsilon, delta=delta, significance=1e-300)
    after = Ledger(whole.bets[cut:], goals=whole.goals, aims=whole.aims[cut:], start=held)
    for claim in claims_of(epsilon, delta)[::17]:
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


def test_going_on_in_memory_and_from_a_file_give_the_same_bytes(first):
    here = first.extend(budget=2_000)
    there = audit_privacy(as_claimed, PureDP(1.0), **{**WHERE, "budget": 2_000}, extend=saved(first))
    assert json.dumps(here.to_json()["result"]) == json.dumps(there.to_json()["result"])
    assert here.to_json(extend=True)["standing"] == there.to_json(extend=True)["standing"]
    assert (here.samples, here.budget, here.earlier) == (5_000, 5_000, (3_000,))
    assert here.pairs_tried > first.pairs_tried
    assert AuditResult.from_json(here.to_json()) == here
    assert "in 2 audits that go on from one another" in f"{here}"
    for course, old, end in (
        (here.wealth_course, first.wealth_course, 5_000),
        (here.search_course, first.search_course, here.pairs_tried),
    ):
        now, then = (dict(zip(each.places, each.values, strict=True)) for each in (course, old))
        assert then.items() <= now.items()
        assert old.places[-1] < course.places[-1] <= end
    assert here.wealth_course.values[-1] == pytest.approx(here.log_wealth, rel=1e-5)


def test_more_runs_make_smaller_losses_detectable(first):
    found = [first]
    for _ in range(2):
        found.append(found[-1].extend(budget=9_000))
    detectable = [each.detectable_epsilon for each in found]
    assert detectable[0] > detectable[1] > detectable[2] > 1.0
    assert all(each.epsilon_lower <= 1.0 for each in found)


def test_no_run_is_drawn_twice(monkeypatch):
    drawn, draw = [], Sampler.draw

    def noted(self, left, right, size, path, **options):
        drawn.append(tuple(path))
        return draw(self, left, right, size, path, **options)

    monkeypatch.setattr(Sampler, "draw", noted)
    result = audit_privacy(as_claimed, PureDP(1.0), **WHERE)
    for _ in range(2):
        result = result.extend(budget=2_000)
    assert len(drawn) == len({*drawn}) > 30


def test_parts_that_are_too_short_alone_refute_together():
    """A loss of 1.3 against a claim of 1 gives 0.008 nats per pair of runs. 14 nats then take at least 3,500
    runs."""
    result = audit_privacy(a_little_loud, PureDP(1.0), **{**WHERE, "budget": 2_000})
    parts = 1
    while not result.refuted and parts < 20:
        assert result.samples == 2_000 * parts
        result = result.extend(budget=2_000)
        parts += 1
    assert result.refuted
    assert parts > 1
    assert 2_000 * (parts - 1) < result.samples_to_refutation <= 2_000 * parts
    assert result.witness.confirmed
    assert 1.0 <= result.epsilon_lower < 1.3


OTHER = {
    "claim": ({"claim": PureDP(1.1)}, "differs in its claim."),
    "δ": ({"claim": ApproximateDP(1.0, 1e-6)}, "differs in its claim."),
    "seed": ({"seed": 1}, "differs in its seed."),
    "significance": ({"significance": 0.01}, "differs in its significance."),
    "records": ({"records": [0, 1, 2]}, "differs in its databases."),
    "code": ({"mechanism": a_little_loud}, "differs in its code (or a version)."),
    "two": ({"seed": 1, "size": 2}, "differs in its databases and its seed."),
}


@pytest.mark.parametrize(("other", "said"), OTHER.values(), ids=OTHER)
def test_another_audit_is_refused_in_one_line(first, other, said):
    told = {"mechanism": as_claimed, "claim": PureDP(1.0), **WHERE, **other}
    with pytest.raises(AuditError, match="An audit cannot go on") as caught:
        audit_privacy(told.pop("mechanism"), told.pop("claim"), **told, extend=saved(first))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_result_that_more_runs_cannot_change_is_refused(first):
    proved = audit_privacy(LaplaceMechanism(epsilon=1.0), size=2, budget=2_000)
    refuted = audit_privacy(sum, PureDP(1.0), **WHERE)
    for result, said in ((proved, "declared law"), (refuted, "its verdict is REFUTED")):
        with pytest.raises(AuditError, match=said):
            result.extend(budget=1_000)
    with pytest.raises(AuditError, match="was not made here"):
        saved(first).extend(budget=1_000)
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
def test_a_damaged_or_forged_standing_is_refused(first, field, value, said):
    document = first.to_json(extend=True)
    kept = document["standing"][field]
    document["standing"][field] = (
        [*value, *kept[len(value) :]] if value and isinstance(value, list) else value
    )
    with pytest.raises(AuditError, match=said):
        audit_privacy(as_claimed, PureDP(1.0), **WHERE, extend=AuditResult.from_json(document))


def test_a_pair_of_a_file_that_is_not_in_the_domain_is_not_tried(first, monkeypatch):
    document, drawn, draw = first.to_json(extend=True), [], Sampler.draw

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


def command(folder, *options):
    done = subprocess.run(
        [DP_AUDIT, "run", "night.py:noisy_sum", "--records", "[0, 1]", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_a_nightly_command_begins_goes_on_and_sees_that_the_code_changed(tmp_path):
    file = tmp_path / "night.py"
    file.write_text("def noisy_sum(database, rng):\n    return sum(database) + rng.laplace(scale=1.0)\n")
    nightly = ("--size", "2", "--epsilon", "1", "--budget", "2000", "--extend", "night.json")
    code, text, said = command(tmp_path, *nightly)
    assert (code, "2,000 runs drawn;" in text) == (0, True), said
    assert "night.json does not exist yet: a first audit" in said
    code, text, _ = command(tmp_path, *nightly)
    assert (code, "4,000 runs drawn, in 2 audits" in text) == (0, True)
    kept = (tmp_path / "night.json").read_bytes()
    file.write_text(file.read_text().replace("1.0", "0.5"))
    code, text, said = command(tmp_path, *nightly)
    assert (code, text) == (2, "")
    assert "what is given now differs in its code (or a version)" in said
    assert (tmp_path / "night.json").read_bytes() == kept
    assert math.isfinite(json.loads(kept)["standing"]["own"][0])
