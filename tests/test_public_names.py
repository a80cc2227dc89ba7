"""CHANGELOG.md names every public name that differs from the last release.

Signatures count too. Update the list at a release:
`python -P tests/test_public_names.py > tests/data/public-names.txt`.
"""

import enum
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
RELEASED = ROOT / "tests" / "data" / "public-names.txt"
#: Modules whose names users may import, as audit/ARCHITECTURE.md says.
_VOCABULARY = (
    "adapters",
    "catalogue",
    "claims",
    "distributions",
    "edges",
    "errors",
    "findings",
    "problems",
)
MODULES = {
    "audit": None,
    **dict.fromkeys(f"audit.{name}" for name in (*_VOCABULARY, "relations", "strategies", "studies")),
    "audit.values.progress": ["AuditStarted", "AuditProgressed", "AuditFinished"],
    "audit.pytest_plugin": ["parametrize_with_witnesses"],
    "mechanisms": None,
    "learners": None,
}
_ADDRESS = re.compile(r"<(?:function|class|bound method) '?([\w.<>]+)'?[^<>]*>")


def public_names():
    """Return a dict from full name to description.

    A description is a signature, the members of an enumeration, or a kind.
    """
    found = {}
    for module, names in MODULES.items():
        held = import_module(module)
        for name in sorted(names or held.__all__):
            value = getattr(held, name)
            found[f"{module}.{name}"] = described(value)
            if inspect.isclass(value) and module.startswith("audit"):
                found |= {f"{module}.{name}.{key}": described(method) for key, method in methods(value)}
    return found


def methods(kind):
    for name in dir(kind):
        value = getattr(kind, name, None)
        ours = str(getattr(value, "__module__", "")).startswith("audit")
        if not name.startswith("_") and ours and (inspect.isfunction(value) or inspect.ismethod(value)):
            yield name, value


def described(value):
    if inspect.isclass(value) and issubclass(value, enum.Enum):
        return " ".join(value.__members__)
    if not callable(value):
        return type(value).__name__
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "()"
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return _ADDRESS.sub(r"\1", str(inspect.Signature(bare)))


def changed(before, now):
    return sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))


def unsaid(names, text):
    """Return the names that a text never mentions.

    A mention is `name` or `Class.method` in backticks.
    """
    said = {quoted.partition("(")[0] for quoted in re.findall(r"`([^`]+)`", text)}
    return [name for name in names if not said.intersection(endings(name))]


def endings(name):
    module = max((each for each in MODULES if name.startswith(f"{each}.")), key=len)
    rest = name.removeprefix(f"{module}.")
    return {rest, name}


def test_every_difference_from_the_last_release_is_in_the_changelog():
    released = dict(line.split(" ", 1) for line in RELEASED.read_text(encoding="utf-8").splitlines())
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    unreleased = text.partition("## Unreleased")[2].partition("\n## ")[0]
    silent = unsaid(changed(released, public_names()), unreleased)
    assert silent == [], "name them in CHANGELOG.md, under Unreleased, in backticks"


def test_a_change_is_detected_and_an_entry_resolves_it():
    before = {"audit.a": "(x)", "audit.B.m": "(self)", "audit.c": "()"}
    now = {"audit.a": "(x, y)", "audit.B.m": "(self)", "audit.d": "()"}
    assert changed(before, now) == ["audit.a", "audit.c", "audit.d"]
    assert unsaid(["audit.a", "audit.B.m"], "`a(x, y)` takes y; `m` is faster") == ["audit.B.m"]
    assert unsaid(["audit.a", "audit.B.m"], "`audit.a`; `B.m` is faster") == []


if __name__ == "__main__":
    sys.stdout.writelines(f"{name} {told}\n" for name, told in public_names().items())
