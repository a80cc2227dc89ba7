"""A saved refutation is repeated, with the same or with new runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from audit import AuditResult, Evidence, PureDP, Verdict, audit_privacy
from audit.distributions import Density, Finite
from audit.errors import AuditError, InvalidValue
from audit.events.event import Event, RegionIn
from audit.laws.region import Region
from audit.results.result import Witness

PAIR = [([0], [1])]


class Loud:
    """A sum with a third of the noise that it needs."""

    def __call__(self, database, rng):
        return sum(database) + rng.laplace(scale=1 / 3)

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(scale=1 / 3, size=size)


class Repaired(Loud):
    def __call__(self, database, rng):
        return sum(database) + rng.laplace()

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(size=size)


class Declared(Loud):
    def distribution(self, database):
        return Density.laplace(float(sum(database)), 1 / 3)


def by_call(database, rng):
    return sum(database) + rng.laplace(scale=1 / 3)


def keyed(database, rng):
    return {np.int64(3): database[0] + rng.laplace(scale=0.2), (1, "b"): 0.0}


def shrinks_its_input(database, rng):
    return database.pop() + rng.laplace(scale=0.2)


def made_anew(name):
    """Return a new subject, which a fresh process can build without this module."""

    def text(database, rng):
        return "yes" if (database == [1]) == (rng.random() < 0.99) else "no"

    class KeepsState:
        def __init__(self):
            self.calls = 0

        def __call__(self, database, rng):
            self.calls += 1
            return database[0] + rng.laplace(scale=0.2)

    return {"text": text, "keeps state": KeepsState()}.get(name) or SUBJECTS[name]


SUBJECTS = {
    "many at once": Loud(),
    "one by one": by_call,
    "keys that JSON lacks": keyed,
    "changes its input": shrinks_its_input,
    "declares its law": Declared(),
}


def refuted(mechanism, **options):
    result = audit_privacy(mechanism, PureDP(1.0), pairs=PAIR, budget=20_000, seed=5, **options)
    assert result.verdict is Verdict.REFUTED
    return result


def counts(witness):
    return (witness.p, witness.q, witness.runs, witness.p_interval, witness.q_interval, witness.confirmed)


@pytest.mark.parametrize("name", [*SUBJECTS, "text", "keeps state"])
def test_a_replay_reproduces_the_saved_refutation_exactly(name):
    result = refuted(made_anew(name))
    saved = AuditResult.from_json(result.to_json())
    again = saved.replay(made_anew(name))
    assert again.verdict is Verdict.REFUTED
    assert "reproduced" in again.notes[0]
    if result.evidence is Evidence.STATISTICAL:
        assert counts(again.witness) == counts(result.witness)
    else:
        assert (again.witness.p, again.witness.q) == (result.witness.p, result.witness.q)


def test_an_exact_witness_drawn_again_shows_the_most_probable_outputs():
    """The outputs 0, 1, 2, 3 have probabilities 0.5, 0.3, 0.15, 0.05 on the left.

    On the right they are reversed.
    """

    class Ranked:
        def __call__(self, database, rng):
            return int(self.distribution(database).sample(1, rng)[0])

        def distribution(self, database):
            weights = [0.5, 0.3, 0.15, 0.05]
            return Finite(range(4), weights if database == [0] else weights[::-1])

    result = audit_privacy(Ranked(), PureDP(1.0), pairs=PAIR)
    assert result.refuted
    witness = AuditResult.from_json(result.to_json()).replay(Ranked()).witness
    by_database = dict(zip((witness.left[0], witness.right[0]), witness.examples, strict=True))
    assert by_database == {0: ("0", "1", "2"), 1: ("3", "2", "1")}


@pytest.mark.parametrize("name", ["many at once", "one by one", "text"])
def test_a_fresh_replay_draws_new_runs(name):
    """The fault is missed with probability far below 1e-9.

    The confirmation makes three times the needed runs.
    """
    result = refuted(made_anew(name))
    again = result.replay(made_anew(name), fresh=True)
    assert again.verdict is Verdict.REFUTED
    assert (again.witness.p, again.witness.q) != (result.witness.p, result.witness.q)
    assert again.witness.p == pytest.approx(result.witness.p, abs=6 / math.sqrt(result.witness.runs))
    assert again.witness.seed != result.witness.seed


def test_a_fresh_replay_of_a_fresh_replay_draws_new_runs():
    """Each replay misses the fault with probability far below 1e-9."""
    once = refuted(Loud()).replay(fresh=True)
    twice = AuditResult.from_json(once.to_json()).replay(Loud(), fresh=True)
    assert twice.verdict is Verdict.REFUTED
    assert counts(twice.witness) != counts(once.witness)
    assert AuditResult.from_json(twice.to_json()).replay(Loud()).notes[0].endswith("reproduced exactly")


def test_the_bounds_of_a_replay_hold_at_their_stated_confidence():
    """The interval of the witness has confidence 0.99 only, so its bound is higher."""
    again = refuted(Loud()).replay()
    assert 1.0 < again.epsilon_lower < again.witness.epsilon_lower
    assert again.delta_lower > 0


def test_an_exact_refutation_of_an_enormous_claim_is_replayed():
    class Telling:
        def __call__(self, database, rng):
            return database[0]

        def distribution(self, database):
            return Finite([database[0]], [1.0])

    result = audit_privacy(Telling(), PureDP(1_000.0), pairs=[([0], [1])])
    assert result.replay().verdict is Verdict.REFUTED


def test_a_witness_of_a_later_candidate_is_judged_at_its_own_level(monkeypatch):
    """A replay uses significance·2^−k, at which the k-th candidate was confirmed."""
    import audit.verdict.redraw

    levels = []
    run_witness = audit.verdict.redraw.run_witness

    def recording(sampler, pair, candidate, terms, **options):
        levels.append(terms.significance)
        return run_witness(sampler, pair, candidate, terms, **options)

    monkeypatch.setattr(audit.verdict.redraw, "run_witness", recording)
    result = refuted(Loud())
    result.replay(Loud())
    assert levels == [1e-6 * 2.0 ** -result.witness.seed[1]]


def test_a_replay_on_the_repaired_mechanism_is_not_refuted():
    """The repaired mechanism is refuted with probability at most 1e-6.

    It meets the claim with equality.
    """
    again = refuted(Loud()).replay(Repaired())
    assert again.verdict is Verdict.NOT_REFUTED
    assert "differ" in again.notes[0]


def test_a_replay_on_another_subject_names_that_subject_and_its_outcome():
    """A replay repeats nothing that only the audit checked.

    This is other pairs, absence of state, and the budget.
    """
    stateless = "the subject keeps no state between runs"
    saved = refuted(Loud())
    assert stateless in saved.assumptions
    again = saved.replay(Repaired())
    assert (again.subject, again.pairs_tried, again.pairs_total, again.budget) == ("Repaired", 1, None, 0)
    assert stateless not in again.assumptions
    told = " ".join(str(again).split())
    drawn = f"about {saved.witness.runs:,} runs on each side tested the saved event"
    assert f"these runs do not confirm the saved refutation of Loud: {drawn}" in told
    assert "the refutation stands" not in told
    assert "dp-audit run" not in told
    assert saved.replay().subject == "Loud"


def test_a_witness_that_stands_on_another_subject_names_both():
    """The fault of the function is missed with probability far below 1e-9.

    It adds the same noise as `Loud`.
    """
    again = refuted(Loud()).replay(by_call, fresh=True)
    assert (again.verdict, again.subject) == (Verdict.REFUTED, "by_call")
    assert again.notes[1] == "the replayed witness was saved by an audit of Loud"


def test_a_repaired_law_is_not_refuted():
    class RepairedLaw(Repaired):
        def distribution(self, database):
            return Density.laplace(float(sum(database)), 1.0)

    again = refuted(Declared()).replay(RepairedLaw())
    assert again.verdict is Verdict.NOT_REFUTED
    assert "changed" in again.notes[0]


def test_without_a_subject_the_audited_mechanism_is_replayed():
    assert refuted(Loud()).replay().verdict is Verdict.REFUTED


def test_a_saved_result_without_a_target_asks_what_to_draw_from():
    saved = AuditResult.from_json(refuted(Loud()).to_json())
    with pytest.raises(InvalidValue, match=r"give the subject: `result\.replay\(subject\)`") as caught:
        saved.replay()
    assert "\n" not in str(caught.value)


def test_a_result_without_a_witness_has_nothing_to_replay():
    result = audit_privacy(Repaired(), PureDP(1.0), pairs=PAIR, budget=500)
    with pytest.raises(InvalidValue, match="no witness"):
        result.replay()


@pytest.mark.parametrize("subject", [Loud(), Declared()])
def test_databases_edited_into_non_neighbours_are_refused(subject):
    result = refuted(subject)
    assert result.witness.distance == 1
    edited = replace(result, witness=replace(result.witness, left=[7] * 9))
    with pytest.raises(InvalidValue, match=r"^These databases are not neighbours under replace-one: "):
        edited.replay()


def test_an_exact_witness_needs_a_subject_that_declares_its_law():
    with pytest.raises(AuditError, match="declares no law"):
        refuted(Declared()).replay(Loud())


def test_a_database_kept_as_text_cannot_be_replayed():
    class Record:
        """A record that JSON cannot hold."""

    pair = [([Record()], [Record(), Record()])]
    result = audit_privacy(
        lambda database, rng: len(database),
        PureDP(1.0),
        pairs=pair,
        relation="add-or-remove-one",
        budget=2_000,
    )
    saved = AuditResult.from_json(result.to_json())
    with pytest.raises(InvalidValue, match="only the text of its databases was saved"):
        saved.replay(len)


# Databases several steps apart, and the claim about that distance


class LoudSteps(Loud):
    """A noisy sum whose loss per step is 0.13 against a claim of 0.1."""

    scale = 1 / 0.13

    def __call__(self, database, rng):
        return sum(database) + rng.laplace(scale=self.scale)

    def sample(self, database, size, rng):
        return sum(database) + rng.laplace(scale=self.scale, size=size)


class TightSteps(LoudSteps):
    scale = 10.0


@pytest.fixture(scope="module")
def distant():
    """Return a refutation on distant databases, saved and read as JSON.

    Audits of neighbours show nothing within this budget.
    """
    for seed in range(20):
        result = audit_privacy(
            LoudSteps(), PureDP(0.1), records=[0, 1], size=(20, 60), budget=60_000, seed=seed
        )
        if result.refuted and result.witness.distance > 1:
            return AuditResult.from_json(result.to_json())
    pytest.fail("no refutation rests on distant databases")


def test_a_distant_witness_is_replayed_against_the_claim_about_its_distance(distant):
    """A fresh replay misses the fault with probability far below 1e-9.

    The confirmation makes three times the needed runs.
    """
    again = distant.replay(LoudSteps())
    assert again.verdict is Verdict.REFUTED
    assert counts(again.witness) == counts(distant.witness)
    assert again.witness.distance == distant.witness.distance
    assert again.witness.epsilon_lower == distant.witness.epsilon_lower
    assert "records apart" in " ".join(str(again).split())
    anew = distant.replay(LoudSteps(), fresh=True)
    assert anew.verdict is Verdict.REFUTED
    assert 0.1 < anew.epsilon_lower <= 0.13


def test_steps_that_keep_their_claim_are_not_refuted_by_a_distant_replay(distant):
    """The claim about the distance is refuted with probability at most 1e-6.

    Between neighbours the same loss would refute the claim.
    """
    witness = distant.witness
    assert distant.replay(TightSteps(), fresh=True).verdict is Verdict.NOT_REFUTED
    any_two = "a relation of one's own, under which they would be neighbours"
    near = replace(distant, relation=any_two, witness=replace(witness, distance=1, simplest=None))
    assert near.replay(TightSteps(), fresh=True).verdict is Verdict.REFUTED


@pytest.mark.parametrize("fitting", [LoudSteps(), TightSteps()], ids=["loud", "tight"])
def test_a_distant_witness_is_judged_by_laws_too(fitting):
    """The loss of 20 steps is 20/scale.

    Pr[x + noise ≤ 0] is 1/2 at x = 0 and e^(−20/scale)/2 at x = 20.
    """

    class Declared(type(fitting)):
        def distribution(self, database):
            return Density.laplace(float(sum(database)), self.scale)

    below = Event((RegionIn(Region(intervals=((-math.inf, 0.0),))),))
    witness = Witness([0] * 20, [1] * 20, below, 0.5, 0.01, distance=20)
    result = AuditResult("steps", PureDP(0.1), Verdict.REFUTED, Evidence.EXACT, witness=witness)
    again = result.replay(Declared())
    assert again.refuted is (fitting.scale < 10)
    assert again.epsilon_lower == pytest.approx(1 / fitting.scale, rel=1e-9)
