"""Audits of the catalogue: only flawed entries are refuted, and formulas agree.

An audit refutes a correct entry with probability at most 1e-7, and a comparison with a formula gives a
false alarm with probability at most 1e-7. There are fewer than 500 of these, so any false alarm has a
probability below 5e-5. If a flawed entry is missed, power was lost: find the cause and do not change the
seed.

Correct entries, and flawed ones with an exact law, get fewer runs and problems here than in `make audit`
and `pytest -m audit`.
"""

import math

import numpy as np
import pytest

from audit import Verdict
from audit.catalogue import load_catalogue
from audit.databases import domain
from audit.privacy import make_task
from audit.pytest_plugin import parametrize_with_audits
from audit.results.result import Evidence
from audit.utility.families import read_problems

SIGNIFICANCE = 1e-7
REDUCED, REDUCED_UTILITY = 3_500, 2_000
#: Minimum numbers of runs of entries that need more than `REDUCED`. Fewer runs detect no ε on these entries,
#: because their ε is large or many runs give equal outputs.
LEAST = {
    "concave-promise-64-bits": 66_000,
    "k-means-local-at-size": 24_000,
    "local-laplace-average-printed-size": 24_000,
    "local-sq-algorithm": 12_000,
    "parity-amplified-at-size": 12_000,
    "private-sq-algorithm": 7_000,
}
#: Runs for entries with a law, to compare the code with the law; they detect a Laplace scale that is a third
#: too small. Formulas are compared separately. A proof needs 1,000 runs on each database of two pairs, by
#: single calls and by `sample`; half of the budget is for that.
BESIDE_LAW, FOR_PROOF = 5_000, 16_000
#: Runs for entries with a law whose calls are compared with the text's law by `Formulas` too.
COMPARED_ANYHOW = 600

#: Entries with exact losses for which no known database comes near the claim or the worst loss. Each is
#: compared with formulas, and its result says how many times as large the loss would have to be to exceed the
#: claim.
FAR = {
    "interval-learner-64",
    "interval-learner-64-budget",
    "interval-learner-64-budget-stated",
    "interval-sanitizer-64-lumped",
    "point-sanitizer-64-lumped",
}

#: Averages of hundreds of entries. One entry has its full loss only far in the tails, with probability below
#: the tolerance of exact comparisons.
TAILS = {"local-laplace-average-query", "local-laplace-average-printed-size"}

#: Entries whose claim must be proved, and those that get enough runs for it only by `pytest -m audit`. Here
#: their laws are compared with the claim on all pairs too, but with fewer runs of the code.
PROVED = {"conjunction-learner", "masked-parity-learner", "parity-amplified-retry"}
PROVED_AT_LENGTH = {
    *("compression-learner", "conjunction-learner-local", "masked-parity-learner-local"),
    *("parity-amplified-held-out", "parity-amplified-selection"),
}
#: The lower bound on ε must exceed this value, to show that the audit finds most of the loss.
FOUND = {
    # ε = 1 for all rounds together; basic composition of the steps would give 4
    "compression-learner": 1.0 - 1e-6,
    "masked-parity-learner": 0.9,
    "masked-parity-learner-local": 0.9,
    # Without noise one report or answer is a on one database and b > a on the other. With noise it is at most
    # a with probability 1/2 or e^−ε/2.
    "noisy-labels-sq-algorithm-local-coarse": 2.0,
    "bounded-noise-sq-learner-coarse": 1.0,
}
#: The smallest ε that runs detect must be below this. The claims are 1 and, for the sanitizers, 2.
CAUGHT = {
    "parity-amplified-at-size": math.log(4),
    "parity-amplified-retry-at-size": math.log(4),
    "parity-amplified-selection-at-size": math.log(4),
    "point-sanitizer-64": 3.5,
    "interval-sanitizer-64": 3.5,
}


@pytest.fixture
def effort(request, audited, monkeypatch):
    """Return the options of one audit.

    Without `-m audit`, correct entries get few runs and few problems. Flawed entries keep their own options.
    If a flawed entry has a law, only few runs are compared with the law.
    """
    entry, asked_for = audited.subject, is_asked_for(request)
    if is_long(audited) and not asked_for:
        pytest.skip("at its stated size: audited by `pytest -m audit`")
    options = {**(entry.options or {}), **((entry.utility or {}) if audited.utility else {})}
    flawed = entry.expects("utility" if audited.utility else "privacy") == "refuted"
    told = {} if flawed else {"significance": SIGNIFICANCE}
    if flawed and (asked_for or audited.utility):
        return told
    if not audited.utility and has_law(entry, monkeypatch):
        text = None if entry.formulas is None or flawed else entry.formulas(entry.factory())
        few = COMPARED_ANYHOW if text is not None and text.law is not None and text.calls else BESIDE_LAW
        most = FOR_PROOF if asked_for or entry.name in PROVED else few
        return {**told, "budget": min(options.get("budget", most), most)}
    if asked_for or flawed:
        return told
    most = LEAST.get(entry.name, REDUCED)
    if audited.utility:
        told["problems"] = some_problems(entry)
        most = REDUCED_UTILITY
    return {**told, "budget": min(options.get("budget", most), most)}


def is_asked_for(request):
    """Return whether `-m audit` was given."""
    return request.config.getoption("markexpr") == "audit"


def some_problems(entry):
    """Return the first, middle and last of an entry's problems, or all if few."""
    library = read_problems(entry.utility.get("problems"), subject=entry.factory()).library
    return library[:: max(1, len(library) // 2)]


def has_law(entry, monkeypatch):
    """Return whether an entry declares laws for an exact audit.

    Only the law on the entry's first database is computed. If records come from a strategy, few are
    drawn.
    """
    made = entry.factory()
    if getattr(made, "distribution", None) is None:
        return False
    with monkeypatch.context() as patched:
        patched.setattr(domain, "_DRAWN", 30)
        task = make_task(made, **entry.options)
    law_of = task.subject.distribution
    [(left, _), *_] = task.databases.pairs(most=1, rng=np.random.default_rng(0))
    return law_of is not None and task.options.numerics == "ideal" and law_of(left) is not None


#: Entries at the sizes of their theorems take seconds each, so only `pytest -m audit` and `make audit` audit
#: them. This module also audits the privacy of one of them.
AT_SIZE, AT_SIZE_HERE = "at-size", "parity-amplified-at-size"
#: Other long audits, besides those that their entries mark as long. `test_queries_noisy_runs` tests the
#: errors of the learner with a bounded noise rate; `test_queries_runs` and `test_queries_noisy_privacy` test
#: transcripts.
LONG = {
    "interval-learner-64": "utility",
    "interval-learner-64-least": "utility",
    "bounded-noise-sq-learner": "utility",
    "local-sq-algorithm-transcript": "privacy",
    "noisy-labels-sq-algorithm-coarse": "privacy",
}


def is_long(audited):
    """Return whether only `-m audit` runs this audit."""
    name = audited.subject.name
    at_size = AT_SIZE in name and (audited.utility or name != AT_SIZE_HERE)
    kind = "utility" if audited.utility else "privacy"
    return at_size or LONG.get(name) == kind or kind in audited.subject.long


@parametrize_with_audits(load_catalogue())
def test_an_entry_has_the_expected_verdict(audited, auditor, effort, request):
    result = auditor.check(audited, **effort)
    name = "" if audited.utility else audited.subject.name
    # a disagreement would have failed above
    assert audited.utility or audited.subject.formulas is None or result.agreements
    exact = name and result.evidence is Evidence.EXACT and not result.refuted
    worst = any(each.claimed is not None for each in result.agreements)
    assert not exact or worst or name in TAILS or (name in FAR and "times as large exceeds it" in str(result))
    proved = PROVED | PROVED_AT_LENGTH if is_asked_for(request) else PROVED
    assert name not in proved or result.verdict is Verdict.PROVED
    assert name not in FOUND or result.epsilon_lower > FOUND[name]
    assert name not in CAUGHT or result.detectable_epsilon < CAUGHT[name]


def test_the_tables_above_name_only_existing_entries():
    told = PROVED | PROVED_AT_LENGTH | FAR | TAILS | {*FOUND, *CAUGHT, *LEAST, *LONG, AT_SIZE_HERE}
    assert told <= {entry.name for entry in load_catalogue()}
