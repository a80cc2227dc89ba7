"""The command that makes every table of `benchmarks/`."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def run(monkeypatch):
    spec = importlib.util.spec_from_file_location("benchmarks_run", FOLDER / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_the_readme_shows_the_list_of_tables(run):
    assert run.in_markdown() in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_script_makes_a_table(run):
    scripts = {path.stem for path in FOLDER.glob("*.py") if '__name__ == "__main__"' in path.read_text()}
    assert {table.script or name for name, table in run.TABLES.items()} == scripts - {"run"}


def test_a_finished_table_is_saved_with_versions_and_seeds_and_a_failed_one_is_repeated(
    run, tmp_path, monkeypatch, capsys
):
    (tmp_path / "good.py").write_text("print('a figure')")
    (tmp_path / "bad.py").write_text("print('half a figure'); raise SystemExit(1)")
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "TABLES", {name: run.Table("a test", "0 to 4") for name in ("good", "bad")})
    assert run.main(["--folder", str(tmp_path / "saved")]) == 1
    [saved] = (tmp_path / "saved").iterdir()
    assert saved.name == "good.txt"
    assert re.search(
        r"seeds: 0 to 4; Python 3.*, dp-audit .*, numpy .* cores.*\na figure\n", saved.read_text()
    )
    capsys.readouterr()
    assert run.main(["--folder", str(tmp_path / "saved")]) == 1
    out = capsys.readouterr().out
    assert "half a figure" in out
    assert "\na figure" not in out
