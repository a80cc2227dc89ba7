"""Results: equality, current and older documents, damage, and texts.

The file is long because every field of a result is written, read and damaged here.
"""

import contextlib
import dataclasses
import html
import io
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from audit import UtilityResult, audit_privacy, audits_to_frame
from audit.claims import PAC, ApproximateDP, PureDP
from audit.codec.files import check_writable, write_text
from audit.doors.summary import line
from audit.errors import AuditError, CorruptFile
from audit.events.event import Event, NumberIn
from audit.events.features.numbers import Value
from audit.results.course import Course
from audit.results.fault import Fault, FaultKind
from audit.results.outputs import Outputs
from audit.results.result import AuditResult, Evidence, PrivacyRefuted, Verdict, Witness
from audit.results.saved import layout, load, save
from audit.values.said import Says
from audit.words import story
from audit.words.again import python_lines
from audit.words.text import MOST_LINES, MOST_LISTED, MOST_UNTESTED, full, short

ABOVE = Event((NumberIn(Value(), ((1.5, math.inf),)),))
EXAMPLE = Path(__file__).parent / "data" / "result-schema-1.json"


def witness(**changes):
    fields = {
        "left": [0, 0],
        "right": [0, 1],
        "event": ABOVE,
        "p": 0.48,
        "q": 0.05,
        "p_interval": (0.45, 0.51),
        "q_interval": (0.04, 0.06),
        "runs": 2000,
        "confidence": 0.999,
        "epsilon_lower": 1.9,
        "seed": [2, 0],
    }
    return Witness(**{**fields, **changes})


def refuted(**changes):
    fields = {
        "subject": "laplace",
        "claim": PureDP(1.0),
        "relation": "replace one",
        "verdict": Verdict.REFUTED,
        "evidence": Evidence.STATISTICAL,
        "epsilon_lower": 1.62347,
        "delta_lower": 0.2,
        "witness": witness(),
        "samples": 23_400,
        "samples_to_refutation": 4_800,
        "pairs_tried": 12,
        "assumptions": (Says.STATELESS(subject="mechanism"),),
        "environment": {"elapsed": 1.5},
    }
    return AuditResult(**{**fields, **changes})


def clean(**changes):
    found = {
        "detectable_epsilon": 1.1904,
        "detectable_event": "an event of probability 0.5: the output is at least 0.2",
        "ceiling_epsilon": 9.31,
    }
    return refuted(
        **{
            "verdict": Verdict.NOT_REFUTED,
            "witness": None,
            "samples_to_refutation": None,
            "epsilon_lower": 0.89,
            "delta_lower": 0.0,
            **found,
            **changes,
        }
    )


def through_text(result):
    return AuditResult.from_json(layout(result.to_json()))


@pytest.mark.parametrize(
    "result",
    [
        refuted(),
        clean(),
        refuted(epsilon_lower=math.inf, log_wealth=-math.inf, epsilon_upper=math.nan),
        refuted(
            witness=witness(left=np.array([1.0, math.nan]), right=np.array([1.0, 2.0]), simplest=witness())
        ),
        refuted(witness=witness(distance=20, simplest=witness())),
        refuted(witness=witness(given=True, examples=(("[0]", "'a'"), ("raised KeyError: 3",)))),
        refuted(
            witness=witness(outputs=Outputs("it", (0.0, 0.5), ("none",), (3, 1), (0, 4), (3, 0), (0, 0))),
            wealth_course=Course((40, 90), (-0.5, 14.25)),
            search_course=Course((8, 16), (1.5, math.inf)),
        ),
        refuted(witness=witness(left=[object()], event=None, p_interval=None, q_interval=None, runs=0)),
        refuted(
            claim=PAC(0.1, 0.05), witness=None, parameters={"bounds": (0, 1), 3: {4}}, expected="refuted"
        ),
        AuditResult("m", None, Verdict.ERROR, Evidence.EXACT, "It raises."),
    ],
)
def test_a_result_comes_back_equal_and_to_the_same_bytes(result):
    again = through_text(result)
    assert again == result
    assert hash(again) == hash(result)
    assert layout(again.to_json()) == layout(result.to_json())
    assert AuditResult.from_json(json.loads(layout(result.to_json()))) == result


def test_every_field_but_the_environment_takes_part_in_equality():
    assert refuted(seed=1) != refuted()
    assert refuted(witness=witness(p=0.481)) != refuted()
    assert refuted(environment={"elapsed": 99.0}) == refuted()
    assert dataclasses.replace(refuted(), _subject=len) == refuted()


def test_the_result_holds_no_environment_and_no_subject():
    document = dataclasses.replace(refuted(), _subject=len).to_json()
    assert list(document) == ["schema", "result", "environment"]
    assert not {"environment", "_subject", "elapsed"} & set(document["result"])
    assert document["environment"] == {"elapsed": 1.5}


def test_the_example_of_schema_1_opens():
    result = load(EXAMPLE)
    assert result.verdict is Verdict.REFUTED
    assert result.claim == PureDP(1.0)
    assert result.witness.right == [0, 0, 0, 1]
    assert result.witness.event.contains(1.5)
    assert not result.witness.event.contains(1.4)
    assert result.witness.distance == 1  # older files have no distance, because there was only 1
    assert result.witness.simplest.left == ({"age": 3}, b"\x01")
    assert result.parameters["bounds"] == (0, math.inf)
    assert result.parameters["weights"].tolist() == [1.0, 2.0]
    assert result.environment == {"elapsed": 1.25, "python": "3.11.7", "jobs": 1}


def test_a_sentence_keeps_its_kind_in_a_file_and_one_of_schema_1_keeps_its_words():
    new, [old] = through_text(refuted()).assumptions, load(EXAMPLE).notes
    assert [(said, said.kind) for said in new] == [("the mechanism keeps no state between runs", "stateless")]
    assert (str(old), old.kind) == ("3 runs printed something; it was thrown away.", "")
    assert through_text(load(EXAMPLE)).notes == (old,)


def test_the_command_offers_a_seed_by_the_kinds_of_notes_and_not_by_their_words():
    def again(said):
        return full(refuted(notes=(said,))).partition("Again ")[2]

    for unseeded in (Says.OWN_RANDOMNESS, Says.LEARNER_NO_GENERATOR, Says.NO_GENERATOR, Says.UNSTEADY):
        assert "new runs" in again(unseeded())
        assert "with seed=0" in again(str(unseeded()))
    assert "with seed=0" in again(Says.PRINTS())


def test_other_processes_write_the_same_bytes():
    """Hash randomisation and the order of sets do not change the bytes."""
    code = (
        "from audit.results.result import *; from audit.results.saved import layout;"
        "w = Witness(set('abcdefgh'), frozenset('abcdefg'), None, 0.5, 0.1);"
        "print(layout(AuditResult('m', None, Verdict.REFUTED, Evidence.EXACT, witness=w).to_json()))"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1


def test_values_are_frozen_and_pickle():
    with pytest.raises(dataclasses.FrozenInstanceError):
        refuted().seed = 3
    assert pickle.loads(pickle.dumps(refuted())) == refuted()


def test_a_witness_knows_whether_it_can_be_drawn_again():
    assert witness().replayable
    assert not witness(left=[object()]).replayable
    assert not through_text(refuted(witness=witness(left=[object()]))).witness.replayable


def test_direction_names_the_database_of_p():
    turned = witness(direction="right")
    assert (turned.on_p, turned.on_q) == ([0, 1], [0, 0])
    assert "On right = [0, 1] the event" in str(refuted(witness=turned))


def damaged(edit):
    document = json.loads(layout(refuted().to_json()))
    edit(document)
    return json.dumps(document)


def with_number(field, written):
    """Return a result whose field holds this JSON text."""
    mark = "here"
    return damaged(lambda d: d["result"].update({field: mark})).replace(f'"{mark}"', written)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON at line 1 column 1"),
        ('{"schema": 1,\n "result": {', "not JSON at line 2 column"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        ("[]", "a saved result must be a JSON object; got a list."),
        ("{}", 'the key "schema" is missing'),
        ('{"schema": 3, "result": {}}', "schema must be at most 2, the newest this dp-audit reads; got 3."),
        ('{"schema": true, "result": {}}', "schema must be at most 2"),
        ('{"schema": 1, "result": NaN}', "NaN is not JSON"),
        ('{"schema": 1, "result": 3}', "result must be an object; got 3."),
        ("[" * 100_000, "nested too deeply."),
        (damaged(lambda d: d["result"].pop("verdict")), "result.verdict is missing."),
        (
            damaged(lambda d: d["result"].update(verdict="passed")),
            "result.verdict must be one of refuted, not ref",
        ),
        (damaged(lambda d: d["result"].update(verdict=["refuted"])), "result.verdict must be one of"),
        (
            damaged(lambda d: d["result"].update(wealth_course={"places": [1, 2], "values": [0.5]})),
            "result.wealth_course is damaged: its columns do not belong together.",
        ),
        (
            damaged(lambda d: d["result"].update(search_course={"places": [2, 1], "values": [0.5, 1.0]})),
            "result.search_course is damaged",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(outputs={"of": "it", "names": ["a"]})),
            "result.witness.outputs is damaged",
        ),
        (damaged(lambda d: d["result"].update(colour=1)), 'result has the unknown field "colour".'),
        (
            damaged(lambda d: d["result"].update(significance=5)),
            "result.significance must be a number strictly between 0 and 1; got 5.",
        ),
        (
            damaged(lambda d: d["result"].update(significance=0)),
            "result.significance must be a number strictly",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(p="half")),
            'result.witness.p must be a number; got "half".',
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(p=1.5)),
            "result.witness.p must be a number in [0, 1]",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(p_interval=[0])),
            "witness.p_interval must be a list of length 2",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(seed=[-1])),
            "result.witness.seed[0] must be a whole number",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(left={"$": "x"})),
            "result.witness.left has the unknown tag",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(event={"$": "event"})),
            "result.witness.event is not a valid",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(distance=0)),
            "result.witness.distance must be a whole number from 1 to 1,000,000; got 0.",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(distance=10**400)),
            "witness.distance must be a whole",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(examples=[["a"], [3]])),
            "result.witness.examples[1][0] must be text; got 3.",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(examples=[["a"]])),
            "witness.examples must be a list of length 2",
        ),
        (damaged(lambda d: d["result"].update(samples=1.5)), "result.samples must be a whole number"),
        (damaged(lambda d: d["result"].update(notes=["a", 3])), "result.notes[1] must be text; got 3."),
        (damaged(lambda d: d["result"].update(notes=[{"text": "a"}])), "result.notes[0].kind is missing."),
        (damaged(lambda d: d["result"].update(significance=True)), "result.significance must be a number"),
        (damaged(lambda d: d.update(environment=[])), "environment must be an object"),
        (
            with_number("epsilon_lower", "9" * 5000),
            "the number 99999999999999999999... has 5,000 digits; at most 4,300 can be read.",
        ),
        (with_number("epsilon_lower", "1e999999999"), "the number 1e999999999 is larger than any float."),
        (with_number("seed", "1, " + '"seed": 2'), 'the key "seed" occurs twice in one object.'),
        (
            damaged(lambda d: d["result"].update(epsilon_upper=10**400)),
            "epsilon_upper must be a number; got 1",
        ),
        (
            damaged(lambda d: d["result"].update(samples=10**30)),
            "samples must be a whole number from 0 to 9,2",
        ),
        (damaged(lambda d: d["result"].update(claim=3)), "result.claim must be a claim; got 3."),
        (
            damaged(lambda d: d["result"]["witness"].update(runs=10**12)),
            "witness.runs must be a whole number from 0 to 1,000,000,000; got 1000000000000.",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(seed=[0, 10**9, 1])),
            "witness.seed[1] must be a whole number from 0 to 1,000",
        ),
        (damaged(lambda d: d["result"]["witness"].update(event="always")), "event must be an event; got 'al"),
        (
            damaged(lambda d: d["result"]["witness"].update(left={"$": "fraction", "value": "1e999999999"})),
            "left is not a fraction",
        ),
        (
            damaged(lambda d: d["result"]["witness"].update(left={"$": "decimal", "value": "1e999999999"})),
            "left is not a decimal number",
        ),
        (damaged(lambda d: d["environment"].update(elapsed=10**400)), "environment.elapsed must be a number"),
    ],
)
def test_damage_is_named_in_one_line(text, message, tmp_path):
    path = tmp_path / "saved.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(CorruptFile) as caught:
        load(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_random_damage_never_ends_in_another_error():
    """Reading a damaged file gives a result or one of our errors.

    A byte at a random position is replaced, or the text is cut there.
    """
    text = layout(refuted(witness=witness(left=({1, 2}, b"x", np.array([1]), {3: 4}))).to_json()).encode()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(text), size=1500):
        broken = bytearray(text)
        broken[position] = rng.choice(np.frombuffer(b'{}[]",:0$nx\xff', dtype=np.uint8))
        for candidate in (bytes(broken), text[:position]):
            with contextlib.suppress(CorruptFile):
                AuditResult.from_json(candidate)


def test_saving_writes_whole_files_with_usual_permissions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "new" / "result.json"
    save(refuted(), path)
    save(clean(), path)
    assert load(path) == clean()
    assert [file.name for file in path.parent.iterdir()] == ["result.json"]
    plain = tmp_path / "plain"
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    save(refuted(), path)

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(AuditError, match="cannot be written: No space left on device"):
        save(clean(), path)
    assert load(path) == refuted()
    assert [file.name for file in tmp_path.iterdir()] == ["result.json"]


@pytest.mark.parametrize("name", ["file/page.html", "folder", "a\0b", "x" * 300])
def test_a_path_that_cannot_be_written_is_found_before_the_work(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for attempt in (check_writable, lambda path: write_text(path, "")):
        with pytest.raises(AuditError, match="cannot be written"):
            attempt(tmp_path / name)


def test_checking_creates_folders_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable(tmp_path / "a" / "b" / "page.html")
    assert list((tmp_path / "a" / "b").iterdir()) == []
    (tmp_path / "old.html").write_text("old")
    check_writable(tmp_path / "old.html")
    assert (tmp_path / "old.html").read_text() == "old"


# ----------------------------------------------------------------------------------------------- the texts


def flat(result):
    return " ".join(str(result).split())


def test_the_report_describes_the_witness_in_sentences():
    """The claim allows the event e·0.05 = 0.1359 on the left.

    On the right its probability is 0.05.
    """
    said = flat(refuted())
    assert said.startswith("REFUTED laplace PureDP(epsilon=1) under replace one ")
    assert (
        'On left = [0, 0] the event "the output is at least 1.5" happens with probability 0.48 (0.45–0.51); '
        "on right = [0, 1] with 0.05 (0.04–0.06). The claim allows at most e^ε·q = 0.136."
    ) in said
    assert "confidence 1 − 1e-06 separately, not jointly." in said
    assert "23,400 runs drawn, the claim was refuted after 4,800; 12 pairs tried" in said


@pytest.mark.parametrize(
    ("claim", "relation", "expected"),
    [
        # the limit is e^2·0.05; with δ there is also δ·(1 + e^0.1 + … + e^1.9) = δ·(e^2 − 1)/(e^0.1 − 1); at
        # ε = 0 the limit is q + 20·δ
        (PureDP(0.1), "replace-one", ("They are 20 records apart.", "e^(20ε)·q", 0.3694528)),
        (
            ApproximateDP(0.1, 1e-3),
            "replace-label",
            (
                "They are 20 neighbour steps apart.",
                "e^(20ε)·q + δ·(e^(20ε) − 1)/(e^ε − 1)",
                0.05 * math.exp(2) + 1e-3 * sum(math.exp(0.1 * i) for i in range(20)),
            ),
        ),
        (ApproximateDP(0.0, 0.01), "custom", ("They are 20 neighbour steps apart.", "q + 20δ", 0.25)),
    ],
)
def test_distant_databases_are_shown_with_the_bound_at_their_distance(claim, relation, expected):
    distant = refuted(claim=claim, relation=relation, witness=witness(distance=20))
    apart, formula, most = expected
    assert f"(0.04–0.06). {apart} At that distance the claim allows at most {formula} = {most:.3g}." in flat(
        distant
    )
    assert apart in short(distant).replace("\n", " ")


def test_lower_bounds_are_rounded_down_and_detectable_ones_up():
    assert "at least 1.62 " in flat(refuted(epsilon_lower=1.6299999))
    assert "catch ε ≥ 1.2 nine times" in flat(clean(detectable_epsilon=1.1900001))


def test_a_bound_that_refutes_is_shown_above_the_claim_however_near_it_is():
    near = refuted(claim=PureDP(1.0986), epsilon_lower=1.0991)
    assert "at least 1.0991 (claimed 1.0986)" in flat(near)
    assert "ε ≥ 1.0991" in line(near)
    assert "needs ε ≥ 1.0991" in short(near)


def test_not_refuted_says_that_it_is_no_proof_and_what_is_detectable():
    said = flat(clean())
    assert "This is not a proof." in said
    assert (
        "Audits like this one catch ε ≥ 1.2 nine times in ten on one event of one pair, "
        "an event of probability 0.5: the output is at least 0.2. "
        "They may miss a smaller ε there, and a larger one on other events or pairs."
    ) in said
    assert "With this many runs no audit can certify more than ε = 9.31." in said
    assert "an ε of" not in line(clean())
    assert "catches ε ≥ 1.2 on one event" in line(clean())


def test_each_of_two_bounds_names_the_value_of_the_other_number():
    """The bound 0 on ε holds at δ = 0.05, and the bound 0.025 on δ at ε = 2.

    Together the two numbers are not a claim.
    """
    claim = ApproximateDP(2.0, 0.05)
    exact = flat(clean(claim=claim, evidence=Evidence.EXACT, epsilon_lower=0.0, delta_lower=0.025))
    assert "The largest ε at the claimed δ over these pairs is 0 (claimed 2); the largest δ at the" in exact
    sampled = clean(claim=claim, delta_lower=0.01)
    assert (
        "The true ε at the claimed δ is at least 0.89 (claimed 2); the true δ at the claimed ε is at"
        in flat(sampled)
    )
    assert "ε ≥ 0.89 at the claimed δ, δ ≥ 0.01 at the claimed ε (claimed 0.05: 0.2×)" in line(sampled)
    assert "The true ε is at least 0.89 (claimed 1)" in flat(clean(delta_lower=0.01))


def test_proved_names_its_family():
    family = "all 12 neighbouring pairs of size 3 over {0, 1}"
    exact = clean(verdict=Verdict.PROVED, evidence=Evidence.EXACT, family=family, tolerance=1e-9)
    assert f"proved over {family}" in flat(exact)
    assert "The proof covers only that family." in flat(exact)


def test_exact_laws_that_prove_nothing_say_why():
    """The first result compared only some pairs.

    The second result compared all pairs of a family by continuous laws, in floating point.
    """
    some = flat(clean(evidence=Evidence.EXACT, pairs_tried=512))
    assert "Other pairs were not compared: this is not a proof." in some
    family = "the one neighbouring pair (replace-one) of size 1 over [0, 1]"
    complete = {"family": family, "pairs_tried": 1, "pairs_total": 1, "tolerance": 1e-9}
    whole = flat(clean(evidence=Evidence.EXACT, **complete))
    assert f"satisfy the claim on 1 pair ({family})" in whole
    assert "continuous laws (and products) were compared in floating point, to a tolerance of 1e-09" in whole
    assert "Other pairs" not in whole


def test_a_tiny_exact_excess_is_shown_with_the_digits_it_needs():
    tight = witness(p=0.5000004, q=0.25, p_interval=None, q_interval=None, runs=0)
    exact = refuted(claim=PureDP(math.log(2)), epsilon_lower=math.log(2) + 8e-7, witness=tight)
    said = flat(dataclasses.replace(exact, evidence=Evidence.EXACT))
    assert "probability 0.5000004;" in said
    assert "e^ε·q = 0.5." in said
    assert "0.693148 (claimed 0.693147)" in said


def test_two_numbers_with_the_same_first_digits_are_shown_with_more():
    left, right = [10**40], [10**40 + 1]
    said = flat(refuted(witness=witness(left=left * 9, right=[*left * 8, *right])))
    assert f"record 8: {left[0]} → {right[0]} (8 others unchanged)." in said
    assert f"right = {10**80 + 1} with" in flat(refuted(witness=witness(left=10**80, right=10**80 + 1)))


def test_an_unmeasured_loss_is_described_in_words():
    assert "No privacy loss was measured: the outputs hardly differed" in flat(clean(epsilon_lower=0.0))


@pytest.mark.parametrize("direction", ["left", "right"])
def test_the_change_from_left_to_right_is_shown_before_the_databases(direction):
    left = list(range(1000))
    replaced, shorter, longer, inside = left.copy(), left[:500] + left[501:], [*left, 7], ["y", *left]
    replaced[500] = "x"
    for right, said in (
        (replaced, "record 500: 500 → 'x' (999 others unchanged)."),
        (shorter, "record 500 removed: 500."),
        (left[:-1], "record 999 removed: 999."),
        (longer, "record 1000 added: 7."),
        (inside, "record 0 added: 'y'."),
    ):
        told = flat(refuted(witness=witness(left=left, right=right, direction=direction)))
        assert f"From left to right, {said} On {direction} = [" in told
        assert f"] (length {len(left if direction == 'left' else right):,})" in told
        assert "= the same except for that record with 0.05" in told
    pair = witness(left=[10, 10], right=[0, 10])
    assert "From left to right, record 0: 10 → 0 (1 other unchanged). On left = [10, 10]" in flat(
        refuted(witness=pair)
    )


def test_databases_that_differ_in_more_than_a_record_are_shown_without_a_change():
    for left, right in (([1, 2], [3, 4]), ({"a": 1}, {"a": 2}), ([1], [1, 2, 3]), (1.0, 2.0), ([1], (2,))):
        assert "From left to right" not in str(refuted(witness=witness(left=left, right=right)))
    long = flat(refuted(witness=witness(left=[1] * 50, right=[2] * 70)))
    assert "… (length 50)" in long
    assert "… (length 70)" in long


EXAMPLES = (("[0, 1, -1, -1]", "[0, 0, 1, -1]"), ("9", "8"))


def test_a_witness_shows_what_outputs_look_like():
    said = flat(refuted(witness=witness(examples=EXAMPLES)))
    assert "Outputs on left: [0, 1, -1, -1], [0, 0, 1, -1], …; on right: 9, 8, …" in said
    exact = witness(examples=EXAMPLES, runs=0, p_interval=None, q_interval=None)
    told = flat(refuted(evidence=Evidence.EXACT, witness=exact))
    assert "Most probable outputs on left: [0, 1, -1, -1], [0, 0, 1, -1]; on right: 9, 8." in told
    assert "outputs on" not in flat(refuted()).lower()


def test_a_witness_saved_before_there_were_examples_opens():
    document = json.loads(layout(refuted().to_json()))
    for name in ("examples", "given"):
        del document["result"]["witness"][name]
    read = AuditResult.from_json(document)
    assert (read.witness.examples, read.witness.given) == (((), ()), False)


def test_the_text_says_why_no_simpler_pair_is_shown():
    simpler = witness(left=[0], right=[1])
    for count, said in (
        (None, "No simpler pair was shown to fail."),
        (0, "No simpler pair was tried: the domain has none, or too few runs were left for it."),
        (1, "The one simpler pair tried did not fail."),
        (37, "None of the 37 simpler pairs tried failed."),
    ):
        one = witness(simpler_tried=count)
        assert said in flat(refuted(witness=dataclasses.replace(one, simplest=one)))
    given = refuted(witness=witness(given=True, simplest=witness(given=True)))
    assert "The pair was given; the audit did not look for a simpler one." in flat(given)
    exact = refuted(evidence=Evidence.EXACT, witness=witness(runs=0))
    assert "This is the worst pair compared; the audit did not look for a simpler one." in flat(exact)
    for silent in (refuted(witness=witness(simplest=simpler)), clean(), refuted(witness=None)):
        assert "simpler" not in str(silent).lower()


HOSTILE = "x\x1b[31m\u202e\nREFUTED " * 60
LONG = tuple(f"{i} {HOSTILE}" for i in range(40))


@pytest.mark.parametrize("verdict", list(Verdict))
@pytest.mark.parametrize("evidence", list(Evidence))
def test_the_report_is_short_plain_and_never_says_passed(verdict, evidence):
    huge = witness(
        left=[HOSTILE] * 100,
        right=[HOSTILE] * 99,
        event=HOSTILE,
        simplest=witness(left=[HOSTILE]),
        examples=(("word " * 40,) * 3,) * 2,
    )
    result = clean(
        subject=HOSTILE,
        relation=HOSTILE,
        verdict=verdict,
        evidence=evidence,
        reason=HOSTILE,
        witness=huge,
        family=HOSTILE,
        detectable_event=HOSTILE,
        fault=Fault(FaultKind.UNKNOWN, None, "word " * 99),
        assumptions=LONG,
        notes=LONG,
        not_tested=LONG,
        target=HOSTILE,
        unfinished=3,
    )
    for text in (f"{result}", f"{clean(verdict=verdict, evidence=evidence, witness=witness())}"):
        assert len(text.splitlines()) <= MOST_LINES + 2 * MOST_LISTED + MOST_UNTESTED
        assert all(c == "\n" or c.isprintable() for c in text)
        assert "passed" not in text.lower()
        assert text.splitlines()[0].startswith(f"{verdict.name}  ")
        assert any(line.startswith("  Runs ") for line in text.splitlines())
        assert "Again " in text
    assert "\n  Assumes" in f"{result}"
    assert "\n  Notes" in f"{result}"  # however long the text before them is


def test_all_that_was_not_tested_is_shown_however_much_else_there_is():
    many = [Says.OTHER_PAIRS(), *(f"the {word} " + "words " * 30 for word in ("first", "tenth", "last"))]
    text = " ".join(str(clean(assumptions=LONG, notes=LONG, not_tested=tuple(many))).split())
    assert all(" ".join(said.split()) in text for said in many)


@pytest.mark.parametrize("columns", [40, 72, 400])
def test_the_text_is_as_wide_as_the_terminal_and_its_command_stays_whole(monkeypatch, columns):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", str(columns))
    command = "dp-audit run 'my own.py:f' --epsilon 1 --records '[0, 1,  2]' --set 'k=a b' --pair '[0]' '[1]'"
    lines = str(refuted(environment={"command": command})).splitlines()
    assert any(line.endswith(command) for line in lines)
    assert {len(line) for line in lines[1:] if command not in line} <= set(range(min(columns, 120) + 1))
    assert "drawn after the event was fixed" in " ".join(" ".join(lines).split())  # nothing is cut


@pytest.mark.parametrize(
    "claim", [PureDP(0.0), PureDP(1e4), ApproximateDP(1.0, 0.1), PAC(0.1, 0.1), None, "claim"]
)
def test_any_claim_can_be_printed(claim):
    assert str(refuted(claim=claim)).startswith("REFUTED  laplace  ")
    assert str(clean(claim=claim)).startswith("NOT_REFUTED  laplace  ")


def test_a_refutation_is_raised_on_less_than_a_screen():
    with pytest.raises(PrivacyRefuted) as caught:
        refuted(
            witness=witness(event=HOSTILE, left=[HOSTILE], right=[HOSTILE]), target="laplace"
        ).raise_if_refuted()
    lines = str(caught.value).splitlines()
    assert 6 <= len(lines) <= 22
    assert all(len(line) <= 76 for line in lines[1:-1])
    assert lines[0] == "laplace does not satisfy its claim: PureDP(epsilon=1) under replace one is refuted."
    assert lines[-1].startswith("Again: dp-audit run laplace --seed 0")
    assert "Hint: a correct claim needs ε ≥ 1.62, perhaps more; check the sensitivity" in lines[-3]


def test_a_fault_is_in_the_report_and_the_file_and_replaces_the_hint():
    words = "On the same random draws the output moves by 2."
    found = refuted(fault=Fault(FaultKind.NOISE_TOO_SMALL, 2.0, words))
    assert f"  Fault        noise too small: {words}" in str(found)
    assert found.to_json()["result"]["fault"] == {"kind": "noise too small", "factor": 2.0, "words": words}
    assert AuditResult.from_json(found.to_json()) == found
    with pytest.raises(PrivacyRefuted, match="Fault: noise too small: On the same"):
        found.raise_if_refuted()


def test_an_unknown_fault_leaves_the_hint():
    with pytest.raises(PrivacyRefuted, match="Hint: a correct claim needs"):
        refuted(fault=Fault(FaultKind.UNKNOWN, None, "No draws.")).raise_if_refuted()


def test_a_result_without_a_fault_is_saved_as_before():
    assert "fault" not in refuted().to_json()["result"]


def test_a_damaged_fault_is_named():
    document = refuted(fault=Fault(FaultKind.FIXED_SEED)).to_json()
    document["result"]["fault"]["kind"] = "bad luck"
    with pytest.raises(CorruptFile, match=r"result\.fault\.kind"):
        AuditResult.from_json(document)


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict is not Verdict.REFUTED])
def test_nothing_is_raised_without_a_refutation(verdict):
    result = clean(verdict=verdict)
    assert result.raise_if_refuted() is result
    assert not result.refuted


def test_replay_calls_the_replayer(monkeypatch):
    calls = []
    replayer = type(sys)("audit.verdict.replay")
    replayer.replay_witness = lambda result, subject, *, fresh, trust: (
        calls.append((result, subject, fresh, trust)) or result
    )
    monkeypatch.setitem(sys.modules, "audit.verdict.replay", replayer)
    result = refuted()
    assert result.replay() is result
    assert result.replay(len, fresh=True, trust=True) is result
    assert calls == [(result, None, False, False), (result, len, True, True)]


def test_bounds_with_a_gap_are_not_called_exact():
    exact = {"evidence": Evidence.EXACT, "verdict": Verdict.NOT_REFUTED, "claim": PureDP(7.0)}
    apart = AuditResult(
        "sums", relation="local", epsilon_lower=6.4623536, epsilon_upper=6.4623594, delta_upper=0.0, **exact
    )
    same = AuditResult(
        "sums", relation="local", epsilon_lower=0.5, epsilon_upper=0.5, delta_upper=0.0, **exact
    )
    assert "lies between 6.46235 and 6.46236 (claimed 7)" in story.bounds(apart)
    assert "Both are exact" not in story.bounds(apart)
    assert "Both are exact" in story.bounds(same)
    assert AuditResult.from_json(apart.to_json()) == apart


def test_no_seed_is_offered_if_it_does_not_reproduce_the_runs():
    noise = np.random.default_rng(3)
    result = audit_privacy(
        lambda database: sum(database) + noise.laplace(),
        claim=PureDP(0.3),
        records=[0, 1],
        size=2,
        budget=40_000,
    )
    said = " ".join(str(result).split())
    assert result.refuted
    assert "the seed does not reproduce its runs" in said
    assert "Again result.replay(), which draws new runs" in said
    assert "the same runs" not in " ".join(python_lines(result))


def test_a_result_is_a_page_a_notebook_cell_a_line_and_a_row(tmp_path):
    hostile = dataclasses.replace(refuted(), subject="<script>alert(1)</script>")
    met = UtilityResult("learner", PAC(0.1, 0.05), Verdict.NOT_REFUTED, Evidence.STATISTICAL, met=True)
    for result in (hostile, met):
        page = tmp_path / "page.html"
        result.to_html(page)
        assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
        for shown in (page.read_text(encoding="utf-8"), result._repr_html_()):
            assert "<script>alert" not in shown
            assert html.escape(result.subject) in shown
    assert hostile.summary().startswith(
        "REFUTED  <script>alert(1)</script>  PureDP(epsilon=1) under replace one: "
    )
    assert met.summary().startswith("NOT REFUTED  learner  PAC(alpha=0.1, beta=0.05): failure probability")
    with pytest.raises(AuditError, match="cannot be written"):
        met.to_html("/dev/null/page.html")
    frame = audits_to_frame([hostile, met])
    assert list(frame["verdict"]) == ["refuted", "not refuted"]
    assert list(frame["kind"]) == ["privacy", "utility"]
    assert frame["epsilon"][0] == frame["alpha"][1] * 10 == 1.0
    assert np.isnan(frame["alpha"][0])
    with pytest.raises(AuditError, match="takes results of audits; got dict"):
        audits_to_frame([met.to_json()])


def test_without_pandas_a_frame_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(AuditError, match="pip install pandas"):
        audits_to_frame([])


def test_the_message_of_a_failed_test_shows_the_simplest_pair():
    simplest = witness(left=[71, 72], right=[71, 73])
    told = short(refuted(witness=witness(left=[81, 82, 83], right=[81, 82, 84], simplest=simplest)))
    assert "73" in told
    assert "84" not in told
    assert "84" in short(refuted(witness=witness(left=[81, 82, 83], right=[81, 82, 84])))
