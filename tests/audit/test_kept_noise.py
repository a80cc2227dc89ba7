"""A correct mechanism that keeps state is not refuted, and faults do not hide.

The mechanisms are those of the panel (`benchmarks/panel_*.py`). Each is audited once, at significance 1e-6.
The benchmark audits each a hundred times.
"""

import contextlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from audit import PureDP, Verdict, audit_privacy
from audit.errors import AuditError
from audit.sampling import Sampler
from audit.sampling.isolated import fresh
from audit.sampling.remake.modules import WITHIN
from audit.subject.subject import adapt

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAIR = [([0], [1])]
CLAIM = PureDP(1.0)


def anew(name):
    """Execute a module of `benchmarks/` again and return it."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Move the files that mechanisms keep into a temporary folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "TMPDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.delenv("LAST_RELEASE", raising=False)


@pytest.mark.parametrize(
    "name",
    ["in_global", "in_file", "InCoroutine", "InPointer"],  # the benchmark tests all of them
)
def test_memory_across_calls_refutes_nothing(name):
    """To somebody who knows the previous release, the loss of the mechanism is 1.

    The mechanism returns (previous release, new release). Bets on pairs of runs would reach a log wealth
    of 16 to 41.
    """
    found = getattr(anew("panel_memories"), name)
    mechanism = found() if isinstance(found, type) else found
    result = audit_privacy(mechanism, CLAIM, pairs=PAIR, budget=6_000)
    assert result.verdict is not Verdict.REFUTED
    assert result.log_wealth < 13.8


KEPT = [  # the benchmark tests all of them
    "memoised_without_rng",
    "memoised_at_times",
    "memoised_with_jitter",
    "last_twenty",
    "generator_at_import",
    "noise_at_import",
    "NoiseAtStartWithJitter",
    "slow_clock",
    "budget_each",
    "on_disk_here",
]


@pytest.mark.parametrize("name", KEPT)
def test_noise_that_is_drawn_once_and_kept_refutes_nothing(name):
    """Kept noise refutes nothing.

    Sums differ by 0.1 under noise of scale 1. At ε = 0.1 the audit takes 36 fresh processes; at ε = 1 it
    would take 98.
    """
    found = getattr(anew("panel_kept_noise"), name)
    mechanism = found() if isinstance(found, type) else found
    result = audit_privacy(mechanism, PureDP(0.1), pairs=[([0.0], [0.1])], budget=2_000)
    assert result.verdict is not Verdict.REFUTED
    if result.witness is not None:  # the wealth crossed the limit, and the result says what to do
        assert "fresh=" in result.reason


LEAKS = ["half_too_much", "rare_tail", "in_clear", "no_noise_for_nothing", "careless_when_warm"]


@pytest.mark.parametrize(
    ("name", "takes_rng"), [*((name, True) for name in LEAKS), ("half_too_much", False), ("in_clear", False)]
)
def test_a_fault_in_a_subject_that_draws_its_own_noise_is_refuted(name, takes_rng):
    """In one process, a subject's own noise looks like noise that is kept."""
    module = anew("panel_leaks")
    mechanism = getattr(module, name)
    subject = mechanism if takes_rng else module.WithoutRng(mechanism)
    budget = 100_000 if name == "rare_tail" else 20_000
    result = audit_privacy(subject, CLAIM, pairs=PAIR, budget=budget)
    assert result.verdict is Verdict.REFUTED
    assert result.witness.fresh
    assert any("fresh processes" in said for said in result.assumptions)


def closure():
    noise = 0.75

    def release(database, rng):
        return sum(database) + noise

    return release


def test_a_closure_whose_output_never_varies_is_told_to_give_a_factory():
    result = audit_privacy(closure(), CLAIM, pairs=PAIR, budget=2_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "`fresh=`" in result.reason
    settled = audit_privacy(closure(), CLAIM, pairs=PAIR, budget=2_000, fresh=closure)
    assert settled.verdict is Verdict.REFUTED


def test_a_closure_that_varies_is_refuted_under_a_printed_assumption():
    noise = anew("panel_leaks").noise
    scale = 0.25
    result = audit_privacy(lambda database: sum(database) + noise(scale), CLAIM, pairs=PAIR, budget=20_000)
    assert result.verdict is Verdict.REFUTED
    assert any("not checked: give `fresh=`" in said for said in result.assumptions)


class Accountant:
    """A mechanism that answers fifty times with noise of scale 0.1, then refuses."""

    def __init__(self, refusal="none"):
        self.left, self.refusal = 50, refusal

    def __call__(self, database, rng):
        self.left -= 1
        if self.left < 0 and self.refusal == "error":
            raise PermissionError("the budget is spent")
        return sum(database) + rng.laplace(scale=0.1) if self.left >= 0 else None


@pytest.mark.parametrize("refusal", ["none", "error"])
def test_a_subject_that_refuses_after_its_own_budget_is_settled_by_a_factory(refusal):
    """A refusal caused by earlier runs is not evidence.

    The true ε is 10, but 50 runs cannot show it.
    """
    domain = {"records": [0, 1], "size": 2, "budget": 4_000}
    alone = audit_privacy(Accountant(refusal), CLAIM, **domain)
    assert alone.verdict is Verdict.INCONCLUSIVE
    assert "stops answering" in alone.reason
    assert "`fresh=`" in alone.reason
    assert audit_privacy(Accountant(), CLAIM, fresh=Accountant, **domain).verdict is Verdict.REFUTED


def test_random_refusals_are_not_taken_for_a_spent_budget():
    """Every run refuses with probability ½."""

    def shy(database, rng):
        return sum(database) + rng.laplace() if rng.random() < 0.5 else None

    result = audit_privacy(shy, CLAIM, records=[0, 1], size=2, budget=4_000)
    assert "stops answering" not in result.reason


@pytest.mark.parametrize("given", [3, "text", [1]])
def test_a_factory_that_is_not_a_function_is_refused_in_one_line(given):
    with pytest.raises(AuditError, match="`fresh` must be a function"):
        audit_privacy(Accountant(), CLAIM, pairs=PAIR, fresh=given)


def honest(database, rng):
    return sum(database) + rng.laplace()


def seeded(database, rng):
    del rng
    return sum(database)


@pytest.mark.parametrize(
    ("mechanism", "stateless"),
    [(honest, True), (seeded, False), (anew("panel_memories").in_environment, False), (Accountant(), False)],
)
def test_which_subjects_count_as_stateless(mechanism, stateless, monkeypatch):
    monkeypatch.setenv("LAST_RELEASE", "0.5")
    with Sampler(adapt(mechanism), seed=0) as sampler:
        list(sampler.draw([0], [1], 40, (1, 0), by_call=True))
        assert sampler.is_stateless([0], [1]) is stateless


def test_a_subject_with_noise_made_at_import_does_not_count_as_stateless(tmp_path):
    """Only a fresh process draws anew the noise that was drawn at import."""
    source = (
        "import random\nNOISE = random.SystemRandom().gauss(0, 1)\n"
        "def release(database, rng):\n    return sum(database) + NOISE + rng.normal(scale=0.01)\n"
    )
    (tmp_path / "noisy_module.py").write_text(source)
    spec = importlib.util.spec_from_file_location("noisy_module", tmp_path / "noisy_module.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["noisy_module"] = module
    spec.loader.exec_module(module)
    result = audit_privacy(module.release, CLAIM, pairs=PAIR, budget=2_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "keeps noise" in result.reason or "share state" in result.reason


def test_a_fresh_process_has_a_new_working_directory_and_home():
    """Noise kept on disk would be in one of these folders."""

    def told(database, rng):
        import os

        return str(Path.cwd()) == os.environ["HOME"] == os.environ["TMPDIR"]

    with Sampler(adapt(told), seed=0) as sampler:
        runs = list(sampler.draw_anew([0], [1], [2, 2], (2, 0)))
    assert [output for block in runs for side in (block.left, block.right) for output in side] == [True] * 8


def test_only_a_subject_that_loads_a_large_library_gets_processes_that_have_it():
    """A fork of a process with pandas and sklearn takes ten times as long."""
    importlib.import_module("scipy")

    def plain(database, rng):
        return "scipy" in sys.modules

    def loading(database, rng):
        there = plain(database, rng)
        importlib.import_module("scipy")
        return there

    def loading_another(database, rng):
        there = "scipy.io" in sys.modules
        importlib.import_module("scipy.io")
        return there

    def asked(subject):
        with Sampler(adapt(subject), seed=0) as sampler:
            runs = list(sampler.draw_anew([0], [1], [0] * 4, (2, 0)))
        return [all([*block.left, *block.right]) for block in runs]

    for _ in range(2):
        assert asked(plain) == [False] * 4
        assert asked(loading)[1:] == [True] * 3
    children = [*fresh._NURSERY[os.getpid(), True]]
    assert asked(loading_another)[1:] == [True] * 3
    # the child processes have loaded scipy already, so they are not started again
    assert fresh._NURSERY[os.getpid(), True] == children


def test_an_audit_inside_of_a_fresh_process_is_refused(monkeypatch):
    monkeypatch.setenv(WITHIN, "1")
    with pytest.raises(AuditError, match="another audit"):
        audit_privacy(honest, CLAIM, pairs=PAIR)


def test_a_script_that_audits_at_import_gets_its_verdict():
    """Fresh processes import a script without auditing again.

    The script has no `__main__` guard.
    """

    source = (
        "import random\nfrom audit import PureDP, audit_privacy\n"
        "SCALE = 0.4\n"
        "def release(database):\n    return sum(database) + random.SystemRandom().gauss(0.0, SCALE)\n"
        "told = {'pairs': [([0], [1])], 'budget': 1_000, 'confirm_budget': 200, 'recorded': False}\n"
        "print(audit_privacy(release, PureDP(1.0), **told).verdict.name)\n"
    )
    Path("script.py").write_text(source)
    with contextlib.suppress(KeyError):
        del os.environ[WITHIN]
    root = str(Path(__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "script.py"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert ran.stdout.split() == ["REFUTED"], ran.stderr


def test_a_mechanism_too_slow_to_be_made_many_times_is_settled_by_a_factory(monkeypatch):
    """At ε = 3 the test of an event that never varies needs 760 processes.

    Each of them takes half a second to load.
    """
    Path("loading.py").write_text(
        "import time\ntime.sleep(0.5)\nKEPT = {}\ndef release(database, rng):\n    return database, len(KEPT)"
    )
    monkeypatch.syspath_prepend(Path.cwd())
    from loading import release

    domain = {"pairs": PAIR, "budget": 4_000}
    alone = audit_privacy(release, PureDP(3.0), **domain)
    assert alone.verdict is Verdict.INCONCLUSIVE
    assert "more than 120 seconds" in alone.reason
    again = alone.replay()
    assert (again.verdict, "more than 120 seconds" in again.reason) == (Verdict.INCONCLUSIVE, True), again
    renewed = audit_privacy(release, PureDP(3.0), fresh=lambda: release, **domain)
    assert renewed.verdict is Verdict.REFUTED
    assert any("not checked" in said for said in renewed.assumptions)


WARM = """
import random
from pathlib import Path

LOADED = Path({!r})
with LOADED.open("a") as file:
    file.write(".")
if LOADED.stat().st_size > 36:
    raise ImportError("no more licences")
calls = 0

def release(database, rng):
    global calls
    calls += 1
    scale = 1.0 if calls < 150 else 0.2
    return sum(database) + scale * random.SystemRandom().choice([-1, 1]) * random.expovariate(1)
"""


def test_a_witness_that_fresh_processes_deny_is_not_confirmed_by_a_warm_subject(tmp_path, monkeypatch):
    """The first 32 processes do not confirm the witness.

    The processes of the second try, with more calls, do not start.
    """
    Path("warm.py").write_text(WARM.format(str(tmp_path / "loaded")))
    monkeypatch.syspath_prepend(tmp_path)
    from warm import release

    result = audit_privacy(release, CLAIM, pairs=PAIR, budget=20_000)
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "share state" in result.reason
    assert (tmp_path / "loaded").stat().st_size > 36
