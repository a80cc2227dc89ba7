"""Saved witnesses are replayed in processes without the user's classes.

Classes are sent by value.
"""

import subprocess
import sys
import threading

import cloudpickle
import pytest

from audit.sampling.remake.modules import taken_by_value

MODULE = """
from dataclasses import dataclass
from audit import Accuracy, PureDP


@dataclass(frozen=True)
class Person:
    bit: int


@dataclass(frozen=True)
class Coins:
    heads: int


class Leak:
    claim = PureDP(0.1)
    records = (Person(0), Person(1))
    size = 2

    def __call__(self, database, rng):
        return database[0]


class Wrong:
    utility_claim = Accuracy(0.25, 0.1)

    def __call__(self, database, rng):
        return database.heads

    def problems(self):
        return [Problem()]

    def random(self, rng):
        return Problem("found", 5)


@dataclass(frozen=True)
class Problem:
    name: str = "own"
    heads: int = 0

    def draw(self, rng):
        return Coins(self.heads)

    def error(self, output, database):
        return float(output)
"""


@pytest.fixture
def call(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)

    def run(*arguments):
        code = f"import sys; from audit.doors.cli import main; sys.exit(main({list(arguments)!r}))"
        return subprocess.run(
            [sys.executable, "-c", code],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


@pytest.mark.parametrize(("target", "shown"), [("Leak", "REFUTED"), ("Wrong", "same output as the saved")])
def test_databases_of_the_user_s_own_classes_are_replayed_in_a_new_process(call, target, shown):
    assert call("run", f"mine.py:{target}", "--json", "saved.json").returncode == 1
    again = call("replay", "saved.json", "--trust")
    assert (again.returncode, again.stderr) == (1, "")
    assert shown in again.stdout


def test_a_class_that_no_longer_exists_is_named_in_one_line(call, tmp_path):
    call("run", "mine.py:Leak", "--json", "saved.json")
    (tmp_path / "mine.py").write_text(MODULE.replace("Person", "Human"))
    again = call("replay", "saved.json", "--trust")
    assert again.returncode == 2
    assert again.stderr.count("\n") == 1
    assert "cannot be replayed: the class of Person(bit=" in again.stderr
    assert "is not loaded" in again.stderr


def test_a_problem_that_cannot_be_saved_has_to_be_given(call, tmp_path):
    """The search found the problem, and a replay cannot measure errors without it."""
    (tmp_path / "mine.py").write_text(
        MODULE.replace("@dataclass(frozen=True)\nclass Problem", "class Problem").replace(
            '    name: str = "own"\n    heads: int = 0\n',
            "    def __init__(self, name='own', heads=0):\n        self.name, self.heads = name, heads\n",
        )
    )
    assert call("run", "mine.py:Wrong", "--json", "saved.json").returncode == 1
    again = call("replay", "saved.json", "--trust")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "The problem `found` is not one of the learner's own" in again.stderr


def test_two_threads_do_not_take_modules_by_value_at_once():
    # cloudpickle has one list for all threads: the thread that ends first would shorten it for the other
    inside, leave, seen = threading.Event(), threading.Event(), []

    def first():
        with taken_by_value(["json"]):
            inside.set()
            leave.wait(10)

    def second():
        with taken_by_value(["json"]):
            seen.append("json" in cloudpickle.list_registry_pickle_by_value())

    threads = [threading.Thread(target=work) for work in (first, second)]
    threads[0].start()
    assert inside.wait(10)
    threads[1].start()
    threads[1].join(0.2)
    assert not seen
    leave.set()
    for thread in threads:
        thread.join(10)
    assert seen == [True]
    assert "json" not in cloudpickle.list_registry_pickle_by_value()
