"""Saved files: distinct names, links and devices, and a full disk."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from audit.catalogue import Entry
from audit.claims import PureDP
from audit.codec.files import Unwritable, check_writable, file_name, write_text
from audit.doors.cli import main
from audit.doors.cli.suite import Store, planned
from audit.findings import Finding
from audit.results.result import AuditResult, Evidence, Verdict

pytest_plugins = ["pytester"]

OPTIONS = {"claim": PureDP(0.1), "pairs": [([0], [1])], "budget": 400}


def leak(database, rng):
    return database[0]


def coin(database, rng):
    return int(rng.integers(0, 2))


@pytest.fixture
def call(tmp_path, monkeypatch, capsys, in_process):
    """Return a function that runs the command in a separate folder.

    It returns exit code, stdout and stderr.
    """
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def leak(database, rng):\n    return database[0]\n")

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([*map(str, arguments)])
        return (left.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def full_disk(monkeypatch):
    """Return a function that makes the disk full after this many files."""

    def after(files):
        left, replace = [files], Path.replace

        def full(path, target):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, "No space left on device")
            return replace(path, target)

        monkeypatch.setattr(Path, "replace", full)

    return after


# ------------------------------------------------------------------------------------------------- names

NAMES = [
    "a/b",
    "a_b",
    "a b",
    "a\\b",
    "é",
    "e",
    "è",
    "ж" * 300,
    "ж" * 301,
    "x" * 300,
    "x" * 301,
    "",
    ".",
    "..",
    "A",
    "a",
]
LOOKALIKE = file_name("a/b", ending="")


def test_different_texts_name_different_files(tmp_path):
    texts = [*NAMES, LOOKALIKE, "\ud800", *(file_name(name, ending="") for name in NAMES)]
    for text in {*texts}:
        # open("x") refuses a name that exists, and one that is too long
        (tmp_path / file_name(text)).open("x").close()
    assert len([*tmp_path.iterdir()]) == len({*texts})


@pytest.mark.parametrize("name", ["laplace", "dp-sum", "k=2", "v1.0_x"])
def test_plain_names_do_not_change(name):
    assert file_name(name) == f"{name}.json"


TOLD = """
    import pytest
    from audit.claims import PureDP

    OPTIONS = {"pairs": [([0], [1])], "budget": 1000, "confirm_budget": 100, "recorded": False}

    def told(database, rng):
        return database[0] if rng.random() < 0.9 else "nothing"

    @pytest.mark.parametrize("name", NAMES)
    def test_names(name, auditor):
        auditor.refute(told, PureDP(0.1), **OPTIONS)
"""


def test_results_of_tests_with_similar_names_are_all_kept(pytester, in_process):
    pytester.makepyfile(TOLD.replace("NAMES", '["a/b", "a_b", "a b", "é" * 90, "é" * 91]'))
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--audit-json=results")
    done.assert_outcomes(passed=5)
    assert len([*(pytester.path / "results").iterdir()]) == 5


def test_entries_with_similar_names_are_all_kept(tmp_path):
    entries = [Entry("m", lambda: coin, utility={}), *(Entry(name, lambda: coin) for name in NAMED_ALIKE)]
    store, result = Store(tmp_path), AuditResult("m", None, Verdict.ERROR, Evidence.EXACT)
    for index, audit in enumerate(planned(entries)):
        store.add(index, audit.name, result, result.to_json())
    assert len([*tmp_path.glob("*.json")]) == 5


#: The utility audit of the entry "m" wants the file name of the first entry here. The other two entries want
#: the same file name.
NAMED_ALIKE = ("m-utility", "a/b", "a_b")


# ------------------------------------------------------------------------------------- what is not a file


def test_a_link_stays_and_its_file_is_written(tmp_path):
    (tmp_path / "file").write_text("old")
    for link in ("there", "not yet"):
        target = tmp_path / ("file" if link == "there" else "new")
        (tmp_path / link).symlink_to(target)
        check_writable(tmp_path / link)
        write_text(tmp_path / link, "new")
        assert (tmp_path / link).is_symlink()
        assert target.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    check_writable(pipe)  # does not wait for a reader
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "said")
    reader.join()
    assert read == ["said"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_is_written_to_and_never_replaced(tmp_path):
    check_writable("/dev/null")
    write_text("/dev/null", "nothing")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(Unwritable, match=r"/dev/full cannot be written: No space left on device\.$"):
        write_text("/dev/full", "nothing")


def test_stdout_by_its_name_is_refused_if_it_is_a_file(call, tmp_path):
    with (tmp_path / "out").open("w") as out:
        command = [
            sys.executable,
            "-c",
            "from audit.codec.files import check_writable as c; c('/dev/stdout')",
        ]
        done = subprocess.run(command, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert "is redirected to a file; name that file" in done.stderr


def test_a_private_file_stays_private(tmp_path):
    (tmp_path / "file").touch(mode=0o600)
    write_text(tmp_path / "file", "new")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "mine.py:leak", "--epsilon", "0.1", "--pair", "[0]", "[1]", "--budget", "2000"),
        ("findings", "E8"),
        ("suite", "laplace"),
        ("study", "parity"),
    ],
)
@pytest.mark.parametrize("other", ["./page", "link"])
def test_page_and_results_need_separate_files(call, arguments, other):
    Path("link").symlink_to("page")
    code, out, err = call(*arguments, "--json", "page", "--html", other)
    assert (code, out) == (2, "")
    assert "is named twice" in err
    assert not Path("page").exists()


# ------------------------------------------------------------------------------------------- a full disk


def entries(monkeypatch):
    made = [
        Entry(name, lambda: coin, options=OPTIONS, expected="not refuted", reference="", summary="s")
        for name in ("one", "two", "three")
    ]
    monkeypatch.setattr("audit.catalogue.load_catalogue", lambda: made)


@pytest.mark.parametrize("place", ["results", "all.json"])
def test_a_suite_on_a_full_disk_goes_on_and_says_what_is_not_saved(call, monkeypatch, full_disk, place):
    entries(monkeypatch)
    full_disk(1)
    code, out, err = call("suite", "--jobs", "1", "--json", place)
    assert code == 3
    assert out.count("NOT REFUTED") == 3
    assert "3 audits, 3 as expected" in out
    assert "2 not saved" in out
    assert err.count("No space left on device") == 2


def test_a_suite_whose_report_meets_a_full_disk_still_prints_its_count(call, monkeypatch, full_disk):
    entries(monkeypatch)
    full_disk(3)
    code, out, err = call("suite", "--jobs", "1", "--html", "page.html")
    assert code == 3
    assert "3 audits, 3 as expected" in out
    assert err == "dp-audit: page.html cannot be written: No space left on device.\n"


def test_a_run_on_a_full_disk_prints_its_result(call, full_disk):
    full_disk(0)
    code, out, err = call(
        "run",
        "mine.py:leak",
        "--epsilon",
        "1",
        "--pair",
        "[0]",
        "[1]",
        "--budget",
        "2000",
        "--json",
        "r.json",
    )
    assert code == 3
    assert out.startswith("REFUTED  leak")
    assert err == "dp-audit: r.json cannot be written: No space left on device.\n"


def test_findings_on_a_full_disk_are_printed_and_counted(call, monkeypatch, full_disk):
    finding = Finding("E8", "K08", "√2/s.", "typo", "√2·s.")
    monkeypatch.setattr("audit.doors.cli.findings.load_findings", lambda: {"E8": lambda: finding})
    full_disk(0)
    code, out, err = call("findings", "--json", "f.json")
    assert code == 3
    assert "1 of 1 findings computed" in out
    assert err == "dp-audit: f.json cannot be written: No space left on device.\n"


def test_a_session_on_a_full_disk_prints_its_results_and_what_is_not_saved(pytester, in_process, full_disk):
    pytester.makepyfile(TOLD.replace("NAMES", '["one"]'))
    full_disk(0)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "--audit-json=results")
    assert done.ret == pytest.ExitCode.INTERNAL_ERROR
    done.stdout.fnmatch_lines(["*1 audit, 1 as expected*", "*not saved: *No space left on device.*"])
