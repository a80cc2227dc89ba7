"""Each short name in the catalogue or a finding has a full title."""

import re
from pathlib import Path

import pytest

from audit.catalogue import load_catalogue
from audit.findings import Finding, Table
from mechanisms.findings.texts import NUMBERED, TEXTS, WORDS, explained

PAGE = (Path(__file__).parents[2] / "docs/sources.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "told"), [*(TEXTS | NUMBERED | WORDS).items()])
def test_the_page_of_sources_matches_the_report(name, told):
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


def test_a_finding_explains_exactly_the_terms_that_it_and_its_tables_use():
    table = Table(("k", "A_dist"), ((1, 0.5),), "log*(T) calls")
    one = Finding("X", "BNS", "LNI = NASQ is no Record, and Recursion none.", "holds", "f", tables=(table,))
    assert [name for name, _ in explained(one).glossary] == ["BNS", "NASQ", "LNI", "A_dist", "log*"]
