"""Runs are the same wherever they are drawn, even after a child has died.

The file is long because every way to die is tried on the same mechanisms. A child can import these, because
they are defined at the top level.
"""

import ctypes
import importlib.util
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
import types
from dataclasses import dataclass

import numpy as np
import pytest

from audit.errors import AuditError, SubjectError
from audit.sampling import BET, CONFIRM, MutatedInput, Sampler
from audit.sampling.isolated import fresh, workers
from audit.sampling.isolated.isolation import Child, drawn_by
from audit.sampling.shipping import pack, unpack
from audit.subject.subject import adapt
from audit.values.canonical import key
from audit.values.outcomes import Opaque, Raised, Unfinished


@pytest.fixture(autouse=True)
def always_share(monkeypatch):
    monkeypatch.setattr(workers, "_WORTH_SHARING", 0.0)


@dataclass(frozen=True)
class Record:
    age: int


def noisy(database, rng):
    return (len(database), rng.laplace())


def of_records(database, rng):
    return Record(sum(record.age for record in database if isinstance(record, Record)) + int(rng.integers(9)))


def raising(database, rng):
    if rng.random() < 0.3:
        raise ValueError(f"noise {rng.random():.3f}")
    return {"x": np.arange(3), "y": {1, 2}}


class Vectorised:
    def __call__(self, database, rng):
        return rng.laplace()

    def sample(self, database, size, rng):
        return rng.laplace(size=(size, 2))


@pytest.fixture(autouse=True)
def many_children(monkeypatch):
    """Start one child for each job, even for a short draw."""
    monkeypatch.setattr("audit.sampling.isolated.workers._WORTH_A_CHILD", 0.0)


def drawn(mechanism, *, size=40, left=(Record(1),), right=(Record(1), Record(2)), fresh=False, **options):
    with Sampler(adapt(mechanism), seed=5, **options) as sampler:
        blocks = list(sampler.draw(list(left), list(right), size, (BET, 1), fresh=fresh))
    return [[x for b in blocks for x in b.left], [x for b in blocks for x in b.right]], sampler


@pytest.mark.parametrize("mechanism", [noisy, of_records, raising, Vectorised(), len])
@pytest.mark.parametrize("options", [{"jobs": 2}, {"isolate": True}, {"isolate": True, "jobs": 2}])
def test_the_same_seed_gives_the_same_runs_wherever_they_are_drawn(mechanism, options):
    (here, plain), (there, sampler) = drawn(mechanism), drawn(mechanism, **options)
    assert key(there) == key(here)
    assert (sampler.drawn, sampler.unfinished, sampler.notes) == (plain.drawn, plain.unfinished, plain.notes)


def test_large_draws_of_a_vectorised_sampler_are_shared_unchanged():
    draws = []
    for jobs in (1, 2):
        with Sampler(adapt(Vectorised()), seed=5, jobs=jobs) as sampler:
            draws.append([runs.left for runs in sampler.draw([1], [2], 3 * 2**16, (BET,))])
    assert [len(block) for block in draws[0]] == [2**16] * 3
    assert all(np.array_equal(a, b) for a, b in zip(*draws, strict=True))


def own_generator(database, generator=np.random.default_rng(3)):  # noqa: B008
    return os.getpid(), OWN.random()


OWN = np.random.default_rng(3)


def test_jobs_draw_in_other_processes_and_isolation_in_a_child():
    [(left, right), _] = drawn(Process(), jobs=2, size=400)
    assert os.getpid() not in left[200:] + right[200:]
    [(left, right), _] = drawn(Process(), isolate=True)
    assert os.getpid() not in left + right
    assert len(set(left + right)) == 1


class Process:
    """A mechanism that returns the id of its process and seems to depend on `rng` alone."""

    def __call__(self, database, rng):
        return SameInTheCheck(os.getpid())


class SameInTheCheck(int):
    __slots__ = ()


@pytest.mark.parametrize("mechanism", [lambda database: os.getpid(), own_generator])
@pytest.mark.parametrize("isolate", [False, True])
def test_a_subject_that_ignores_the_generator_runs_in_one_process(mechanism, isolate):
    [(left, right), sampler] = drawn(mechanism, jobs=2, isolate=isolate)
    processes = {output[0] if isinstance(output, tuple) else output for output in left + right}
    assert len(processes) == 1
    assert (os.getpid() in processes) is not isolate
    assert any("one process draws them all" in note for note in sampler.notes)


def test_a_subject_that_keeps_state_runs_in_one_process():
    calls = []

    def counter(database, rng):
        calls.append(1)
        return os.getpid()

    [(left, right), _] = drawn(counter, jobs=2)
    assert set(left + right) == {os.getpid()}


def exiting(database, rng):
    value = rng.random()
    if value < 0.1:
        os._exit(3)
    return value


def killing(database, rng):
    value = rng.random()
    if value < 0.1:
        os.kill(os.getpid(), signal.SIGKILL)
    return value


def crashing(database, rng):
    value = rng.random()
    if value < 0.1:
        ctypes.string_at(0)
    return value


@pytest.mark.parametrize(
    ("mechanism", "reason", "jobs"),
    [
        (exiting, "process exited with code 3", 1),
        (killing, "process ended by SIGKILL", 2),
        (crashing, "process ended by SIGSEGV", 1),
    ],
)
def test_a_death_costs_one_run_and_is_repeatable(mechanism, reason, jobs):
    once, sampler = drawn(mechanism, isolate=True, jobs=jobs, size=20)
    again, _ = drawn(mechanism, isolate=True, size=20)
    outputs = once[0] + once[1]
    deaths = [output for output in outputs if isinstance(output, Unfinished)]
    assert once == again
    assert len(outputs) == 40
    assert set(deaths) == {Unfinished(reason)}
    assert min(output for output in outputs if output not in deaths) >= 0.1
    assert len(set(outputs)) == 40 - len(deaths) + 1  # no draw comes twice
    assert sampler.unfinished >= len(deaths)


def sometimes_exiting(database, rng):
    if rng.random() < 0.05:
        os._exit(3)
    return (os.environ.get("DP_AUDIT_SPAWN"), rng.random())


def test_if_processes_cannot_fork_new_processes_give_the_same_runs(monkeypatch):
    def found(forbidden):
        fresh._dismiss()  # dismiss the children that started with the other value of `forbidden`
        monkeypatch.setenv("DP_AUDIT_SPAWN", forbidden)
        with Sampler(adapt(sometimes_exiting), seed=4, isolate=True) as sampler:
            blocks = [
                *sampler.draw([1], [2], 20, (BET, 0)),
                *sampler.draw_anew([1], [2], [2, 2], (CONFIRM, 0)),
            ]
        outputs = [output for runs in blocks for output in (*runs.left, *runs.right)]
        died = [output for output in outputs if isinstance(output, Unfinished)]
        assert {told for told, _ in (each for each in outputs if each not in died)} == {forbidden}
        return [each if each in died else each[1] for each in outputs], len(died)

    forked, died = found("")
    assert died > 0
    try:
        assert found("1") == (forked, died)
    finally:
        fresh._dismiss()


def test_a_mechanism_that_always_dies_is_all_unfinished():
    [(left, right), _] = drawn(lambda database, rng: os._exit(0), isolate=True, size=3)
    assert set(left + right) == {Unfinished("process exited with code 0")}


def test_runs_of_a_dying_subject_without_generator_are_not_repeated():
    """Each run dies with probability 1/2.

    The number of deaths is outside [2, 30] of 32 with probability 2e-8 (binomial).
    """
    [(left, right), _] = drawn(lambda database: os.urandom(1)[0] < 128 and os._exit(1), isolate=True, size=16)
    assert 2 <= sum(isinstance(output, Unfinished) for output in left + right) <= 30


@dataclass(frozen=True)
class Deaf:
    """A subject that takes longer to build than the time limit of a run.

    While a run hangs, it ignores Python's signal handlers.
    """

    tester: int

    def __reduce__(self):
        return _made_slowly, (self.tester,)

    def __call__(self, database):
        if len(database) == 2:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            time.sleep(60)
        return 0


def _made_slowly(tester):
    if tester != os.getpid():
        time.sleep(1.0)
    return Deaf(tester)


def test_the_parent_ends_a_hang_that_the_child_cannot_end_and_does_not_take_a_start_for_a_hang(monkeypatch):
    monkeypatch.setattr("audit.sampling.isolated.isolation._GRACE", 0.1)
    [(left, right), _] = drawn(Deaf(os.getpid()), isolate=True, run_time_limit=0.5, size=1)
    assert left == [0]
    assert right == [Unfinished("time limit of 0.5 s")]


def test_a_slow_run_in_a_child_is_ended_without_its_death():
    def slow(database, rng):
        if len(database) == 2:
            time.sleep(60)
        return os.getpid()

    [(left, right), _] = drawn(slow, isolate=True, run_time_limit=0.05, size=2)
    assert right == [Unfinished("time limit of 0.05 s")] * 2
    assert len(set(left)) == 1


def test_a_vectorised_sampler_that_dies_gives_way_to_single_calls():
    class Dying(Vectorised):
        def sample(self, database, size, rng):
            os._exit(1)

    [(left, right), sampler] = drawn(Dying(), isolate=True)
    assert len(set(left + right)) == 80
    assert any("`sample` ended its process" in note for note in sampler.notes)


def global_numpy(database):
    value = np.random.random()  # noqa: NPY002  what mechanisms do
    if value < 0.2:
        os._exit(1)
    return value


def global_python(database):
    value = random.random()
    if value < 0.2:
        os._exit(1)
    return value


def global_own(database):
    value = OWN.random()
    if value < 0.2:
        os._exit(1)
    return value


@pytest.mark.parametrize("mechanism", [global_numpy, global_python, global_own])
def test_generators_of_the_child_itself_do_not_start_again_after_a_death(mechanism):
    """All 80 runs survive with probability 2e-8.

    Each run dies with probability 1/5.
    """
    assert_that_deaths_start_nothing_again(mechanism)


def assert_that_deaths_start_nothing_again(mechanism):
    [(left, right), _] = drawn(mechanism, isolate=True)
    outputs = left + right
    finished = [output for output in outputs if not isinstance(output, Unfinished)]
    assert len(finished) < len(outputs)
    assert len(set(finished)) == len(finished)


def test_generators_of_modules_that_the_child_imports_do_not_start_again_either(tmp_path, monkeypatch):
    """All 80 runs survive with probability 2e-8.

    Each run dies with probability 1/5.
    """
    (tmp_path / "their_noise.py").write_text(
        textwrap.dedent("""
        import os
        import numpy as np
        RNG = np.random.default_rng(3)
        def mechanism(database):
            value = RNG.random()
            if value < 0.2:
                os._exit(1)
            return value
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    import their_noise

    assert_that_deaths_start_nothing_again(their_noise.mechanism)


def test_a_global_that_cannot_be_pickled_is_found_again_by_its_file(tmp_path):
    file = tmp_path / "their_file.py"
    file.write_text("import threading\nlock = threading.Lock()\nmechanism = lambda d, rng: lock.locked()\n")
    spec = importlib.util.spec_from_file_location("their_unimportable_file", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
        [(left, _), _] = drawn(module.mechanism, isolate=True, size=1)
    finally:
        del sys.modules[spec.name]
    assert left == [False]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_sampler_still_draws_after_ctrl_c(jobs):
    def slow_on_two(database, rng):
        if len(database) == 2:
            time.sleep(60)
        return rng.random()

    with Sampler(adapt(slow_on_two), seed=0, isolate=True, jobs=jobs) as sampler:
        before = [x for runs in sampler.draw([1], [1], 20, (BET,)) for x in runs.left]
        timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            list(sampler.draw([1], [1, 2], 20, (BET,)))
        timer.join()
        after = [x for runs in sampler.draw([1], [1], 20, (BET,)) for x in runs.left]
    assert after == before


def test_what_a_child_prints_anywhere_is_swallowed(capfd):
    def printing(database, rng):
        print("python")  # noqa: T201  what mechanisms do
        os.write(1, b"descriptor")
        return 0

    [(left, _), sampler] = drawn(printing, isolate=True)
    assert left == [0] * 40
    assert sampler.printed == 7 * sampler.drawn
    assert capfd.readouterr() == ("", "")


def test_errors_of_the_subject_reach_the_parent():
    with pytest.raises(MutatedInput):
        drawn(lambda database, rng: database.append(1), isolate=True)


def test_outputs_that_cannot_be_pickled_arrive_as_their_class_and_text():
    [(left, _), _] = drawn(lambda database, rng: threading.Lock(), isolate=True, size=1)
    assert left == [Opaque("lock", "<unlocked _thread.lock object>")]


def test_outputs_from_a_child_do_not_change_the_users_class():
    class Local:
        def value(self):
            return 3

    method = Local.value
    [(left, _), _] = drawn(lambda database, rng: Local(), isolate=True, size=1)
    assert left[0].value() == 3
    assert type(left[0]).__qualname__ == Local.__qualname__
    assert Local.value is method


def test_a_module_is_sent_without_its_loader(monkeypatch):
    """A module is sent without its loader, which pickle may refuse."""
    module = types.ModuleType("a_users_module")
    module.__loader__, module.value = threading.Lock(), 3
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert unpack(pack(module, by_value=(module.__name__,))).value == 3


def test_a_subject_that_cannot_be_sent_is_refused_in_one_line():
    lock = threading.Lock()
    with pytest.raises(SubjectError, match=r"cannot be sent to another process .*isolate=False") as caught:
        drawn(lambda database, rng: lock, isolate=True)
    assert "\n" not in str(caught.value)


def test_state_in_a_child_is_noticed_and_copies_start_afresh():
    calls = []

    def counter(database, rng):
        calls.append(1)
        return len(calls)

    with Sampler(adapt(counter), seed=0, isolate=True) as sampler:
        kept = [x for runs in sampler.draw([1], [2], 10, (BET,)) for x in runs.left + runs.right]
        assert sampler.state_kept() is True
        fresh = [
            x for runs in sampler.draw([1], [2], 10, (CONFIRM,), fresh=True) for x in runs.left + runs.right
        ]
    assert len(set(kept)) == 20
    assert fresh == [1] * 20
    assert calls == []


def test_a_child_imports_a_module_if_it_can(tmp_path, monkeypatch):
    (tmp_path / "their_module.py").write_text(
        "def mechanism(database, rng):\n    return __name__, __file__\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import their_module

    [(left, _), _] = drawn(their_module.mechanism, isolate=True, size=1)
    assert left == [("their_module", str(tmp_path / "their_module.py"))]


def test_the_child_ends_with_its_parent(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, signal, time
        from audit.sampling import Sampler
        from audit.subject.subject import adapt
        def mechanism(database, rng):
            if database == [2]:
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
                time.sleep(600)
            return os.getpid()
        sampler = Sampler(adapt(mechanism), seed=0, isolate=True)
        [runs] = sampler.draw([1], [1], 1, (0,))
        print(runs.left[0], flush=True)
        list(sampler.draw([2], [2], 1, (0,)))
        """)
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while _alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not _alive(child)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_exceptions_are_sent_as_outcomes():
    [(left, right), _] = drawn(raising, jobs=2)
    assert {output.kind for output in left + right if isinstance(output, Raised)} == {"ValueError"}


def test_killing_a_child_frees_a_thread_that_waits_for_its_worker():
    child = Child(None)
    child._worker = 0  # the worker was started, but the child ended before it could report that
    errors = []

    def waits():
        try:
            child._await_worker()
        except AuditError as error:
            errors.append(error)

    thread = threading.Thread(target=waits, daemon=True)
    thread.start()
    child.kill()
    thread.join(timeout=20)
    assert len(errors) == 1
    child.close()


def test_children_draw_only_a_few_blocks_ahead_of_those_taken():
    begun = []

    def draw(child, task):
        begun.append(task)
        return task

    blocks = drawn_by(["one", "two"], range(100), draw)
    assert next(blocks) == 0
    assert len(begun) <= 4
    assert list(blocks) == list(range(1, 100))
