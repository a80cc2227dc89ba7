"""Refuted pairs that the next audit tries first.

The same pairs make the same bytes, and no pair outside the domain is tried.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from audit import PAC, AuditResult, PureDP, UtilityResult, audit_privacy
from audit.codec import files
from audit.doors.cli import main
from audit.errors import AuditError, CorruptFile, InvalidKind
from audit.privacy import make_task
from audit.results.remembered import first_batch, remembering
from audit.results.result import Evidence, Verdict
from audit.results.saved import save

CLAIM = PureDP(epsilon=1.0)
RARE = ([17, 42, 5, 31], [17, 42, 5, 30])
WIDE = {"records": list(range(60)), "size": 4, "budget": 1_000, "recorded": False}


def rarely_leaks(database, rng):
    """Return a coin, or "leak" on one of 60^4 databases."""
    return "leak" if database == RARE[0] else int(rng.integers(0, 2))


def audited(**options):
    return audit_privacy(rarely_leaks, CLAIM, **{**WIDE, **options})


@pytest.fixture
def folder(tmp_path):
    """Return a folder that holds one refutation, found with the pair given by hand."""
    (tmp_path / "found").mkdir()
    found = audited(pairs=[RARE], remember=tmp_path / "found")
    assert found.refuted
    assert found.remembered == ()
    return tmp_path / "found"


def test_a_remembered_pair_is_tried_first_and_the_result_repeats_it_with_the_same_seed(folder, tmp_path):
    """Without the remembered pair the audit meets the leak with probability below 1e-3."""
    assert not audited().refuted
    again = audited(remember=folder)
    assert again.refuted
    assert again.remembered[0] == RARE
    assert "Tried first  " in str(again)
    assert "[17, 42, 5, 31] and [17, 42, 5, 30]" in str(again)
    assert "seed=0 and remember=result.remembered" in str(again)
    save(again, tmp_path / "again.json")
    assert AuditResult.from_json((tmp_path / "again.json").read_text()) == again
    for kept in (again.remembered, tmp_path / "again.json"):
        assert audited(remember=kept).to_json()["result"] == again.to_json()["result"]
    assert len(list(folder.iterdir())) == 1


def test_an_audit_with_nothing_to_remember_is_the_same_audit(tmp_path):
    (tmp_path / "none").mkdir()
    assert audited(remember=tmp_path / "none").to_json()["result"] == audited().to_json()["result"]
    assert list((tmp_path / "none").iterdir()) == []


@pytest.mark.parametrize(
    "options",
    [
        {"records": list(range(40))},
        {"size": 3},
        {"valid": lambda database: 5 not in database},
        {"pairs": [([1], [2])], "records": None, "size": None},
        {"relation": "add-or-remove-one", "size": (3, 4)},
    ],
    ids=["other records", "other size", "valid", "other pairs", "other relation"],
)
def test_a_pair_outside_the_domain_is_not_tried(folder, options):
    assert audited(remember=folder, **options).remembered == ()
    assert audited(remember=[RARE], **options).remembered == ()


def test_arrays_are_outside_a_domain_of_lists():
    arrays = tuple(map(np.array, RARE))
    assert audited(remember=[arrays]).remembered == ()
    assert len(audited(remember=[arrays], pairs=[arrays], records=None, size=None).remembered) == 1


def test_the_pairs_of_another_subject_are_not_tried(folder):
    def coin(database, rng):
        return int(rng.integers(0, 2))

    assert audit_privacy(coin, CLAIM, remember=folder, **WIDE).remembered == ()


def test_a_continued_audit_keeps_its_remembered_pairs(tmp_path):
    def fair(database, rng):
        return int(rng.integers(0, 2))

    begun = audit_privacy(fair, CLAIM, remember=[RARE], **WIDE)
    assert begun.remembered == (RARE,)
    saved = AuditResult.from_json(begun.to_json(extend=True))
    gone_on = audit_privacy(fair, CLAIM, extend=saved, remember=tmp_path, **WIDE)
    assert gone_on.remembered == (RARE,)
    assert gone_on.samples > begun.samples


def test_runs_come_from_another_place_of_the_seed_tree_for_other_pairs():
    """The runs by which a pair was chosen are not used again for bets."""
    task = make_task(rarely_leaks, CLAIM, **WIDE)
    sets = [[([a, 1, 2, 3], [a, 1, 2, 4])] for a in range(20)]
    places = {first_batch(remembering(task, each, None)) for each in sets}
    assert first_batch(task) == 0
    assert 0 not in places
    assert len(places) > 15
    assert max(places) <= 2**30


UTILITY = UtilityResult("learner", PAC(0.1, 0.1), Verdict.ERROR, Evidence.STATISTICAL).to_json()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"schema": 2, "res', "not JSON at line 1"),
        ('{"name": "a package"}', 'the key "schema" is missing: this is not a saved audit result'),
        (json.dumps(UTILITY), "utility audit"),
        ("\x00\xff", "not JSON"),
    ],
    ids=["cut", "foreign", "utility", "binary"],
)
def test_a_file_that_is_not_a_saved_refutation_is_named_in_one_line(tmp_path, content, words):
    (tmp_path / "odd.json").write_text(content)
    with pytest.raises(AuditError) as caught:
        audited(remember=tmp_path)
    assert words in str(caught.value)
    assert "odd.json" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_anything_but_a_place_or_pairs_is_refused():
    with pytest.raises(InvalidKind, match=r"The `remember` must be a folder.*; got 3"):
        audited(remember=3)
    with pytest.raises(AuditError, match=r"Each of the `remember` pairs must be \(left, right\); got 1"):
        audited(remember=[1])
    with pytest.raises(AuditError, match="cannot be written"):
        audited(remember="/dev/null/found")


def test_damaged_pairs_of_a_result_are_named(folder):
    document = audited(remember=folder).to_json()
    document["result"]["remembered"] = [1]
    with pytest.raises(CorruptFile, match=r"result\.remembered must be pairs"):
        AuditResult.from_json(document)


def test_a_full_disk_loses_no_refutation(tmp_path, monkeypatch):
    def full(path, text):
        raise files.Unwritable(f"{path} cannot be written: No space left on device.")

    monkeypatch.setattr("audit.results.saved.write_text", full)
    found = audited(pairs=[RARE], remember=tmp_path)
    assert found.refuted
    assert [note.kind for note in found.notes if "No space left" in note] == ["not-remembered"]


@pytest.mark.usefixtures("in_process")
def test_the_command_line_remembers_but_keeps_no_refutations_of_mutations(tmp_path, monkeypatch, capsys):
    always = ("--remember", "found", "--seed", "1", "--jobs", "1", "--no-recorded")

    def run(*options):
        with pytest.raises(SystemExit) as ended:
            main(["run", "mine.py:Count", *always, *options])
        return ended.value.code

    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(
        "from audit import PureDP\n\n\nclass Count:\n    claim, records, size = PureDP(1.0), (0, 1), 2\n\n"
        "    def __call__(self, database, rng):\n        return sum(database) + rng.laplace(scale=1.0)\n"
    )
    assert run("--budget", "3000", "--mutate") == 0
    assert "0.5 × ε = 0.5        REFUTED" in capsys.readouterr().out
    assert list(Path("found").iterdir()) == []
    assert run("--budget", "3000", "--epsilon", "0.2") == 1
    shown = capsys.readouterr().out
    assert "Tried first" not in shown
    assert "--remember" not in shown
    assert run("--budget", "3000", "--epsilon", "0.3") == 1
    shown = capsys.readouterr().out
    assert re.search("Tried first  [12] remembered pair", shown)
    assert "--remember found" in shown
