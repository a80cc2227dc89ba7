"""Global changes by a mechanism have a defined outcome and affect none of our code."""

import decimal
import gc
import os
import random
import signal
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from audit import PureDP, Verdict, audit_privacy
from audit.sampling import BET, Sampler
from audit.subject.subject import adapt
from audit.values.outcomes import Raised, Unfinished

SMALL = {"records": [0, 1], "size": 2, "budget": 600}


def noisy(database, rng):
    return sum(database) + rng.laplace(scale=1.0)


def setting_float_errors(database, rng):
    np.seterr(all="raise")
    return noisy(database, rng)


def setting_decimals(database, rng):
    decimal.getcontext().traps[decimal.Inexact] = True
    return noisy(database, rng)


def setting_recursion(database, rng):
    sys.setrecursionlimit(threading.current_thread() is threading.main_thread() and 200)
    return noisy(database, rng)


def setting_filters(database, rng):
    warnings.simplefilter("error")
    return noisy(database, rng)


def moving(database, rng):
    os.chdir("/")
    return noisy(database, rng)


def closing(database, rng):
    sys.stdout.close()
    return noisy(database, rng)


def replacing(database, rng):
    sys.stdout = sys.stderr = None
    return noisy(database, rng)


def seeding(database, rng):
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  the mechanism's own doing
    return noisy(database, rng)


def threading_on(database, rng):
    threading.Thread(target=time.sleep, args=(0.01,), daemon=True).start()
    return noisy(database, rng)


def hoarding(database, rng):
    gc.disable()
    return noisy(database, rng)


def tracing(database, rng):
    sys.settrace(lambda *event: None)
    sys.setprofile(lambda *event: None)
    return noisy(database, rng)


def ignoring(database, rng):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return noisy(database, rng)


def alarming(database, rng):
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.alarm(1)
    return noisy(database, rng)


CHANGING = [
    *(setting_float_errors, setting_decimals, setting_recursion, setting_filters, moving, closing, replacing),
    *(seeding, threading_on, hoarding, tracing, ignoring, alarming),
]


def surroundings():
    return {
        "float errors": np.geterr(),
        "decimals": str(decimal.getcontext()),
        "recursion": sys.getrecursionlimit(),
        "filters": list(warnings.filters),
        "folder": Path.cwd(),
        "streams": (sys.stdout, sys.stderr, sys.stdout.closed),
        "garbage": gc.isenabled(),
        "tracing": (sys.gettrace(), sys.getprofile()),
        "signals": [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)],
        "timer": signal.getitimer(signal.ITIMER_REAL)[0],
    }


@pytest.fixture
def as_before():
    """Yield the settings of the session and restore them."""
    before = surroundings()
    with np.errstate(), decimal.localcontext(), warnings.catch_warnings():
        yield before
    sys.settrace(before["tracing"][0])
    sys.setprofile(before["tracing"][1])
    sys.setrecursionlimit(before["recursion"])
    os.chdir(before["folder"])
    gc.enable()
    for each, handler in zip((signal.SIGINT, signal.SIGTERM, signal.SIGALRM), before["signals"], strict=True):
        signal.signal(each, handler)
    signal.alarm(0)


@pytest.fixture(scope="module")
def plain():
    return audit_privacy(noisy, PureDP(1.0), **SMALL)


@pytest.mark.parametrize("mechanism", CHANGING)
def test_global_settings_are_restored_and_do_not_change_the_audit(mechanism, as_before, plain):
    result = audit_privacy(mechanism, PureDP(1.0), **SMALL)
    assert surroundings() == as_before
    assert (result.verdict, result.log_wealth) == (plain.verdict, plain.log_wealth)
    assert result.verdict is Verdict.NOT_REFUTED


def test_settings_of_convert_are_restored(as_before):
    def converting(database):
        np.seterr(all="raise")
        return database

    audit_privacy(noisy, PureDP(1.0), **{**SMALL, "budget": 200}, convert=converting)
    assert surroundings() == as_before


def underflowing(database, rng):
    tiny = np.float64(1e-300) * np.float64(1e-300) if database[0] else 0.0
    return tiny + noisy(database, rng)


def test_settings_of_the_session_hold_for_the_mechanism_and_not_for_our_code(as_before):
    """An exception that these settings cause is an output of the mechanism.

    Our own code ignores the settings.
    """
    np.seterr(all="raise")
    decimal.getcontext().traps[decimal.Inexact] = True
    runs = next(Sampler(adapt(underflowing), seed=0).draw([1], [0], 4, (BET,)))
    assert [type(output) for output in (*runs.left, *runs.right)] == [Raised] * 4 + [float] * 4
    result = audit_privacy(underflowing, PureDP(1.0), **SMALL)
    assert result.verdict is Verdict.REFUTED
    assert "FloatingPointError" in str(result)
    assert audit_privacy(noisy, PureDP(1.0), **SMALL).verdict is Verdict.NOT_REFUTED


def test_a_folder_that_the_mechanism_moved_to_and_removed_is_left(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def removing(database, rng):
        inside = Path("inside").absolute()
        inside.mkdir()
        os.chdir(inside)
        inside.rmdir()
        return noisy(database, rng)

    runs = next(Sampler(adapt(removing), seed=0).draw([1], [0], 1, (BET,)))
    assert len(runs.left) == 1
    assert Path.cwd() == tmp_path


class Forking:
    """A mechanism that forks in every run.

    The child returns, ends itself, or raises.
    """

    def __init__(self, child):
        self.child = child

    def __call__(self, database):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings about threads
            child = os.fork()
        if child == 0:
            if self.child == "exits":
                sys.exit(3)
            if self.child == "ends":
                os._exit(3)
            if self.child == "interrupts":
                raise KeyboardInterrupt
            return "child"
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class ForkingSampler(Forking):
    def sample(self, database, size):
        return [self(database)] * size


@pytest.mark.parametrize(
    ("mechanism", "code", "isolate"),
    [
        *((Forking(child), 0, False) for child in ("returns", "exits", "interrupts")),
        (Forking("ends"), 3, False),
        (ForkingSampler("returns"), 0, False),
        (Forking("returns"), 0, True),
        (ForkingSampler("returns"), 0, True),
    ],
)
def test_a_child_that_the_mechanism_forks_gives_no_output(mechanism, code, isolate):
    """If the child returns, it ends with code 0.

    The test makes few runs, because a surviving child would double each run.
    """
    ours = os.getpid()
    with Sampler(adapt(mechanism), seed=0, isolate=isolate) as sampler:
        runs = next(sampler.draw([1], [0], 3, (BET,)))
    if os.getpid() != ours:
        os._exit(1)
    assert [*runs.left, *runs.right] == [code] * 6
    assert sampler.drawn == 6 + 8  # the first eight check whether the generator is honoured


def test_a_mechanism_that_disables_the_alarm_is_still_limited_in_isolation():
    def hanging(database):
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        time.sleep(60 * database[0])

    with Sampler(adapt(hanging), seed=0, isolate=True, run_time_limit=0.1) as sampler:
        runs = next(sampler.draw([0], [1], 1, (BET,)))
    assert (runs.left, runs.right) == ([None], [Unfinished("time limit of 0.1 s")])
