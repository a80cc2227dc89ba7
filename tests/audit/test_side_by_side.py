"""Audits side by side give the same bytes as audits in one process.

A lost process or Ctrl-C loses no finished audit.
"""

import json
import os
import signal
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from audit.doors.cli import main
from audit.doors.cli.exits import INTERRUPTED, NOT_DONE
from audit.doors.cli.suite import Store
from audit.doors.side_by_side import Call, order, seconds_left, side_by_side, told_of
from audit.errors import AuditError, InvalidValue
from audit.results.result import AuditResult, Evidence, Verdict
from audit.sampling.isolated.elsewhere import elsewhere, in_order
from audit.sampling.isolated.processes import ProcessDied, Processes
from audit.sampling.isolated.serving import CallFailed
from audit.values.progress import Counted, _Renderer


@pytest.fixture
def processes():
    """Yield two processes, which end after the test in any case."""
    made = Processes(2)
    yield made
    made.shutdown(cancel_futures=True)


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in a separate folder.

    It returns exit code, stdout and stderr.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main(list(arguments))
        return left.value.code, *capsys.readouterr()

    return run


def waits_once(marker):
    """Write the id of this process and wait to be killed.

    The second call returns the id.
    """
    if not marker.exists():
        marker.write_text(str(os.getpid()))
        time.sleep(60)
    return os.getpid()


def refused():
    raise InvalidValue("too small")


def killed_when_written(marker):
    while not (marker.exists() and marker.read_text()):
        time.sleep(0.01)
    os.kill(int(marker.read_text()), signal.SIGKILL)
    return int(marker.read_text())


def test_the_call_of_a_killed_process_is_made_again_in_another(processes, tmp_path):
    done = processes.submit(waits_once, tmp_path / "process")
    killed = killed_when_written(tmp_path / "process")
    assert done.result(timeout=30) not in {killed, os.getpid()}


def test_a_call_that_ends_every_process_is_given_up_and_the_next_is_made(processes):
    with pytest.raises(ProcessDied, match="ended with code 3, 3 times in turn"):
        processes.submit(os._exit, 3).result(timeout=30)
    assert processes.submit(divmod, 7, 2).result(timeout=30) == (3, 1)


def test_our_errors_arrive_unchanged_and_others_with_their_kind_and_traceback(processes):
    with pytest.raises(InvalidValue, match=r"^too small$"):
        processes.submit(refused).result(timeout=30)
    with pytest.raises(CallFailed, match=r"^ValueError: invalid literal") as caught:
        processes.submit(int, "x").result(timeout=30)
    assert "Traceback" in caught.value.__notes__[0]


def test_stopping_ends_running_calls_and_starts_no_waiting_ones(processes, tmp_path):
    calls = [processes.submit(waits_once, tmp_path / name) for name in "ab"]
    waiting = processes.submit((tmp_path / "c").write_text, "")
    while len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.01)
    processes.shutdown(cancel_futures=True)
    for call in calls:
        with pytest.raises((CancelledError, ProcessDied)):
            call.result(timeout=30)
    assert waiting.cancelled()
    assert not (tmp_path / "c").exists()


def test_a_process_ends_with_the_one_that_started_it(processes, tmp_path):
    processes.submit(waits_once, tmp_path / "process")
    while not (tmp_path / "process").exists() or not (tmp_path / "process").read_text():
        time.sleep(0.01)
    [process] = processes._busy
    os.dup2(os.open(os.devnull, os.O_WRONLY), process._requests)  # as if this process had ended
    assert process._process.wait(timeout=30) == 0


def test_processes_see_the_current_folder_and_modules(processes, tmp_path, monkeypatch):
    assert processes.submit(os.getcwd).result(timeout=30) == str(Path.cwd())
    (tmp_path / "later_module.py").write_text("def answer():\n    return 42\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    from later_module import answer

    assert processes.submit(os.getcwd).result(timeout=30) == str(tmp_path)
    assert processes.submit(answer).result(timeout=30) == 42


def test_answers_come_in_the_order_of_the_calls_and_an_error_stops_those_after_it(processes):
    calls = [(0.2,), (0.0,), (0.1,)]
    assert list(in_order(processes, sleeps, calls, workers=processes.workers)) == [0.2, 0.0, 0.1]
    with pytest.raises(CallFailed):
        list(in_order(processes, sleeps, [("x",), (0.0,)], workers=2))
    assert processes.stopped


def sleeps(seconds):
    time.sleep(seconds)
    return seconds


def test_new_processes_replace_stopped_ones():
    elsewhere(2).shutdown(cancel_futures=True)
    assert elsewhere(2).submit(divmod, 7, 2).result(timeout=30) == (3, 1)
    assert elsewhere(2) is elsewhere(2)


def test_a_suite_in_two_processes_saves_and_prints_what_one_does(call):
    """The files, the total and the report do not depend on the order of the lines."""
    lines, files, page = [], [], []
    for jobs in ("1", "2"):
        places = ("--html", f"{jobs}.html", "--json", f"{jobs}.json")
        code, out, err = call("suite", "flawed-laplace-[hr]a*", "--jobs", jobs, *places)
        assert (code, err) == (0, "")
        *audits, total, together, _ = out.splitlines()
        lines.append((sorted(audits), total, together))
        documents = json.loads(Path(f"{jobs}.json").read_text())
        files.append([json.dumps(document["result"]) for document in documents])
        page.append(Path(f"{jobs}.html").read_text())
    assert lines[0] == lines[1]
    assert len(files[0]) > 1
    assert files[0] == files[1]
    names = [json.loads(text)["subject"] for text in files[0]]
    for text in page:
        where = [text.index(name) for name in names]
        assert where == sorted(where)


def test_findings_in_two_processes_save_the_bytes_of_one(call):
    saved = []
    for jobs in ("1", "2"):
        code, _, err = call("findings", "E[78]", "--jobs", jobs, "--json", f"{jobs}.json")
        assert (code, err) == (0, "")
        saved.append(Path(f"{jobs}.json").read_text())
    assert saved[0] == saved[1]
    assert len(json.loads(saved[0])) == 2


def test_a_study_in_two_processes_saves_the_bytes_of_one_and_its_cells(call):
    saved = []
    for jobs in ("1", "2"):
        folder = f"cells-{jobs}"
        terms = ("--values", "2,4", "--budget", "60", "--jobs", jobs, "--json", f"{jobs}.json")
        code, _, err = call("study", "point-delta", *terms, "--cells", folder)
        assert (code, err) == (0, "")
        cells = {path.name: path.read_text() for path in sorted(Path(folder).iterdir())}
        saved.append((Path(f"{jobs}.json").read_text(), cells))
    assert saved[0] == saved[1]
    assert len(saved[0][1]) > 1


def touched(path):
    path.touch()


def interrupting(seconds):
    timer = threading.Timer(seconds, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_keeps_finished_calls_and_reports_that_some_are_missing():
    taken = {}
    calls = [Call(here=sleeps, there=(sleeps, seconds)) for seconds in (0.0, 60.0, 60.0)]

    def take(index, answer):
        taken[index] = answer()
        interrupting(0.2)

    began = time.monotonic()
    assert side_by_side(calls, jobs=2, what="calls", take=take) is False
    assert taken == {0: 0.0}
    assert time.monotonic() - began < 30


def test_a_call_that_finishes_before_ctrl_c_is_kept_even_if_not_yet_taken(tmp_path):
    taken = []
    there = [(touched, tmp_path / "a"), (touched, tmp_path / "b"), (sleeps, 60.0), (sleeps, 60.0)]
    calls = [Call(here=sleeps, there=each) for each in there]

    def take(index, answer):
        taken.append((index, answer()))
        if len(taken) == 1:
            while len(list(tmp_path.iterdir())) < 2:
                time.sleep(0.01)
            time.sleep(0.5)  # time for its answer to arrive
            raise KeyboardInterrupt

    assert side_by_side(calls, jobs=2, what="calls", take=take) is False
    assert {index for index, _ in taken} == {0, 1}


def test_an_audit_whose_process_always_dies_is_an_error_in_one_line_and_the_others_go_on(call, thirdparty):
    """The factory ends the process of the audit."""
    thirdparty(
        "dp_audit.catalogue",
        entry="deadly_entries",
        text="import os\n"
        "from audit.catalogue import Entry\n"
        "from audit.claims import PureDP\n"
        "options = dict(claim=PureDP(1.0), pairs=[([0], [1])], budget=1000)\n"
        "entries = (Entry('deadly-end', lambda: os._exit(7), options=options),\n"
        "           Entry('deadly-coin', lambda: (lambda d, rng: rng.random() < 0.5), options=options))\n",
    )
    code, out, err = call("suite", "deadly-*", "--jobs", "2", "--json", "saved")
    assert (code, err) == (NOT_DONE, "")
    [line] = [line for line in out.splitlines() if "deadly-end" in line]
    assert line.startswith("ERROR")
    assert "ended with code 7, 3 times in turn" in line
    assert sorted(path.name for path in Path("saved").iterdir()) == ["deadly-coin.json", "deadly-end.json"]


def test_the_quickest_starts_first_then_the_unknown_then_the_longest():
    assert order([2.0, None, 9.0, 1.0, None]) == [3, 1, 4, 2, 0]
    assert order([None, None]) == [0, 1]
    assert order([]) == []


def test_the_time_left_is_the_expected_rest_divided_by_the_workers():
    assert seconds_left([None, None], {}, elapsed=1.0, workers=1) is None
    # two audits are not enough for an estimate
    assert seconds_left([None] * 10, {0: 1.0, 1: 1.0}, elapsed=1.0, workers=2) is None
    assert seconds_left([None] * 10, {0: 2.0, 1: 3.0, 2: 1.0}, elapsed=3.0, workers=2) == 7.0
    assert seconds_left([1.0, 2.0, 30.0], {}, elapsed=0.0, workers=3) == 11.0
    # three workers for 3 seconds: 9 of 33 seconds are done
    assert seconds_left([1.0, 2.0, 30.0], {}, elapsed=3.0, workers=3) == 8.0
    # The first two audits took twice as long as before. The assumption "as fast as before" has the weight of
    # 1.6 seconds, a twentieth of the total.
    slower = seconds_left([1.0, 1.0, 30.0], {0: 2.0, 1: 2.0}, elapsed=2.0, workers=2)
    assert slower == pytest.approx(30.0 * (4.0 + 1.6) / (2.0 + 1.6) / 2)
    assert seconds_left([1.0], {0: 1.0}, elapsed=9.0, workers=1) == 0.0


@pytest.mark.parametrize("place", ["all.json", "folder"])
def test_results_are_kept_in_the_order_of_the_catalogue(tmp_path, place):
    store = Store(tmp_path / place)
    for index in (1, 0):
        result = AuditResult(f"m{index}", None, Verdict.ERROR, Evidence.EXACT)
        store.add(index, f"m{index}", result, result.to_json())
    assert [result.subject for result in store.results] == ["m0", "m1"]
    assert [document["result"]["subject"] for document in store.documents] == ["m0", "m1"]
    if place == "all.json":
        documents = json.loads((tmp_path / place).read_text())
        assert [document["result"]["subject"] for document in documents] == ["m0", "m1"]


def test_a_saved_result_tells_how_long_its_audit_took(tmp_path):
    store = Store(tmp_path)
    result = AuditResult("m", None, Verdict.ERROR, Evidence.EXACT, environment={"elapsed": 1.5})
    store.add(0, "m", result, result.to_json())
    (tmp_path / "damaged.json").write_text("{")
    assert [store.seconds(name) for name in ("m", "damaged", "none")] == [1.5, None, None]


def test_the_count_is_one_line_that_is_cleared_before_results_are_printed(capsys):
    renderer = _Renderer(lambda: None)
    renderer(Counted(1, 4, "audits", 130.0))
    assert capsys.readouterr().err == "\r\x1b[K1 of 4 audits, about 2 minutes left"
    renderer(Counted(1, 4, "audits", 128.0))  # the same words
    assert capsys.readouterr().err == ""
    renderer.close()
    assert capsys.readouterr().err == "\r\x1b[K"


def test_an_error_is_printed_with_its_kind_unless_it_is_ours():
    assert told_of(AuditError("too small")) == "too small"
    assert told_of(OSError("full")) == "OSError: full"
    assert told_of(CancelledError()) == "the cluster gave it up"


def test_an_error_that_must_not_end_the_others_is_raised_again_if_its_place_is_asked_for(monkeypatch):
    monkeypatch.setenv("DP_AUDIT_TRACEBACK", "1")
    with pytest.raises(OSError, match="full"):
        told_of(OSError("full"))
    assert INTERRUPTED == 130
