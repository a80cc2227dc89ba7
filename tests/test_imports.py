"""Mechanisms and learners import only the modules of `audit` listed here."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Modules of `audit` that mechanisms and learners may import, by purpose. A package stands for all its
#: modules, except for the packages in `ROOMS`.
GROUPS = {
    "what is claimed, of which databases, and by whom": {"catalogue", "claims", "problems", "relations"},
    "the law of an output, which is declared": {"distributions"},
    "one refusal for a bad argument, which names it in few words": {"errors", "values.brief"},
    "importing a package costs little: its names are looked up when they are asked for": {"values.on_demand"},
    "outputs and records of any kind are compared as the auditor compares them": {"values.canonical"},
    "a statement of a text is checked by exact numbers, and found true or false": {"findings", "laws.exact"},
}
#: Modules of `audit` that only one of the packages `mechanisms` and `learners` may import.
OWN = {
    "mechanisms": {
        "the budget of a composition is read off its parts, as an audit reads a subject": {"subject.subject"},
        "what a composition or a statement costs is computed from laws": {"laws.divergence"},
    },
    "learners": {"the least sample size of a learner is a study, which is offered": {"studies"}},
}


#: Packages from which only single modules may be imported.
ROOMS = {"laws", "subject", "values"}


def known_as(name):
    """Return the module of `audit` that an imported name belongs to.

    For a package in `ROOMS`, this is its inner module.
    """
    parts = name.split(".")[1:] or [""]
    return ".".join(parts[: 2 if parts[0] in ROOMS else 1])


def imported(source):
    """Return the modules of `audit` that a source text imports, at any depth."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {known_as(name) for name in names if name.split(".")[0] == "audit"}
    return found


@pytest.mark.parametrize("package", OWN)
def test_a_package_imports_those_modules_of_the_auditor_and_no_others(package):
    allowed = set().union(*GROUPS.values(), *OWN[package].values())
    files = sorted((ROOT / package).rglob("*.py"))
    by_file = {str(path.relative_to(ROOT)): imported(path.read_text(encoding="utf-8")) for path in files}
    beyond = {name: modules - allowed for name, modules in by_file.items() if modules - allowed}
    assert beyond == {}
    assert set().union(*by_file.values()) == allowed


def test_every_form_of_import_is_found():
    text = (
        "import audit\n"
        "import audit.verdict.betting as b, os\n"
        "def late():\n"
        "    from audit.values import canonical\n"
        "    from audit.distributions.law import Law\n"
        "if TYPE_CHECKING:\n"
        "    from audit.claims import PureDP\n"
        "from .audit import nothing\n"
        "from auditing import nothing\n"
    )
    assert imported(text) == {"", "verdict", "values.canonical", "distributions", "claims"}
