"""Targets: each text names the right object, or one line says why not."""

import importlib
import sys

import cloudpickle
import pytest

from audit.catalogue import load_catalogue
from audit.errors import AuditError
from audit.subject.loading import load_object, near
from audit.subject.targets import rebuild_subject, resolve_target

MECHANISM = """
from dataclasses import dataclass
from audit.catalogue import Entry
from sibling_of_target import constant

def noisy_sum(database, rng, scale=1.0):
    return sum(database) + scale * constant()

@dataclass(frozen=True)
class Rounded:
    step: float = 1.0
    offset: float = 0.0
    def __post_init__(self):
        if self.step <= 0:
            raise ValueError("step must be positive\\nsecond line")
    def __call__(self, database, rng):
        return self.step * constant()

class Needy:
    def __init__(self, epsilon):
        pass

ready = Rounded(step=2.0)
class Group:
    inner = ready
entry = Entry("mine", Rounded, options={"size": 3}, expected="refuted", reference="a book, p. 3")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Change to a user's folder with a mechanism, and undo the imports afterwards."""
    (tmp_path / "mechanism_file.py").write_text(MECHANISM)
    (tmp_path / "sibling_of_target.py").write_text("def constant():\n    return 10\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("dp_audit_target_") or str(tmp_path) in str(
            getattr(sys.modules[name], "__file__", "")
        ):
            del sys.modules[name]
    importlib.invalidate_caches()


def test_a_file_is_loaded_with_its_siblings(folder):
    assert resolve_target("mechanism_file.py:noisy_sum").subject([1, 2], None) == 13


def test_a_file_in_another_folder_finds_its_siblings_too(folder, monkeypatch):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert resolve_target("../mechanism_file.py:noisy_sum").subject([], None) == 10


def test_a_module_of_the_working_folder_is_found(folder):
    assert resolve_target("sibling_of_target:constant").subject() == 10


def test_a_dotted_object_is_found(folder):
    assert load_object("mechanism_file.py:Group.inner").step == 2.0


def test_one_file_is_loaded_once(folder):
    first = load_object("mechanism_file.py:ready")
    assert load_object(str(folder / "mechanism_file.py") + ":ready") is first


def test_two_files_of_one_name_stay_separate(folder):
    (folder / "other").mkdir()
    (folder / "other" / "mechanism_file.py").write_text("ready = 'the other'")
    load_object("mechanism_file.py:ready")
    assert load_object("other/mechanism_file.py:ready") == "the other"


def test_definitions_of_a_file_are_pickled_by_value_for_child_processes(folder):
    subject = resolve_target("mechanism_file.py:Rounded", {"step": 3.0}).subject
    data = cloudpickle.dumps(subject)
    assert b"noisy_sum" not in data
    for name in [name for name in sys.modules if name.startswith("dp_audit_target_")]:
        del sys.modules[name]  # as in a child process
    assert cloudpickle.loads(data)([], None) == 30.0


def test_a_class_is_called_with_the_parameters(folder):
    assert resolve_target("mechanism_file.py:Rounded", {"step": 0.5}).subject.step == 0.5


def test_a_dataclass_instance_is_copied_with_the_parameters(folder):
    changed = resolve_target("mechanism_file.py:ready", {"offset": 1.0}).subject
    assert (changed.step, changed.offset) == (2.0, 1.0)


def test_a_function_takes_parameters_as_keywords(folder):
    assert resolve_target("mechanism_file.py:noisy_sum", {"scale": 2.0}).subject([1], None) == 21


def test_an_entry_brings_its_options_and_expectation(folder):
    target = resolve_target("mechanism_file.py:entry", {"step": 4.0})
    found = target.subject.step, target.options_for("privacy"), target.expects("privacy")
    assert found == (4.0, {"size": 3}, "refuted")
    assert (target.expects("utility"), target.entry.reference) == (None, "a book, p. 3")


def test_a_catalogue_name_is_found():
    entry = load_catalogue()[0]
    target = resolve_target(entry.name)
    assert type(target.subject) is type(entry.factory())
    assert target.expects("privacy") == (None if entry.options is None else entry.expected)


def test_prints_of_a_module_while_it_loads_stay_off_stdout(folder, capsys):
    (folder / "chatty.py").write_text("print('loading')\nx = 1")
    load_object("chatty.py:x")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("target", "parameters", "words"),
    [
        (
            "nowhere_to_be_found:x",
            {},
            "`nowhere_to_be_found` cannot be imported: ModuleNotFoundError: No module named",
        ),
        (
            "broken.py:x",
            {},
            "`broken.py` cannot be imported: ZeroDivisionError: division by zero (broken.py, line 2)",
        ),
        ("unparsable.py:x", {}, "`unparsable.py` cannot be imported: SyntaxError: "),
        ("leaving.py:x", {}, "`leaving.py` cannot be imported: SystemExit: 7 (leaving.py, line 1)"),
        (
            "mechanism_file.py:noisy_sun",
            {},
            "`mechanism_file.py` has no `noisy_sun`; did you mean `noisy_sum`?",
        ),
        ("mechanism_fil.py:x", {}, "There is no file `mechanism_fil.py`; did you mean `mechanism_file.py`?"),
        (
            "mechanism_file.py",
            {},
            "`mechanism_file.py` is a file; add the object to audit: `mechanism_file.py:object`.",
        ),
        (
            "mechanism_file.py:",
            {},
            "A target must be `module:object` or `path.py:object`; got `mechanism_file.py:`.",
        ),
        ("mechanism_file.py:Rounded", {"stp": 1}, "has no parameter `stp`; its parameters are step, offset."),
        ("mechanism_file.py:noisy_sum", {"rng": 1}, "has no parameter `rng`; its parameters are scale."),
        ("mechanism_file.py:ready", {"stp": 1}, "has no parameter `stp`; its parameters are step, offset."),
        ("mechanism_file.py:Rounded", {"step": -1}, "cannot be built: ValueError: step must be positive"),
        (
            "zzzz",
            {},
            "The catalogue has no `zzzz`; `dp-audit list` shows all names",
        ),
    ],
)
def test_an_invalid_target_is_explained_in_one_line(folder, target, parameters, words):
    (folder / "broken.py").write_text("# a comment\n1 / 0\n")
    (folder / "unparsable.py").write_text("def f(:\n")
    (folder / "leaving.py").write_text("raise SystemExit(7)")
    with pytest.raises(AuditError) as caught:
        resolve_target(target, parameters)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not {"targets.py", "loading.py"} & set(
        str(caught.value).replace("(", " ").replace(",", " ").split()
    )


def test_a_failed_import_can_be_tried_again(folder):
    (folder / "mended.py").write_text("1 / 0")
    with pytest.raises(AuditError):
        load_object("mended.py:x")
    (folder / "mended.py").write_text("x = 'whole at last'")
    assert load_object("mended.py:x") == "whole at last"


def test_a_plain_instance_takes_no_parameters(folder):
    (folder / "plain.py").write_text("class C:\n    pass\nready = C()")
    with pytest.raises(AuditError, match="is already an instance of C, so it takes no parameters"):
        resolve_target("plain.py:ready", {"a": 1})


def test_a_saved_subject_is_rebuilt_from_the_parameters_it_takes(folder):
    saved = {"step": 0.25, "derived": "not a parameter"}
    assert rebuild_subject("mechanism_file.py:Rounded", saved).step == 0.25
    assert rebuild_subject("mechanism_file.py:Rounded", saved, {"step": 2.0}).step == 2.0


CATALOGUE = (
    "masked-parity-learner",
    "point-learner",
    "sq-masked-parity",
    "parity",
    "parity-tight",
    "sq-bent-learner",
    "geometric",
    "generic-learner",
    "laplace-mean",
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("parity-learner", "parity"),  # not `point-learner`, which has more letters in common
        ("generic", "generic-learner"),  # not `geometric`
        ("masked-parity", "masked-parity-learner"),
        ("parity-tigth", "parity-tight"),
        ("laplas-mean", "laplace-mean"),
    ],
)
def test_a_name_with_the_same_beginning_is_suggested_before_a_similar_one(asked, meant):
    assert near(asked, CATALOGUE) == f"; did you mean `{meant}`?"


@pytest.mark.parametrize("asked", ["no-such-entry-anywhere", "quantile-learner", "x", ""])
def test_no_name_is_suggested_that_shares_almost_nothing(asked):
    assert near(asked, CATALOGUE, otherwise=".") == "."
