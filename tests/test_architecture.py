"""The layer table of `audit/ARCHITECTURE.md` matches the import contract."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def layers_of_the_map():
    text = (ROOT / "audit" / "ARCHITECTURE.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`(.*?)`", cell)]


def test_the_table_lists_the_layers_of_the_import_contract_in_order():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [
        each
        for each in settings["tool"]["importlinter"]["contracts"]
        if each["type"] == "layers" and each["containers"] == ["audit"]
    ]
    lowest_first = [name for level in reversed(contract["layers"]) for name in level.split(" | ")]
    assert [name.removesuffix("/") for name in layers_of_the_map()] == lowest_first


def test_the_table_marks_folders_with_a_slash():
    assert {name: (ROOT / "audit" / name).is_dir() for name in layers_of_the_map()} == {
        name: name.endswith("/") for name in layers_of_the_map()
    }
