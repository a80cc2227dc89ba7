"""The saved cells of a study are used only with the code that computed them."""

import functools
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from audit.doors.cli import studies
from audit.sampling.remake import sources
from audit.studies import Curve, load_studies, load_study
from audit.studies.run import code_of
from audit.studies.saved import CellStore

STUDY = """
from audit.claims import PAC
from audit.problems import FixedProblem
from audit.studies import Curve, Study

def failure(value, m):
    {inside}
    return 2.0 ** -m * factor()

curve = Curve("halves", lambda value, m: lambda database: 0, lambda value, m: [], failure=failure, compared=0)
study = Study("halves", "Halves.", PAC(0.1, 0.01), "c", (1.0,), (curve,))
"""
HELPER = "def factor(): return {}\n"


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Yield a function that writes a study with a helper module, and loads it."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    modules = {*sys.modules}

    def write(folder, factor, *, inside="from {helper} import factor", text=STUDY):
        (tmp_path / folder).mkdir(exist_ok=True)
        helper = f"helper_of_{folder}"
        (tmp_path / folder / f"{helper}.py").write_text(HELPER.format(factor))
        path = tmp_path / folder / "halves.py"
        path.write_text(text.format(inside=inside.format(helper=helper)))
        return load_study(f"{path}:study")

    yield write
    for name in {*sys.modules} - modules:
        del sys.modules[name]


def met(study, store):
    return studies.cells_of(study, store=store, terms={}, jobs=1).curves[0].cells[0].met


def test_a_changed_learner_begins_its_cells_anew(tmp_path, written):
    store = CellStore(tmp_path / "cells")
    assert met(written("one", 1), store) == 7  # 2^-7 ≤ 0.01
    assert met(written("two", 1, text=STUDY.replace("2.0 ** -m", "4.0 ** -m")), store) == 4


def test_a_changed_imported_module_begins_the_cells_anew(tmp_path, written):
    store = CellStore(tmp_path / "cells")
    assert met(written("one", 1), store) == 7
    assert met(written("two", 8), store) == 10


def test_the_same_code_in_another_folder_resumes(tmp_path, written, monkeypatch):
    text = STUDY.format(inside="factor = lambda: 1")
    first, second = written("one", 1, text=text), written("two", 1, text=text)
    assert code_of(first.curves[0]) == code_of(second.curves[0])
    store, saved = CellStore(tmp_path / "cells"), []
    met(first, store)
    monkeypatch.setattr(store, "write", lambda key, steps: saved.append(steps))
    met(second, store)
    assert not saved


def curve(learner, problems=lambda value, m: []):
    return Curve("a", learner, problems)


def builds(rate):
    return lambda value, m: rate


class Builds:
    def __init__(self, rate):
        self.rate = rate

    def __call__(self, value, m):
        return self.rate

    def method(self, value, m):
        return self.rate


class Slotted:
    __slots__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate


MAKERS = {
    "a closure": builds,
    "a closure in a closure": lambda rate: builds(builds(rate)),
    "a default": lambda rate: eval("lambda value, m, rate=rate: rate", {"rate": rate}),
    "a partial function": lambda rate: functools.partial(lambda rate, value, m: rate, rate),
    "a keyword of one": lambda rate: functools.partial(lambda value, m, rate: rate, rate=rate),
    "an object": Builds,
    "a method": lambda rate: Builds(rate).method,
    "an object with slots": lambda rate: builds(Slotted(rate)),
    "a cached function": lambda rate: functools.cache(builds(rate)),
    "a set": lambda rate: builds({rate, "a", "b"}),
    "a dictionary": lambda rate: builds({"rate": [rate]}),
    "an array": lambda rate: builds(np.array([1.0, rate])),
    "a fraction": lambda rate: builds(Fraction(rate)),
    "code without a file": lambda rate: eval(f"lambda value, m: {rate}"),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())
def test_captured_values_of_a_function_count_by_their_value(make):
    assert code_of(curve(make(1))) == code_of(curve(make(1)))
    assert code_of(curve(make(1))) != code_of(curve(make(2)))


def test_an_object_that_contains_itself_has_a_digest():
    around = []
    around.append(around)
    assert code_of(curve(builds(around))) == code_of(curve(builds(around)))


def test_built_in_functions_count_by_their_names():
    assert code_of(curve(max, min)) == code_of(curve(max, min)) != code_of(curve(sum, len))


def test_the_digest_is_the_same_in_every_process():
    """The other process has another order of sets (`PYTHONHASHSEED`)."""
    command = (
        "from audit.studies import load_studies; from audit.studies.run import code_of; "
        "print(code_of(load_studies()['parity'].curves[0]))"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    said = subprocess.run(
        [sys.executable, "-c", command],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.strip() == code_of(load_studies()["parity"].curves[0])


IMPORTS = {
    "in a package": ("from {p}.inner import factor", ["__init__.py"]),
    "in a folder without __init__": ("from {p}.inner import factor", []),
    "by the package's __init__": ("from {p}.other import factor", ["__init__.py", "other.py"]),
    "by its name in quotes": ("import importlib; factor = importlib.import_module('{p}.inner').factor", []),
    "relative to its package": (
        "from {p}.deep.user import factor",
        ["__init__.py", "deep/__init__.py", "deep/user.py"],
    ),
}
HELD = {
    "other.py": "from {p} import factor\n",
    "deep/user.py": "from ..inner import factor\n",
}


@pytest.mark.parametrize(("inside", "beside"), IMPORTS.values(), ids=IMPORTS.keys())
def test_a_changed_module_counts_however_it_is_imported(tmp_path, written, inside, beside):
    package = "package_beside"  # the study itself does not change

    def write(folder, factor):
        for name in [name for name in sys.modules if name.startswith(package)]:
            del sys.modules[name]
        place = tmp_path / folder / package
        place.mkdir(parents=True)
        for name in beside:
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(HELD.get(name, "").format(p=package))
        text = HELPER.format(factor)
        (place / "inner.py").write_text(text)
        if "other.py" in beside:
            (place / "__init__.py").write_text(text)
        return written(folder, 1, inside=inside.format(p=package))

    store = CellStore(tmp_path / "cells")
    assert met(write("one", 1), store) == 7
    assert met(write("two", 8), store) == 10


def test_an_installed_distribution_counts_by_its_installed_files(tmp_path, monkeypatch):
    place = tmp_path / "site-packages"
    record = place / "lib-1.0.dist-info" / "RECORD"
    record.parent.mkdir(parents=True)
    (record.parent / "METADATA").write_text("Name: lib\nVersion: 1.0\n")
    (place / "installed_lib").mkdir()
    module = place / "installed_lib" / "__init__.py"

    def installed(text, *, later=0, recorded=""):
        module.write_text(text)
        record.write_text(f"installed_lib/__init__.py,{recorded},\nlib-1.0.dist-info/RECORD,,\n")
        os.utime(record, (1, 1))
        os.utime(module, (1 + later, 1 + later))
        for cached in (sources._owners, sources._distribution, sources._requires):
            cached.cache_clear()
        return sources.digest({"installed_lib"})

    monkeypatch.syspath_prepend(place)
    first = installed("factor = 1", recorded="sha256=1")
    assert installed("factor = 1", recorded="sha256=1") == first
    assert installed("factor = 8", recorded="sha256=8") != first  # installed again, the same version
    assert installed("factor = 8", recorded="sha256=1", later=9) != first  # changed by hand


def test_a_cell_of_other_code_is_computed_anew_and_says_so(tmp_path, written):
    said = []
    store = CellStore(tmp_path / "cells", say=said.append)
    assert met(written("one", 1), store) == 7
    assert said == []
    assert met(written("two", 8), store) == 10
    [path] = (tmp_path / "cells").iterdir()
    assert said == [f"{path} was computed by other code or versions; the cell is computed again"]


def test_a_study_on_a_full_disk_goes_on_and_says_so_once(tmp_path, written, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    said = []
    store = CellStore(tmp_path / "cells", say=said.append)
    monkeypatch.setattr(Path, "replace", full)
    assert met(written("one", 1), store) == 7
    assert store.unsaved
    assert len(said) == 1
    assert said[0].endswith("No space left on device. The study continues without saving.")


def test_a_source_that_does_not_parse_counts_as_text(tmp_path, written):
    study = written("three", 1, inside="import broken_beside; from {helper} import factor")
    before = code_of(study.curves[0])
    (tmp_path / "three" / "broken_beside.py").write_text("def (")
    assert code_of(study.curves[0]) != before
