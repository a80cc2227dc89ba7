"""Our package for pages is found in a project with folders named like ours.

No project code runs.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import audit
from audit.doors import report_link
from audit.errors import AuditError

CODE = "from audit.doors.report_link import render_report; render_report([], 'out/index.html', title='Ours')"
ROOT = Path(audit.__file__).parent.parent


def run(folder, code=CODE):
    """Run Python in `folder` with that folder first on the path."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def project(tmp_path):
    """Return a project with packages `mechanisms`, `learners` and `reports`.

    Their code must not run.
    """
    for name in ("mechanisms", "learners", "reports"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise SystemExit('the {name} of the project ran')\n")
    (tmp_path / "reports" / "html.py").write_text("raise SystemExit('ran')\n")
    return tmp_path


def test_the_page_is_ours_in_a_project_with_its_own_reports(project):
    done = run(project)
    assert done.returncode == 0, done.stderr
    assert "<h1>Ours</h1>" in (project / "out" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["module", "namespace", "imported", "without a spec"])
def test_the_page_is_ours_even_if_something_else_has_the_name(tmp_path, kind):
    code = CODE
    if kind == "module":
        (tmp_path / "reports.py").write_text("raise SystemExit('ran')\n")
    if kind == "namespace":
        (tmp_path / "reports").mkdir()
        (tmp_path / "reports" / "summary.txt").touch()
    if kind == "imported":
        (tmp_path / "reports.py").write_text("theirs = True\n")
        code = f"import reports; {CODE}; import reports; assert reports.theirs"
    if kind == "without a spec":
        code = f"import sys, types; sys.modules['reports'] = types.ModuleType('reports'); {CODE}"
    done = run(tmp_path, code)
    assert done.returncode == 0, done.stderr
    assert "<h1>Ours</h1>" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_our_package_is_imported_by_its_name_if_nothing_else_has_it(tmp_path):
    done = run(tmp_path, f"{CODE}; import sys; assert 'reports.html' in sys.modules")
    assert done.returncode == 0, done.stderr


def test_a_foreign_package_in_our_place_is_named(tmp_path, monkeypatch):
    """Another distribution has installed a package of our name."""
    foreign = tmp_path / "reports" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("")
    monkeypatch.setattr(report_link, "_places", lambda: iter([foreign]))
    with pytest.raises(AuditError) as caught:
        report_link.render_report([], tmp_path / "page.html")
    assert str(foreign) in str(caught.value)
    assert "reinstall dp-audit" in str(caught.value)
    assert report_link._ALIAS not in sys.modules


def test_a_missing_package_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(report_link, "_places", lambda: iter([tmp_path / "reports" / "__init__.py"]))
    monkeypatch.setattr(report_link, "spec_of", lambda name: None)
    with pytest.raises(AuditError, match="is missing"):
        report_link.render_report([], tmp_path / "page.html")


def test_no_source_of_audit_imports_the_other_packages_by_name():
    for file in (ROOT / "audit").rglob("*.py"):
        words = [line.split()[:2] for line in file.read_text(encoding="utf-8").splitlines()]
        for name in ("reports", "mechanisms", "learners"):
            assert ["import", name] not in words
            assert not any(
                pair[0] == "from" and pair[1].split(".")[0] == name for pair in words if len(pair) == 2
            )
