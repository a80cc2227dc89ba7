"""The catalogue: what it promises, who may add to it, and what shadows it."""

import subprocess
import sys

import pytest

from audit.catalogue import GROUP, load_catalogue
from audit.errors import AuditError


def entries_of(name):
    return f"from audit.catalogue import Entry\ndef entries():\n    return [Entry({name!r}, lambda: len)]\n"


def test_every_entry_of_ours_says_what_it_is_and_where_it_is_stated():
    entries = load_catalogue()
    assert len(entries) >= 8
    assert len({entry.name for entry in entries}) == len(entries)
    assert {entry.expected for entry in entries} == {"refuted", "not refuted"}
    assert all(entry.summary and "\n" not in entry.summary for entry in entries)
    assert all(entry.reference for entry in entries)


def test_every_entry_builds_a_subject_that_can_be_called():
    for entry in load_catalogue():
        assert callable(entry.factory()), entry.name


def test_an_installed_distribution_adds_its_entries(thirdparty):
    thirdparty(GROUP, entry="stranger_a:entries", text=entries_of("theirs"))
    assert "theirs" in [entry.name for entry in load_catalogue()]


def test_two_entries_of_one_name_are_refused(thirdparty):
    taken = load_catalogue()[0].name
    thirdparty(GROUP, entry="stranger_b:entries", text=entries_of(taken))
    with pytest.raises(AuditError, match=f"unique; got `{taken}` more than once"):
        load_catalogue()


def test_an_entry_point_that_does_not_load_is_named_with_its_reason(thirdparty):
    thirdparty(GROUP, entry="stranger_c:entries", text="import nowhere_at_all")
    with pytest.raises(
        AuditError, match=r"`stranger_c:entries` of thirdparty cannot be loaded: .*nowhere_at_all"
    ):
        load_catalogue()


@pytest.mark.parametrize("place", ["mechanisms.py", "mechanisms/__init__.py", "mechanisms/inner.py"])
def test_a_module_that_shadows_ours_is_named_and_never_run(tmp_path, place):
    shadow = tmp_path / place
    shadow.parent.mkdir(exist_ok=True)
    shadow.write_text("raise SystemExit('the stranger ran')")
    code = (
        "from audit.errors import AuditError\n"
        "from audit.catalogue import load_catalogue\n"
        "try: print(len(load_catalogue()))\n"
        "except AuditError as error: print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = ran.stdout.strip()
    assert "the stranger ran" not in ran.stdout + ran.stderr
    # a folder without __init__.py does not win against an installed package, except over an editable install
    assert said.isdigit() or f"{shadow if place == 'mechanisms.py' else shadow.parent} shadows" in said
    assert len(said.splitlines()) == 1
