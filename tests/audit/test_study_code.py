"""The cells of a study belong to the code that they were computed with."""

import functools
import sys

import pytest

from audit.studies import Curve, load_study
from audit.studies.code import code_of
from audit.studies.run import run_study
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
    """Return what writes a study with a helper beside it, and loads it as a fresh process would."""
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
    return run_study(study, store=store).curves[0].cells[0].met


def test_a_changed_learner_begins_its_cells_anew(tmp_path, written):
    store = CellStore(tmp_path / "cells")
    assert met(written("one", 1), store) == 7  # 2^-7 ≤ 0.01
    assert met(written("two", 1, text=STUDY.replace("2.0 ** -m", "4.0 ** -m")), store) == 4


def test_a_changed_module_that_it_imports_begins_them_anew(tmp_path, written):
    store = CellStore(tmp_path / "cells")
    assert met(written("one", 1), store) == 7
    assert met(written("two", 8), store) == 10


def test_the_same_code_in_another_folder_goes_on(tmp_path, written):
    text = STUDY.format(inside="factor = lambda: 1")
    first, second = written("one", 1, text=text), written("two", 1, text=text)
    assert code_of(first.curves[0]) == code_of(second.curves[0])
    store, taken = CellStore(tmp_path / "cells"), []
    met(first, store)
    run_study(second, store=store, listener=lambda event: taken.append(event.done))
    assert taken == [True]


def test_partial_functions_and_objects_count_by_where_they_are_defined():
    class Called:
        def __call__(self, value, m):
            return None

    plain = code_of(Curve("a", lambda value, m: None, lambda value, m: []))
    odd = Curve("a", functools.partial(lambda m, value: None, 1), Called())
    assert code_of(odd) == plain


def test_a_function_without_a_source_counts_as_nothing():
    assert code_of(Curve("a", max, min)) == code_of(Curve("a", sum, len))


def test_a_source_that_does_not_parse_counts_as_text(tmp_path, written):
    study = written("three", 1, inside="import broken_beside; from {helper} import factor")
    before = code_of(study.curves[0])
    (tmp_path / "three" / "broken_beside.py").write_text("def (")
    assert code_of(study.curves[0]) != before
