"""A replay decides by its own runs, not by what the file says."""

import dataclasses
import json
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from audit import AuditResult, Evidence, PureDP, Verdict, audit_privacy
from audit.distributions import Density
from audit.doors.auditor import Auditor
from audit.doors.cli import main
from audit.doors.regressions import load_witness, replay_file
from audit.errors import AuditError, CorruptFile, InvalidValue
from audit.results.coherence import counts_of
from audit.results.saved import save

PAIR = [([0], [1])]


def loud(database, rng):
    return database[0] + rng.laplace(scale=0.4)


def repaired(database, rng):
    return database[0] + rng.laplace(scale=1.0)


def raises(database, rng):
    raise ValueError("no such table")


def leaves(database, rng):
    raise SystemExit(3)


def raises_on_one(database, rng):
    if database == [1]:
        raise ValueError("no such table")
    return 0.0


@pytest.fixture(scope="module")
def refuted():
    """Return a refutation of the claim ε = 1 for noise that is exactly 2.5-private."""
    result = audit_privacy(loud, PureDP(1.0), pairs=PAIR, budget=20_000)
    assert result.verdict is Verdict.REFUTED
    return result


def forged(result, **witness):
    """Return the result of a file that was edited by hand."""
    return AuditResult.from_json(
        replace(result, verdict=Verdict.REFUTED, witness=replace(result.witness, **witness)).to_json()
    )


# The verdict


@pytest.mark.parametrize("fresh", [False, True])
def test_another_claim_is_decided_by_runs(refuted, fresh):
    """The claim ε = 2.5 holds, so it is refuted with probability at most 1e-6."""
    assert replace(refuted, claim=PureDP(2.5)).replay(fresh=fresh).verdict is Verdict.NOT_REFUTED
    edited = AuditResult.from_json(replace(refuted, claim=PureDP(2.5)).to_json())
    assert edited.replay(loud, fresh=fresh).verdict is Verdict.NOT_REFUTED


def test_a_claim_that_the_runs_are_too_few_to_refute_is_inconclusive(refuted):
    again = replace(refuted, claim=PureDP(30.0)).replay()
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "too few" in again.reason


def test_counts_of_a_correct_mechanism_marked_as_confirmed_refute_nothing(refuted):
    right = refuted.replay(repaired)
    again = forged(right, confirmed=True).replay(repaired)
    assert again.verdict is Verdict.NOT_REFUTED
    assert "reproduced exactly" in again.notes[0]
    assert not again.witness.confirmed


@pytest.mark.parametrize("broken", [raises, leaves])
def test_a_subject_that_never_answers_is_an_error(refuted, broken):
    again = refuted.replay(broken)
    assert again.verdict is Verdict.ERROR
    assert "every run raised" in again.reason


def test_a_subject_that_never_answers_on_one_database_is_inconclusive_for_another_event(refuted):
    again = refuted.replay(raises_on_one)
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "every run on the right database raised ValueError: no such table" in again.reason


@pytest.fixture
def saved(refuted, tmp_path):
    save(refuted, tmp_path / "w.json")
    return tmp_path / "w.json"


@pytest.mark.parametrize("broken", [raises, leaves, raises_on_one])
def test_a_regression_test_of_broken_code_fails(saved, broken):
    node = SimpleNamespace(nodeid="test_fault", user_properties=[])
    with pytest.raises(pytest.fail.Exception, match="every run"):
        Auditor(node, defaults={}).check_witness(saved, broken)


def test_the_command_line_says_that_broken_code_was_not_audited(saved, tmp_path, capsys):
    (tmp_path / "mine.py").write_text("def broken(database, rng):\n    raise SystemExit(0)\n")
    with pytest.raises(SystemExit) as left:
        main(["replay", str(saved), f"{tmp_path / 'mine.py'}:broken"])
    assert left.value.code == 3
    assert "every run raised SystemExit" in capsys.readouterr().out


# Exact refutations


class Declared:
    """A subject with Laplace noise of separate scales in law and code."""

    def __init__(self, law, code):
        self.law, self.code = law, code

    def __call__(self, database, rng):
        return database[0] + rng.laplace(scale=self.code)

    def distribution(self, database):
        return Density.laplace(float(database[0]), self.law)


class Unreadable(Declared):
    def distribution(self, database):
        raise ValueError("no such table")


class Raising(Declared):
    def __call__(self, database, rng):
        raise ValueError("no such table")


@pytest.fixture(scope="module")
def exact():
    result = audit_privacy(Declared(0.4, 0.4), PureDP(1.0), pairs=PAIR, budget=20_000)
    assert (result.verdict, result.evidence) == (Verdict.REFUTED, Evidence.EXACT)
    return result


@pytest.mark.parametrize(
    ("subject", "verdict", "said"),
    [
        (Declared(0.4, 0.4), Verdict.REFUTED, ""),
        (Declared(1.0, 1.0), Verdict.NOT_REFUTED, ""),
        (Declared(1.0, 0.4), Verdict.ERROR, "do not follow its declared law"),
        (Unreadable(1.0, 1.0), Verdict.ERROR, "the declared law raised ValueError: no such table"),
        (Raising(1.0, 1.0), Verdict.ERROR, "every run raised ValueError: no such table"),
    ],
    ids=["as it was", "repaired", "law alone repaired", "law raises", "code raises"],
)
def test_an_exact_refutation_is_replayed_by_laws_that_the_code_keeps(exact, subject, verdict, said):
    """1,000 runs miss the difference with probability far below 1e-9.

    In one case the law has scale 1, but the runs have noise of scale 0.4.
    """
    again = exact.replay(subject)
    assert again.verdict is verdict
    assert said in again.reason


def test_another_claim_is_decided_by_laws(exact):
    assert replace(exact, claim=PureDP(2.5)).replay().verdict is Verdict.NOT_REFUTED
    assert replace(exact, claim=PureDP(2.4)).replay().verdict is Verdict.REFUTED


# Refutations that were not confirmed


@pytest.fixture(scope="module")
def unconfirmed():
    result = audit_privacy(loud, PureDP(1.0), pairs=PAIR, budget=20_000, confirm_budget=40)
    assert not result.witness.confirmed
    return result


def test_an_unconfirmed_refutation_is_refused_as_a_regression_test(unconfirmed, tmp_path):
    save(unconfirmed, tmp_path / "w.json")
    with pytest.raises(AuditError, match="holds no refutation confirmed by fresh runs"):
        replay_file(tmp_path / "w.json", subject=loud)


def test_an_unconfirmed_refutation_is_replayed_until_it_decides(unconfirmed):
    """The replay misses a loss of 2.5 against a claim of 1 with probability below 1e-9.

    It makes three times the calls that it needs.
    """
    assert unconfirmed.replay().verdict is Verdict.REFUTED
    assert unconfirmed.replay(repaired).verdict is Verdict.NOT_REFUTED


def test_a_replay_that_would_take_too_many_runs_says_so(unconfirmed):
    near = replace(unconfirmed.witness, p=0.5, q=0.4999, runs=10)
    again = replace(unconfirmed, claim=PureDP(1e-6), witness=near).replay()
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "too few to decide" in again.reason


# Subjects that keep noise


def telling(event):
    """Return a subject that draws its noise when it is made.

    In this process, the event happens on one database only.
    """

    class Kept:  # sent to fresh processes as code, so they import no module for it
        def __init__(self):
            self.noise = np.random.default_rng().laplace(size=2).tolist()

        def __call__(self, database, rng):
            return database[0] + self.noise[database[0]]

    while True:
        kept = Kept()
        if event.contains(kept([0], None)) != event.contains(kept([1], None)):
            return kept


def test_kept_noise_is_not_refuted_by_a_replay(refuted):
    """In this process p = 1 and q = 0, and fresh processes draw the noise anew."""
    kept = telling(refuted.witness.event)
    flipped = refuted.witness
    if flipped.event.contains(kept([0], None)) != (flipped.direction == "left"):
        flipped = replace(flipped, direction="right" if flipped.direction == "left" else "left")
    again = replace(refuted, witness=flipped).replay(kept)
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "fresh" in again.reason


def test_without_fresh_processes_an_event_that_never_varies_decides_nothing(refuted):
    inside = next(bit for bit in (-9.0, 9.0) if refuted.witness.event.contains(bit))
    answers = np.array([-inside, inside])

    def kept(database, rng):
        return answers[database[0]]

    again = replace(refuted, witness=replace(refuted.witness, direction="right")).replay(kept)
    assert again.verdict is Verdict.INCONCLUSIVE
    assert "`fresh=`" in again.reason


# Files that contradict themselves


DAMAGES = {
    "another claim": lambda result: replace(result, claim=PureDP(2.5)),
    "p that is no share": lambda result: _with(result, p=result.witness.p + 1e-6),
    "q that is no share": lambda result: _with(result, q=result.witness.q + 1e-6),
    "another interval": lambda result: _with(result, p_interval=result.witness.q_interval),
    "p and q exchanged": lambda result: _with(
        result,
        p=result.witness.q,
        q=result.witness.p,
        p_interval=result.witness.q_interval,
        q_interval=result.witness.p_interval,
    ),
    "other runs": lambda result: _with(result, runs=result.witness.runs + 7),
}


def _with(result, **witness):
    return replace(result, witness=replace(result.witness, **witness))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_refutation_that_contradicts_itself_is_refused_in_one_line(refuted, tmp_path, damage):
    save(refuted, tmp_path / "good.json")
    assert load_witness(tmp_path / "good.json").refuted
    save(damage(refuted), tmp_path / "bad.json")
    with pytest.raises(CorruptFile, match=r"bad\.json: the result contradicts itself: ") as caught:
        replay_file(tmp_path / "bad.json", subject=loud)
    assert "\n" not in str(caught.value)


def test_an_event_that_was_edited_after_it_was_saved_is_refused(refuted):
    document = json.loads(json.dumps(refuted.to_json()))
    event = document["result"]["witness"]["event"]
    event["event"]["all"][0]["intervals"] = [[40.0, 41.0]]
    with pytest.raises(CorruptFile, match=r"an event was edited after it was saved; it is now .*40"):
        AuditResult.from_json(document)


def test_an_event_is_not_shown_by_other_words_that_have_its_numbers(refuted):
    document = json.loads(json.dumps(refuted.to_json()))
    event = document["result"]["witness"]["event"]
    [condition] = event["event"]["all"]
    condition["intervals"], event["words"] = [[1.5, 2.0]], "the output is below 1.5 or at least 2"
    del event["digest"]  # as in files of the first schema
    assert AuditResult.from_json(document).witness.event.words() == "the output is at least 1.5 and below 2"


def test_the_counts_of_a_witness_follow_from_its_frequencies_and_intervals(refuted):
    counts = counts_of(refuted.witness)
    assert counts.sum() == 2 * refuted.witness.runs
    assert counts[0] / counts[:2].sum() == refuted.witness.p
    assert counts[2] / counts[2:].sum() == refuted.witness.q


# Records that a file cannot restore


@dataclass(frozen=True)
class Plain:
    bit: int


@dataclass
class Computes:
    bit: int

    def __post_init__(self):
        self.twice = 2 * self.bit


@dataclass(frozen=True)
class Cached:
    bit: int
    code: int = dataclasses.field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "code", hash(str(self.bit)))


@dataclass
class Table(dict):
    bit: int

    def __post_init__(self):
        self["bit"] = self.bit


@dataclass
class Rows(list):
    bit: int

    def __post_init__(self):
        self.append(self.bit)


@dataclass
class Fault(Exception):
    bit: int


RECORDS = {"computes": Computes, "cached": Cached, "dict": Table, "list": Rows, "exception": Fault}


def of_records(database, rng):
    return database[0].bit + rng.laplace(scale=0.4)


@pytest.mark.parametrize("kind", RECORDS.values(), ids=RECORDS)
def test_records_with_state_beyond_their_arguments_are_replayed_live_but_not_from_a_file(kind):
    pairs = [([kind(0)], [kind(1)])]
    result = audit_privacy(of_records, PureDP(1.0), pairs=pairs, budget=20_000)
    assert not result.witness.replayable
    assert "reproduced" in result.replay().notes[0]
    saved = AuditResult.from_json(result.to_json())
    with pytest.raises(InvalidValue, match="only the text of its databases was saved"):
        saved.replay(of_records)


def test_records_of_plain_fields_are_replayed_from_a_file():
    result = audit_privacy(of_records, PureDP(1.0), pairs=[([Plain(0)], [Plain(1)])], budget=20_000)
    assert result.witness.replayable
    assert "reproduced" in AuditResult.from_json(result.to_json()).replay(of_records).notes[0]


def test_a_live_replay_takes_the_live_objects():
    """A class defined inside a function cannot be imported by name."""

    @dataclass(frozen=True)
    class Local:
        bit: int

    result = audit_privacy(of_records, PureDP(1.0), pairs=[([Local(0)], [Local(1)])], budget=20_000)
    assert "reproduced" in result.replay().notes[0]
    assert not result.witness.replayable
    with pytest.raises(InvalidValue, match=r"the class of .* is not loaded"):
        AuditResult.from_json(result.to_json()).replay(of_records)
