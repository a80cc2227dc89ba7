"""The texts behind the short names: every one that the catalogue or a finding uses has its title."""

import re
from pathlib import Path

import pytest

from audit.catalogue import load_catalogue
from audit.findings import Finding
from mechanisms.findings.texts import NUMBERED, TEXTS, explained

PAGE = (Path(__file__).parents[2] / "docs/sources.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "told"), [*(TEXTS | NUMBERED).items()])
def test_the_page_of_sources_says_what_the_report_says(name, told):
    assert f"| **{name}** | {told} |" in PAGE


def test_every_text_that_the_catalogue_refers_to_is_named_in_full():
    cited = {
        found
        for entry in load_catalogue()
        for found in re.findall(r"(?:^|[;,(] ?)([A-Z]+\d*) (?:§|[A-Z][a-z]+ ?\d)", entry.reference)
    }
    assert {"K08", "K11", "B", "C", "BNS"} <= cited
    assert cited <= TEXTS.keys()


def test_a_finding_explains_the_names_it_uses_and_no_others():
    one = Finding("N5", "BNS Lemma 4", "C is a class (see E9).", "false", "f", errata=("N5",), row="M5, L12")
    assert [name for name, _ in explained(one).glossary] == ["BNS", "M", "L", "E", "N"]
