"""Processes forked from a template are as new as processes started separately."""

import importlib
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from audit.sampling.isolated import forking
from audit.sampling.isolated.processes import Processes

PROC = Path("/proc/self/fd").exists()


def seen(name):
    """Return a variable of the environment, and three facts about this process.

    The facts are whether it leads a session, the id of its parent process, and a random draw.
    """
    draw = np.random.random()  # noqa: NPY002  the generator that a fork would share
    return os.environ.get(name), os.getsid(0) == os.getpid(), os.getppid(), draw


def asked(*arguments, function=seen):
    with Processes(1) as processes:
        return processes.submit(function, *arguments).result()


def template():
    return forking._TEMPLATES[os.getpid(), True]


def test_a_process_sees_the_variables_of_its_start_and_draws_what_no_other_draws(monkeypatch):
    monkeypatch.setenv("DP_AUDIT_TEST", "one")
    one = asked("DP_AUDIT_TEST")
    monkeypatch.setenv("DP_AUDIT_TEST", "two")
    two = asked("DP_AUDIT_TEST")
    monkeypatch.delenv("DP_AUDIT_TEST")
    three = asked("DP_AUDIT_TEST")
    assert [each[0] for each in (one, two, three)] == ["one", "two", None]
    assert {each[1:3] for each in (one, two, three)} == {(True, template()._process.pid)}
    assert len({each[3] for each in (one, two, three)}) == 3


def test_the_template_loads_no_module_of_the_user():
    """A module that one process imports is not loaded in the next process.

    Our package is loaded in all of them.
    """
    assert asked("colorsys", function=loaded_before) == (False, True)
    assert asked("colorsys", function=loaded_before) == (False, True)


def loaded_before(name):
    """Import `name`, and return whether it and our module `child` were loaded before."""
    found = name in sys.modules, "audit.sampling.isolated.child" in sys.modules
    importlib.import_module(name)
    return found


def test_a_template_that_was_killed_is_replaced():
    first, ours = asked("HOME")[2], len([*Path("/proc/self/fd").iterdir()]) if PROC else 0
    os.kill(first, signal.SIGKILL)
    second = asked("HOME")[2]
    assert second not in {first, os.getpid()}
    assert not PROC or len([*Path("/proc/self/fd").iterdir()]) == ours  # the failed start keeps none open


def started():
    """Return a process and its two pipes.

    The process waits until its pipe of requests is closed.
    """
    (theirs, requests), (answers, told) = os.pipe(), os.pipe()
    process = forking.start("audit.sampling.isolated.serving", (theirs, told), shares_cores=True)
    return process, (requests, answers)


def test_kill_and_wait_are_those_of_a_process_that_was_started():
    process, pipes = started()
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=0.01)
    process.kill()
    assert process.wait() == process.wait(timeout=0.0) == -signal.SIGKILL
    process.kill()  # of a process that has ended: nothing happens
    for fd in pipes:
        os.close(fd)
    process, pipes = started()
    for fd in pipes:
        os.close(fd)
    assert process.wait(timeout=20) == 0


def test_several_threads_may_wait_for_a_process_and_one_may_kill_it_meanwhile():
    process, pipes = started()
    with ThreadPoolExecutor(3) as threads:
        codes = [threads.submit(process.wait) for _ in range(2)]
        late = threads.submit(process.wait, timeout=0.05)
        with pytest.raises(subprocess.TimeoutExpired):
            late.result()
        process.kill()
        assert [code.result(timeout=30) for code in codes] == [-signal.SIGKILL] * 2
    for fd in pipes:
        os.close(fd)


@pytest.mark.skipif(not PROC, reason="lists the open files of another process")
def test_the_template_keeps_no_open_file_of_a_process_that_has_ended():
    def open_files():
        process, pipes = started()  # the template has done with the others before it starts this one
        found = [len([*Path(f"/proc/{pid}/fd").iterdir()]) for pid in ("self", template()._process.pid)]
        for fd in pipes:
            os.close(fd)
        process.wait()
        return found

    before = open_files()
    for _ in range(5):
        asked("HOME")
    assert open_files() == before
