"""The mechanisms of `benchmarks/panel.py`, and the rule of each group."""

import importlib
import math
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RELEASING = [
    "in_global",
    "in_function",
    "in_thread",
    "in_cache",
    "in_environment",
    "in_file",
    "in_sqlite",
    "in_generator",
    "in_closure",
    "InAttribute",
    "InCoroutine",
    "BesideLock",
    "InSocket",
    "InPointer",
]
KEEPING = [
    "memoised",
    "memoised_with_jitter",
    "last_twenty",
    "noise_at_import",
    "on_disk_here",
    "NoiseAtStart",
]


@pytest.fixture
def panel(tmp_path, monkeypatch, false_alarms):
    assert false_alarms.SEARCHED  # the panel reads this list
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LAST_RELEASE", raising=False)
    return importlib.import_module("panel")


@pytest.mark.parametrize("name", RELEASING)
def test_a_memory_starts_empty_and_returns_its_previous_release(panel, monkeypatch, tmp_path, name):
    rng = np.random.default_rng(1)
    for turn in ("first", "second"):
        folder = tmp_path / turn
        folder.mkdir()
        monkeypatch.chdir(folder)
        monkeypatch.setenv("LAST_RELEASE", "0")
        subject = panel.PANEL[name].start()
        first, second = subject([0], rng), subject([1], rng)
        assert first[0] == 0
        assert second[0] == first[1] != 0


@pytest.mark.parametrize("name", KEEPING)
def test_noise_is_kept_within_an_audit_and_new_in_the_next(panel, monkeypatch, tmp_path, name):
    """Ten Laplace draws lie within 0.2 of the first with probability at most 5e-7."""
    answers = []
    for turn in range(10):
        folder = tmp_path / str(turn)
        folder.mkdir()
        monkeypatch.chdir(folder)
        subject = panel.PANEL[name].start()
        answers.append([subject([0, 1], None) for _ in range(2)])
    assert max(abs(again - first) for first, again in answers) < 0.2  # the jitter is at most 0.014
    assert max(abs(first - answers[0][0]) for first, _ in answers) > 0.2


def rows(verdict, log_wealth, count):
    return [
        {"verdict": verdict, "log_wealth": log_wealth, "crossed": log_wealth > 2.9, "seconds": 0.0}
    ] * count


@pytest.mark.parametrize(
    ("name", "refuted", "wealth", "met"),
    [
        ("clamped", 14, 0.01, True),
        ("clamped", 15, 0.01, False),
        ("clamped", 4, 1.5, False),
        ("memoised", 0, 20.0, True),
        ("memoised", 1, 0.01, False),
        ("in_clear", 95, 20.0, True),
        ("in_clear", 94, 20.0, False),
    ],
)
def test_each_group_has_its_rule(panel, name, refuted, wealth, met):
    found = [
        *rows("REFUTED", math.log(20.0), refuted),
        *rows("INCONCLUSIVE" if wealth == 20 else "NOT_REFUTED", math.log(wealth), 100 - refuted),
    ]
    assert panel.judged(name, found, 0.05).met is met
