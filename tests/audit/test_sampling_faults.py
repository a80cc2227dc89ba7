"""What a mechanism may do: raise, hang, print, exit, change its input."""

import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from audit.sampling import BET, MutatedInput, Sampler
from audit.sampling.snapshots import snapshot
from audit.sampling.watch import ComputedTooLong, computing_for
from audit.subject.subject import adapt
from audit.values.outcomes import Raised, Unfinished


def outputs_of(mechanism, *, size=8, left=("a",), right=("b",), **options):
    sampler = Sampler(adapt(mechanism), seed=0, **options)
    blocks = list(sampler.draw(list(left), list(right), size, (BET,)))
    return [x for b in blocks for x in b.left], [x for b in blocks for x in b.right], sampler


def raising(error):
    def mechanism(database, rng):
        if database == ["a"]:
            raise error
        return 0

    return mechanism


def recursive(database, rng):
    return recursive(database, rng)


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (ValueError("empty"), Raised("ValueError", "empty")),
        (SystemExit(2), Raised("SystemExit", "2")),
        (GeneratorExit(), Raised("GeneratorExit", "")),
        (StopIteration(), Raised("StopIteration", "")),
        (MemoryError(), Unfinished("out of memory")),
    ],
)
def test_exceptions_are_outputs_but_exhausted_memory_is_not(error, outcome):
    left, right, sampler = outputs_of(raising(error))
    assert left == [outcome] * 8
    assert right == [0] * 8
    assert sampler.unfinished == (8 + 2 if isinstance(outcome, Unfinished) else 0)


def test_endless_recursion_is_an_exception():
    left, _, _ = outputs_of(recursive, size=1)
    assert left[0].kind == "RecursionError"


def test_an_exception_without_a_text_is_an_output():
    left, _, _ = outputs_of(raising(Unspeakable()))
    assert left[0].kind == "Unspeakable"


def test_ctrl_c_passes_through():
    with pytest.raises(KeyboardInterrupt):
        outputs_of(raising(KeyboardInterrupt()))


def sleeping(database, rng):
    if database == ["a"]:
        time.sleep(60)
    return 0


def spinning(database, rng):
    while database == ["a"]:
        pass
    return 0


def stubborn(database, rng):
    while database == ["a"]:
        try:
            time.sleep(60)
        except Exception:  # noqa: BLE001
            continue
    return 0


@pytest.mark.parametrize("mechanism", [sleeping, spinning, stubborn])
def test_a_run_that_passes_its_limit_is_unfinished_and_the_next_one_goes_on(mechanism):
    left, right, sampler = outputs_of(mechanism, size=2, run_time_limit=0.05)
    assert left == [Unfinished("time limit of 0.05 s")] * 2
    assert right == [0, 0]
    assert sampler.unfinished == 2 + 2  # two runs on the left, and two that check the generator


def test_the_limit_applies_to_a_run_and_not_to_a_block():
    left, _, sampler = outputs_of(lambda database, rng: time.sleep(0.02), size=8, run_time_limit=0.1)
    assert left == [None] * 8
    assert sampler.unfinished == 0


def test_a_vectorised_sampler_that_hangs_gives_way_to_single_calls():
    class Hanging:
        def __call__(self, database, rng):
            return 7

        def sample(self, database, size, rng):
            time.sleep(60)

    left, _, sampler = outputs_of(Hanging(), size=2, run_time_limit=0.05)
    assert left == [7, 7]
    assert any("`sample` failed (TimeLimit)" in note for note in sampler.notes)


def test_the_users_timer_and_handler_are_restored():
    rings = []
    before = signal.signal(signal.SIGALRM, lambda *_: rings.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30.0)
        outputs_of(lambda database, rng: 0)
        left, _ = signal.setitimer(signal.ITIMER_REAL, 0.0)
        assert 0 < left <= 30.0
        signal.raise_signal(signal.SIGALRM)
        assert rings == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_limit_of_computing_puts_the_handler_back_and_leaves_no_timer():
    rings = []
    before = signal.signal(signal.SIGPROF, lambda *_: rings.append(1))
    try:
        with pytest.raises(ComputedTooLong), computing_for(0.02):
            all(iter(lambda: 1, 0))  # never ends
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
        signal.raise_signal(signal.SIGPROF)
        assert rings == [1]
    finally:
        signal.signal(signal.SIGPROF, before)


def test_the_users_alarm_ends_the_draw_and_is_not_an_output():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        # After this delay the run sleeps. An exception raised earlier, in a destructor, would be ignored.
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        start = time.monotonic()
        with pytest.raises(Alarm):
            outputs_of(sleeping, run_time_limit=5.0)
        assert time.monotonic() - start < 5.0  # in the middle of a run
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_outside_the_main_thread_runs_go_on_without_limit_and_say_so():
    found = []
    thread = threading.Thread(target=lambda: found.append(outputs_of(lambda database, rng: 0)))
    thread.start()
    thread.join()
    [(left, _, sampler)] = found
    assert left == [0] * 8
    assert any("had no time limit" in note for note in sampler.notes)


def test_prints_are_swallowed_and_noted_once(capsys):
    def printing(database, rng):
        print("12345")  # noqa: T201  what mechanisms do
        print("1234", file=sys.stderr)  # noqa: T201
        return 0

    left, _, sampler = outputs_of(printing)
    assert left == [0] * 8
    assert sampler.printed == 11 * sampler.drawn
    assert len([note for note in sampler.notes if "prints" in note]) == 1
    assert capsys.readouterr() == ("", "")


def test_warnings_are_neither_shown_nor_errors():
    def warning(database, rng):
        warnings.warn("careful", stacklevel=1)
        return float(np.float64(1.0) / np.float64(0.0))

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        left, _, _ = outputs_of(warning)
    assert left == [float("inf")] * 8
    assert not caught


@pytest.mark.parametrize(
    ("database", "change"),
    [
        ([3, 1, 2], lambda d: d.sort()),
        ([0.0, 1.0], lambda d: d.append(2.0)),
        ([1, 2], lambda d: d.__setitem__(0, 1 == 1)),
        ([{"age": 3}], lambda d: d[0].update(age=4)),
        (np.arange(3), lambda d: d.__setitem__(0, 9)),
        ([float("nan"), 1.0], lambda d: d.pop()),
    ],
)
def test_a_changed_database_is_noticed_and_every_run_can_have_its_own(database, change):
    def mechanism(given, rng):
        size = len(given)
        change(given)
        return size

    sampler = Sampler(adapt(mechanism), seed=0)
    with pytest.raises(MutatedInput):
        list(sampler.draw(database, database, 4, (BET,)))
    sampler.copy_inputs = True
    [runs] = sampler.draw(database, database, 4, (BET,))
    assert runs.left == [len(database)] * 4


def test_the_callers_database_is_never_handed_out():
    database = [3, 1, 2]
    sampler = Sampler(adapt(lambda given, rng: given.sort()), seed=0)
    with pytest.raises(MutatedInput):
        list(sampler.draw(database, database, 1, (BET,)))
    assert database == [3, 1, 2]


@pytest.mark.parametrize("database", [[1, float("nan")], (1, 2), "text", np.array([np.nan]), [[1], [2]]])
def test_an_unchanged_database_is_no_mutation(database):
    left, _, _ = outputs_of(lambda given, rng: len(given), left=database, right=database)
    assert left == [len(database)] * 8


class Holder:
    def __init__(self, value):
        self.value = value


@pytest.mark.parametrize(
    ("buffer", "change", "value"),
    [
        ([0], lambda b, n: b.__setitem__(0, n), lambda b: b[0]),
        (np.zeros(1), lambda b, n: b.__setitem__(0, n), lambda b: b[0]),
        ({"x": 0}, lambda b, n: b.update(x=n), lambda b: b["x"]),
        ({0}, lambda b, n: (b.clear(), b.add(n)), min),
        (([0],), lambda b, n: b[0].__setitem__(0, n), lambda b: b[0][0]),
        ({"x": [0]}, lambda b, n: b["x"].__setitem__(0, n), lambda b: b["x"][0]),
        (np.array([None, 0], dtype=object), lambda b, n: b.__setitem__(1, n), lambda b: b[1]),
        (Holder(0), lambda b, n: setattr(b, "value", n), lambda b: b.value),
    ],
)
def test_outputs_are_kept_as_they_were_when_the_run_ended(buffer, change, value):
    counter = iter(range(1, 10**6))

    def mechanism(database, rng):
        change(buffer, next(counter))
        return buffer

    left, right, _ = outputs_of(mechanism)
    assert len({value(output) for output in left + right}) == 16


@pytest.mark.parametrize(
    "output",
    [None, 1, 2.5, "text", b"bytes", (1, "a"), frozenset({1}), np.float64(1.0), np.datetime64("2020-01-01")],
)
def test_an_immutable_output_is_not_copied(output):
    assert snapshot(output) is output


def test_an_output_that_cannot_be_copied_is_kept():
    lock = threading.Lock()
    assert snapshot(lock) is lock
