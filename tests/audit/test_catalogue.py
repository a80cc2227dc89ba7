"""The catalogue: what entries declare, and who may add entries."""

import subprocess
import sys
import zlib

import pytest

from audit.catalogue import GROUP, load_catalogue
from audit.errors import AuditError


def entries_of(name):
    return f"from audit.catalogue import Entry\nentries = (Entry({name!r}, lambda: len),)\n"


def test_every_entry_of_ours_has_a_summary_and_a_reference():
    entries = load_catalogue()
    assert len({entry.name for entry in entries}) == len(entries)
    assert {entry.expected for entry in entries} == {"refuted", "not refuted"}
    assert all(entry.summary and "\n" not in entry.summary for entry in entries)
    assert all(len(entry.summary) < 120 for entry in entries)
    assert all(entry.reference for entry in entries)


def test_an_entry_whose_privacy_must_be_refuted_is_named_flawed():
    for entry in load_catalogue():
        if entry.name.startswith("flawed-"):
            assert entry.flaws, entry.name
        else:
            assert "privacy" not in entry.flaws, entry.name


def test_every_entry_builds_a_subject_that_can_be_called():
    for entry in load_catalogue():
        assert callable(entry.factory()), entry.name


def test_an_installed_distribution_adds_its_entries(thirdparty):
    thirdparty(GROUP, entry="stranger_a", text=entries_of("theirs"))
    assert "theirs" in [entry.name for entry in load_catalogue()]


def test_two_entries_of_one_name_are_refused(thirdparty):
    taken = load_catalogue()[0].name
    thirdparty(GROUP, entry="stranger_b", text=entries_of(taken))
    with pytest.raises(AuditError, match=f"unique; got `{taken}` more than once"):
        load_catalogue()


def test_an_entry_point_that_does_not_load_is_named_with_its_reason(thirdparty):
    thirdparty(GROUP, entry="stranger_c", text="import nowhere_at_all")
    with pytest.raises(AuditError, match=r"`stranger_c` of thirdparty cannot be loaded: .*nowhere_at_all"):
        load_catalogue()


@pytest.fixture
def offered_package(request, tmp_path, thirdparty):
    """Return a function that installs a package of entries under a unique name."""

    def install(**modules):
        name = f"theirs_{abs(zlib.crc32(request.node.name.encode()))}"
        thirdparty(GROUP, entry=name, text="")
        (tmp_path / f"site/{name}.py").unlink()
        (tmp_path / f"site/{name}").mkdir()
        for module, text in {"__init__": "", **modules}.items():
            (tmp_path / f"site/{name}/{module}.py").write_text(text)
        return name

    return install


def held(name, *texts):
    entries = ", ".join(f"Entry({text!r}, lambda: len)" for text in texts)
    return f"from audit.catalogue import Entry\n{name} = {entries}\n"


def test_the_entries_of_a_package_are_those_of_its_modules_by_name(offered_package):
    offered_package(
        __init__=held("entry", "first"),
        b=held("entries", "third", "fourth"),
        a=held("entry", "second"),
        aa="from .a import entry",
        __main__="raise SystemExit('the command ran')",
    )
    names = [entry.name for entry in load_catalogue()]
    assert names[-4:] == ["first", "second", "third", "fourth"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import nowhere_at_all", "`{}.a`: ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise SystemExit('stop')", "`{}.a`: SystemExit: stop"),
        ("def entries(): return []", "the `entries` of `{}.a` must be a tuple of Entry; got function"),
        ("entries = [3]", "the `entries` of `{}.a` must be a tuple of Entry; got list"),
        ("entry = len", "the `entry` of `{}.a` must be an Entry; got builtin_function_or_method"),
    ],
)
def test_an_error_in_a_module_is_one_line_that_names_it(offered_package, text, words):
    name = offered_package(a=text)
    with pytest.raises(AuditError) as caught:
        load_catalogue()
    expected = f"The catalogue `{name}` of thirdparty cannot be loaded: {words.format(name)}"
    assert str(caught.value) == expected


def test_an_entry_point_must_name_a_module_and_not_an_object_in_it(thirdparty):
    thirdparty(GROUP, entry="stranger_d:entries", text=entries_of("theirs"))
    with pytest.raises(AuditError, match="it must be a package or module"):
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
    # An installed package takes precedence over a folder without __init__.py. An editable install does not.
    assert said.isdigit() or f"{shadow if place == 'mechanisms.py' else shadow.parent} shadows" in said
    assert len(said.splitlines()) == 1
