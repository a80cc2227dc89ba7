"""`dp-audit suite`: what it prints and saves, how it exits and resumes."""

import json
from importlib import import_module
from pathlib import Path

import pytest

from audit.catalogue import Entry
from audit.claims import PureDP

# This module must import the true `load_catalogue` before the fixture `suite` replaces it.
import_module("audit.subject.targets")


def test_a_name_means_its_entry_and_not_those_that_contain_it(suite):
    entries = [entry("coin", lambda: coin), entry("coin-leaky", lambda: leak)]
    assert "1 audit, 1 as expected" in suite(entries, "coin")[1]
    assert "2 audits, " in suite(entries, "coi")[1]


def leak(database, rng):
    return database[0]


def coin(database, rng):
    return int(rng.integers(0, 2))


def failing(database, rng):
    raise RuntimeError("the backend is down")


OPTIONS = {"claim": PureDP(0.1), "pairs": [([0], [1])], "budget": 1000}


def entry(name, factory, expected="not refuted"):
    return Entry(name, factory, options=OPTIONS, expected=expected, reference="nowhere", summary="for a test")


@pytest.fixture
def suite(folder, call, monkeypatch):
    """Return a function that runs the suite on given entries."""

    def run(entries, *arguments):
        monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: entries)
        # other processes cannot find entries that a test defines
        return call("suite", "--jobs", "1", *arguments)

    return run


def test_a_suite_that_finds_what_is_expected_exits_0(suite):
    entries = [entry("fair", lambda: coin), entry("leaky", lambda: leak, "refuted")]
    code, out, err = suite(entries, "--html", "page/index.html")
    assert (code, err) == (0, "")
    assert "2 audits, 2 as expected; total significance spent: 2e-06" in out
    assert sorted(path.name for path in Path("page/results").iterdir()) == ["fair.json", "leaky.json"]
    page = Path("page/index.html").read_text()
    assert "fair" in page
    assert "leaky" in page


@pytest.mark.parametrize(
    ("mechanism", "expected", "code"),
    [(leak, "not refuted", 1), (coin, "refuted", 1), (failing, "not refuted", 3), (failing, "refuted", 3)],
)
def test_a_suite_exits_by_what_was_expected(suite, mechanism, expected, code):
    assert suite([entry("first", lambda: coin), entry("second", lambda: mechanism, expected)])[0] == code


def test_an_entry_that_cannot_be_built_is_an_error_and_the_others_go_on(suite):
    def unbuildable():
        raise ValueError("no such\ntable")

    code, out, _ = suite([entry("bad", unbuildable), entry("fair", lambda: coin)], "--json", "all.json")
    assert code == 3
    assert "ValueError: no such table" in out
    results = json.loads(Path("all.json").read_text())
    assert [document["result"]["verdict"] for document in results] == ["error", "not refuted"]


def test_each_result_is_on_disk_before_the_next_audit_starts(suite):
    def second():
        assert Path("results/first.json").exists()
        return coin

    assert suite([entry("first", lambda: coin), entry("second", second)], "--json", "results")[0] == 0


def test_an_interrupted_suite_keeps_and_reports_what_is_finished(suite):
    def interrupted():
        raise KeyboardInterrupt

    entries = [entry("finished", lambda: coin), entry("stopped", interrupted), entry("never", lambda: coin)]
    code, out, err = suite(entries, "--html", "index.html")
    assert code == 130
    assert "2 not audited" in out
    assert err == "interrupted; 1 of 3 audits saved in results; the same command resumes\n"
    page = " ".join(Path("index.html").read_text().split())
    assert "The suite was interrupted: 2 of 3 audits are missing." in page
    assert "<bdi>stopped, never</bdi>" in page
    assert page.count("<article") == 1
    assert [path.name for path in Path("results").iterdir()] == ["finished.json"]


@pytest.mark.parametrize("place", ["results", "all.json"])
def test_the_same_command_resumes_a_suite_and_audits_what_changed(suite, place):
    def entries(second, **options):
        def first():
            with Path("made").open("a") as made:
                made.write("1")
            return coin

        return [entry("first", first), Entry("second", second, options={**OPTIONS, **options})]

    def interrupted():
        raise KeyboardInterrupt

    assert suite(entries(interrupted), "--json", place)[0] == 130
    code, out, _ = suite(entries(lambda: coin), "--json", place)
    assert (code, Path("made").read_text()) == (0, "1")
    assert out.startswith("1 of 2 audits were saved before, with the same code\nNOT REFUTED   first ")
    assert "2 audits, 2 as expected" in out
    _, changed, _ = suite(entries(lambda: coin, seed=1), "--json", place)
    assert changed.startswith("1 of 2 audits were saved before")
    suite(entries(lambda: coin, seed=1), "--json", place, "--seed", "2")
    assert Path("made").read_text() == "11"
    suite([entry("third", lambda: coin)], "--json", place)  # what another suite saved there stays
    if place == "results":
        assert len([*Path(place).iterdir()]) == 3
    else:
        assert len(json.loads(Path(place).read_text())) == 3


def test_a_file_of_several_results_in_the_folder_is_replaced(suite):
    entries = [entry("fair", lambda: coin), entry("leaky", lambda: leak, "refuted")]
    suite(entries, "--json", "results/fair.json")
    assert len(json.loads(Path("results/fair.json").read_text())) == 2
    code, out, err = suite(entries, "--json", "results", "--seed", "2")
    assert (code, err, "2 audits, 2 as expected" in out) == (0, "", True)
    assert json.loads(Path("results/fair.json").read_text())["result"]["subject"] == "fair"


def test_a_suite_of_a_pattern_audits_what_matches(suite):
    entries = [entry("fair-coin", lambda: coin), entry("leaky", lambda: leak)]
    code, out, _ = suite(entries, "fair")
    assert code == 0
    assert "leaky" not in out
