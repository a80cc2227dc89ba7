"""`dp-audit replay` draws saved refutations again."""

from pathlib import Path

import pytest

PAIR = ["--pair", "[0]", "[1]"]
BRIEF = ["--epsilon", "0.1", *PAIR, "--budget", "1000"]
RUNS = {"leak": [], "Response": ["--set", "keep=0.99"], "coin": []}
_SAVED = {}


def test_a_saved_refutation_is_reproduced(folder, call):
    call("run", "mine.py:Response", "--set", "keep=0.99", *BRIEF, "--json", "w.json")
    code, out, err = call("replay", "w.json", "--trust")
    assert (code, err) == (1, "")
    assert "the saved counts were reproduced exactly" in out
    assert call("replay", "w.json", "--fresh", "--trust")[0] == 1


def test_a_refutation_is_not_reproduced_by_a_fixed_mechanism(folder, call):
    call("run", "mine.py:leak", *BRIEF, "--json", "w.json")
    code, out, _ = call("replay", "w.json", "mine.py:coin", "--fresh")
    assert code == 0
    said = " ".join(out.split())
    assert said.startswith("NOT_REFUTED coin ")
    assert "NOT REPRODUCED: these runs do not confirm the saved refutation of leak: about " in said
    assert (
        "runs on each side tested the saved event on the saved pair. No other event or pair was tried."
        in said
    )
    assert "A/A" not in said
    assert "Again dp-audit replay w.json mine.py:coin --fresh" in said


@pytest.fixture
def witnesses(folder, call):
    """Save two refutations and a result without a refutation.

    Each audit runs only once.
    """
    for name, options in RUNS.items():
        path = Path(f"{name.lower()}.json")
        if name not in _SAVED:
            call("run", f"mine.py:{name}", *options, *BRIEF, "--json", str(path))
            _SAVED[name] = path.read_text()
        path.write_text(_SAVED[name])


def test_several_refutations_are_replayed_in_a_line_each(witnesses, call):
    code, out, err = call("replay", "leak.json", "response.json", "--trust")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines[:2]] == ["leak.json", "response.json"]
    assert all("REFUTED" in line for line in lines[:2])
    assert lines[2] == "2 refutations replayed: 2 stand, 0 do not, 0 could not be replayed"


def test_several_refutations_may_be_replayed_on_one_target(witnesses, call):
    code, out, _ = call("replay", "leak.json", "response.json", "mine.py:coin", "--fresh")
    assert code == 0
    assert out.splitlines()[-1] == "2 refutations replayed: 0 stand, 2 do not, 0 could not be replayed"


def test_a_refutation_that_cannot_be_replayed_does_not_stop_the_others(witnesses, call):
    Path("gone.json").write_text(Path("leak.json").read_text().replace("mine.py:leak", "mine.py:gone"))
    code, out, _ = call("replay", "gone.json", "response.json", "--trust")
    assert code == 1
    assert out.splitlines()[0].startswith(
        f"gone.json: not replayed: `{Path('mine.py').resolve()}` has no `gone`"
    )
    assert "1 stand, 0 do not, 1 could not be replayed" in out
    assert call("replay", "gone.json", "leak.json", "mine.py:coin")[0] == 0
    Path("also_gone.json").write_text(Path("gone.json").read_text())
    assert call("replay", "gone.json", "also_gone.json", "--trust")[0] == 3


@pytest.mark.parametrize("held", ["{", None, '{"schema": 1, "result": {"seed": ' + "9" * 5000 + "}}"])
def test_a_damaged_file_does_not_stop_the_others(witnesses, call, held):
    if held is not None:
        Path("bad.json").write_text(held)
    code, out, err = call("replay", "bad.json", "leak.json", "response.json", "--trust")
    assert (code, err) == (1, "")
    lines = out.splitlines()
    assert lines[0].startswith("bad.json: not replayed: ")
    assert lines[-1].endswith("1 could not be replayed")
    assert len(lines) == 4


def test_a_file_without_a_refutation_among_several_is_named(witnesses, call):
    code, out, err = call("replay", "coin.json", "leak.json", "--trust")
    assert (code, err) == (1, "")
    assert out.startswith("coin.json: not replayed: holds no refutation, so there is nothing to replay.\n")


def test_a_result_without_a_refutation_cannot_be_replayed(folder, call):
    call("run", "mine.py:coin", *BRIEF, "--json", "w.json")
    code, _, err = call("replay", "w.json")
    assert code == 2
    assert "holds no refutation" in err
