"""The findings page covers every system, numbered statement and erratum."""

import math
import re
from collections import Counter
from functools import cache

import pytest

from audit.findings import load_findings

SYSTEMS = [*(f"M{i}" for i in range(1, 16)), *(f"L{i}" for i in range(1, 21))]
ERRATA = [*(f"E{i}" for i in range(1, 16)), *(f"N{i}" for i in range(1, 28))]

STATEMENTS = """
B Theorems 3, 5, 6, 7, 8
C Theorem 1
K08 Claims 2.1, 3.3, 4.1, Lemmas 3.1, 3.2, 4.2, 4.3, 4.4, 4.5, Corollaries 4.6, 5.2
K08 Theorems 3.6, 3.7, 3.8, 4.8, 5.1
K11 Claims 2.2, 4.3, 5.9, 5.10, Lemmas 3.3, 4.1, 4.2, 4.5, 4.6, 5.6, 5.8, A.3, Proposition 5.18
K11 Theorems 2.3, 3.4, 4.4, 5.7, 5.14, 5.16, A.1, A.2, Corollaries 3.6, 5.15, 5.17
BNS Theorems 1, 2, 3, 4, 5, 6, 7, Propositions 1, 2, Lemmas 1, 2, 3, 4, Remarks 1, 2, 3
"""
"""Every numbered theorem, lemma, claim, corollary, proposition and remark of the five texts."""

DEFINITIONS = """
B Definition 2
K08 Definition 4.3
K11 Definitions 3.1, 5.1, 5.2, 5.3, 5.4, 5.5, 5.13
BNS Definitions 6, 12, 13
"""
"""The definitions that a system is built on, or that say more than what a word means."""

TOKEN = re.compile(
    r"\b(K08|K11|BNS|B|C)\b|\b(Theorem|Thm|Lemma|Proposition|Definition|Corollar|Claim|Remark)\w*"
    r"|(?:(?<=[ ,])|^)(A\.\d+|\d+(?:\.\d+)*)(?:-(\d+\.\d+))?"
)


def statements(words):
    """Parse "K11 Claims 5.9, 5.10; B Thm 6" as a set.

    The set is {(K11, Claim, 5.9), (K11, Claim, 5.10), (B, Theorem, 6)}.
    """
    found, text, kind = set(), None, None
    for match in TOKEN.finditer(words):
        new_text, new_kind, number, last = match.groups()
        if new_text:
            text, kind = new_text, None
        elif new_kind:
            kind = "Theorem" if new_kind == "Thm" else new_kind
        elif text and kind:
            found.add((text, kind, number))
            if last:
                chapter, first = number.split(".")
                found |= {
                    (text, kind, f"{chapter}.{i}") for i in range(int(first), int(last.split(".")[1]) + 1)
                }
    return found


@cache
def computed():
    return {name: compute() for name, compute in load_findings().items()}


def test_every_system_is_named_by_a_finding_and_findings_name_no_others():
    named = [row for finding in computed().values() for row in finding.rows]
    assert set(SYSTEMS) - set(named) == set()
    assert set(named) - set(SYSTEMS) == set()
    assert [name for name, finding in computed().items() if not finding.rows] == []


def test_every_erratum_names_itself_and_names_are_of_findings():
    for name, finding in computed().items():
        assert set(finding.errata) <= set(computed()), name
        if name.split(" ")[0] in ERRATA:
            assert name in finding.errata


def test_every_finding_about_a_faulty_statement_names_its_erratum():
    cited = {name: statements(f"{name}; {finding.source}") for name, finding in computed().items()}
    wrong = [name for name in computed() if name.split(" ")[0] in ERRATA]
    missing = [
        (name, erratum)
        for name, finding in computed().items()
        for erratum in wrong
        if cited[name] & cited[erratum] and name not in wrong and erratum not in finding.errata
    ]
    assert missing == [("BNS Proposition 2(i)", "E12")]  # E12 is about part (ii)


def test_every_erratum_is_on_the_page():
    named = {name: name.split(" ")[0] for name in computed()}
    assert set(ERRATA) - set(named.values()) == set()
    wrong = [name for name, first in named.items() if first in ERRATA]
    assert [name for name in wrong if computed()[name].judgement == "holds"] == []


REMARKS = [
    "B §1.1.1, posterior",
    "BNS §1, INTERVAL",
    "BNS §1, improper learners",
    "BNS §3.2, binary searches",
    "BNS §3.2, k-good intervals",
    "BNS §4, pure sanitizers",
    "K11 §1.1.1, adaptivity",
    "K11 §1.1.1, price",
    "K11 §5.3, distribution-free",
    "K11 §5.3, weak learning",
    "K11 §1.2, stability",
    "K11 §3.1, price",
    "K11 §3.1, compression",
    "K11 §4, price",
    "K11 footnote 6",
]


def test_unnumbered_claims_of_the_texts_are_on_the_page():
    judged = {name: computed()[name].judgement for name in REMARKS}
    assert {name: said for name, said in judged.items() if said not in ("holds", "not verified")} == {}


def test_references_to_statements_are_parsed_correctly():
    counts = Counter(text for text, _, _ in statements(STATEMENTS))
    assert counts == {"B": 5, "C": 1, "K08": 16, "K11": 24, "BNS": 16}


def test_every_numbered_statement_of_the_texts_is_on_the_page():
    on_page = set().union(*(statements(f"{name}; {finding.source}") for name, finding in computed().items()))
    assert statements(STATEMENTS + DEFINITIONS) - on_page == set()


def test_the_commands_shown_name_entries_of_the_catalogue():
    from audit.catalogue import load_catalogue

    known = {entry.name for entry in load_catalogue()}
    shown = [finding.command for finding in computed().values() if finding.command]
    assert len(shown) > 10
    assert {command.removeprefix("dp-audit run ") for command in shown} <= known


BOUNDS = [
    "B Theorem 3",
    "B Theorem 5",
    "B Theorem 7",
    "C §2",
    "K11 Theorem 2.3",
    "K11 §1.1, Warner",
    "K11 Claim 2.2",
    "Advanced composition",
    "K11 Definition 5.3",
    "K11 §5.1.1, R_g",
    "K11 Definition 5.4",
    "K11 Theorem 3.4",
    "K11 Corollary 3.6",
    "K08 Theorem 3.8",
    "BNS §1, generic sanitizer",
    "BNS Theorem 7",
]


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_that_holds_is_not_exceeded(name):
    finding = computed()[name]
    assert finding.judgement == "holds"
    assert 0 < finding.found <= finding.claimed * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("B §1.1.1, posterior", math.e),
        ("K11 §1.2, stability", math.tanh(0.5)),
        ("K11 footnote 6", 1 / (1 + math.e)),
        ("B Theorem 3", 1.0),
        ("C §2", math.log(2)),
        ("K11 Theorem 2.3", 1.0),
        ("K11 §1.1, Warner", math.log(2)),
        ("K11 Claim 2.2", 0.75),
        ("K11 Definition 5.3", 0.75),
        ("K11 §5.1.1, R_g", 1.0),
    ],
)
def test_findings_that_state_equality_have_it(name, loss):
    assert computed()[name].found == pytest.approx(loss, rel=1e-9)


def test_the_label_learner_is_private_only_in_its_labels():
    (_, label, _), (_, example, delta) = computed()["BNS Theorem 7"].tables[1].rows
    assert label <= 1
    assert example == math.inf
    assert delta > 0.5


@pytest.mark.parametrize("name", ["K11 Theorem 5.7", "K11 §3.1, compression"])
def test_the_loss_found_for_a_private_system_does_not_exceed_its_epsilon(name):
    finding = computed()[name]
    assert 0 < finding.found <= finding.claimed * (1 + 1e-9)


ORDERS = [
    "BNS §3.2, binary searches",
    "BNS Theorem 2",
    "BNS Theorem 3",
    "BNS Theorem 4",
    "BNS Theorem 6",
    "BNS §1, POINT",
    "BNS §1, INTERVAL",
    "BNS §4, pure sanitizers",
    "K11 §3.1, price",
    "K11 §4, price",
    "N3",
]


@pytest.mark.parametrize("name", ORDERS)
def test_for_a_claim_up_to_constants_the_page_says_so_and_shows_no_ratio(name):
    finding = computed()[name]
    assert finding.ratio is None
    assert re.search(r"\bonly (an|the) order|orders only", finding.shown)


def test_a_lower_bound_with_a_quoted_proof_is_not_judged_to_hold():
    assert computed()["BNS Theorem 6"].judgement == "not verified"


def test_perceptron_and_k_means_stay_within_their_bounds():
    assert all(error <= allowed for *_, allowed, error in computed()["K11 §1.1.1, adaptivity"].tables[0].rows)


def test_the_exact_learners_and_classes_have_no_error():
    for name in ("K11 Proposition 5.18", "Concept classes"):
        assert computed()[name].ratio == 1
