"""`dp-audit` in a process of its own: pipes, terminals, imports, other projects."""

import contextlib
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.results.result import AuditResult

DP_AUDIT = Path(sys.executable).with_name("dp-audit")
PAIR = ["--pair", "[0]", "[1]"]
BRIEF = ["--epsilon", "0.1", *PAIR, "--budget", "4000"]
CLOSED = "import os, sys; os.close(2); os.execv(sys.argv[1], sys.argv[1:])"
FULL = "import os, sys; os.dup2(os.open('/dev/full', os.O_WRONLY), 2); os.execv(sys.argv[1], sys.argv[1:])"
DEAF = "import os, sys; r, w = os.pipe(); os.close(r); os.dup2(w, 2); os.execv(sys.argv[1], sys.argv[1:])"
FINDS = ["run", "mine.py:Response", "--set", "keep=0.99", *BRIEF, "--json", "r.json"], 1, "REFUTED"
COMPLAINS = ["run", "no.py:leak", *BRIEF], 2, ""


def test_a_closed_pipe_does_not_look_like_a_refutation(folder):
    read, write = os.pipe()
    os.close(read)
    command = [DP_AUDIT, "completion", "bash"]
    ran = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (3, "")


@pytest.mark.parametrize(
    ("stderr", "arguments", "code", "said"),
    [(FULL, *FINDS), (CLOSED, *COMPLAINS), (DEAF, *COMPLAINS)],
    ids=["full", "closed, in use", "a pipe without a reader, in use"],
)
@pytest.mark.usefixtures("folder")
def test_a_closed_stderr_does_not_change_the_exit_code(stderr, arguments, code, said):
    command = [sys.executable, "-c", stderr, str(DP_AUDIT), *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stdout[: len(said)]) == (code, said)


def test_help_imports_nothing_heavy():
    """`benchmarks/startup.py` measures the start-up time."""
    code = "import sys, audit.doors.cli; print({'numpy', 'scipy', 'hypothesis'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
    for command in ([DP_AUDIT], [sys.executable, "-m", "audit"]):
        told = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True).stdout
        assert "Usage: dp-audit" in told


def test_a_misspelt_name_is_refused_before_anything_heavy_is_loaded():
    code = """
import sys
from audit.doors.cli import main
for command in ("run", "suite", "list"):
    try:
        main([command, "laplas"])
    except SystemExit as left:
        heavy = {"scipy.optimize", "scipy.stats", "hypothesis", "audit.privacy"} & set(sys.modules)
        print(command, left.code, heavy or "light")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["run 2 light", "suite 2 light", "list 2 light"]
    assert ran.stderr.count("did you mean `laplace`?") == 3


def test_a_project_with_packages_of_our_names_is_audited_with_its_own(folder):
    (folder / "audit.py").write_text("raise RuntimeError('this is not the tool')")
    for name in ("mechanisms", "learners", "reports"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("value = 1\n")
    text = (
        "import learners, mechanisms, reports\n"
        "def mine(database, rng): return database[0] * reports.value + rng.normal(scale=0.1)\n"
    )
    (folder / "project.py").write_text(text)
    command = [DP_AUDIT, "run", "project.py:mine", *BRIEF, "--html", "r.html"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "wrote r.html\n")
    assert "mine" in Path("r.html").read_text()
    assert subprocess.run([DP_AUDIT, "list"], capture_output=True, check=False).returncode == 0


def test_a_project_with_a_folder_named_audit_is_audited(folder):
    """The child process must find our package, not the folder beside the target."""
    (folder / "audit" / "sampling").mkdir(parents=True)
    (folder / "audit" / "sampling" / "__init__.py").write_text("raise RuntimeError('this is not the tool')")
    command = [DP_AUDIT, "run", "mine.py:leak", *BRIEF]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (1, "")
    assert ran.stdout.startswith("REFUTED  leak")


def test_a_long_audit_shows_its_length_on_a_terminal_and_gives_its_verdict_so_far_at_ctrl_c(folder):
    terminal, end = pty.openpty()
    command = [DP_AUDIT, "run", "mine.py:slow", "--epsilon", "1", *PAIR, "--json", "r.json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=end, env={**os.environ, "TERM": "xterm"}
    )
    os.close(end)
    shown = ""
    deadline = time.monotonic() + 30
    while "up to about" not in shown and time.monotonic() < deadline:
        shown += os.read(terminal, 4096).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    os.close(terminal)
    assert "up to about" in shown
    assert process.returncode == 130
    assert "Stopped by Ctrl-C after " in " ".join(out.decode().split())
    assert AuditResult.from_json(Path("r.json").read_text()).notes[-1].kind == "stopped"


def test_results_go_to_stdout_while_a_bar_is_drawn_on_the_terminal(folder):
    terminal, end = pty.openpty()
    command = [DP_AUDIT, "suite", "flawed-kary-*", "--budget", "1000"]
    environment = {**os.environ, "TERM": "xterm"}
    with Path("out.txt").open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=end, env=environment)
    os.close(end)
    shown = ""
    # The terminal is read, because the command would wait if it were full. Reading ends with OSError.
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            shown += piece.decode(errors="replace")
    os.close(terminal)
    assert process.wait(timeout=60) == 0
    assert "flawed-kary" in shown
    assert re.search(r"\d of \d audits", shown)
    assert "as expected" not in shown
    assert "as expected" in Path("out.txt").read_text()
