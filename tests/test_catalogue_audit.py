"""The catalogue, audited: right entries are not refuted, the flawed gallery is, code is what its text says.

An audit refutes a right entry with probability at most its significance here, 1e-7, and the comparisons with
its formulas are wrong as seldom each: of fewer than 500 of both together, one is wrong with probability below
5e-5. A flawed entry that is missed is a loss of power and to be looked into, never a reason for another seed.
"""

import math

import numpy as np
import pytest

from audit import Verdict
from audit.catalogue import load_catalogue
from audit.privacy import make_task
from audit.pytest_plugin import parametrize_with_audits
from audit.results.result import Evidence

SIGNIFICANCE = 1e-7
REDUCED = 7_000
#: Entries for which fewer runs could not catch any ε: their ε is large, or many runs give equal outputs.
LEAST = {
    "concave-promise-64-bits": 66_000,
    "k-means-local-at-size": 24_000,
    "local-laplace-average-printed-size": 24_000,
    "local-sq-algorithm": 12_000,
    "parity-amplified-at-size": 12_000,
}
#: Of entries with a law: the runs that are compared with it, which see a scale of Laplace noise a third too
#: small; what formulas say is compared beside. A proof needs 1,000 on each of two databases and by two ways.
BESIDE_LAW, FOR_PROOF = 5_000, 19_000

#: Entries with exact losses of which no database is known that comes near the claim, or near a worst of all.
#: Each has formulas, and its text says how many times as large a loss would show.
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

#: Entries whose claim has to be proved.
PROVED = {
    *("compression-learner", "conjunction-learner", "conjunction-learner-local"),
    *("masked-parity-learner", "masked-parity-learner-local"),
    *("parity-amplified-retry", "parity-amplified-held-out", "parity-amplified-selection"),
}
#: What the lower bound on ε has to exceed: most of what is spent is found.
FOUND = {
    "compression-learner": 1.0 - 1e-6,  # ε = 1 for all rounds together: basic composition of its steps says 4
    "masked-parity-learner": 0.9,
    "masked-parity-learner-local": 0.9,
    # one report, or answer, beyond the constant's: probability 1/2 or e^−ε/2
    "noisy-labels-sq-algorithm-local-coarse": 2.0,
    "bounded-noise-sq-learner-coarse": 1.0,
}
#: What the least ε that runs on the stated sample catch has to be below: 1.32 to 1.35 for a claim of 1.
CAUGHT = dict.fromkeys(
    ["parity-amplified-at-size", "parity-amplified-retry-at-size", "parity-amplified-selection-at-size"],
    math.log(4),
)


@pytest.fixture
def effort(request, audited):
    """Options of one audit: at most so many runs on right entries, unless ``-m audit`` asked for audits.

    Flawed entries keep theirs: an audit of one ends when it is refuted.
    """
    asked_for = request.config.getoption("markexpr") == "audit"
    entry = audited.subject
    if (entry.expects("utility" if audited.utility else "privacy")) == "refuted":
        return {}
    options = {**(entry.options or {}), **((entry.utility or {}) if audited.utility else {})}
    told = {"significance": SIGNIFICANCE}
    if not audited.utility and has_law(entry):
        most = FOR_PROOF if asked_for or entry.name in PROVED else BESIDE_LAW
        return {**told, "budget": min(options.get("budget", most), most)}
    most = LEAST.get(entry.name, REDUCED)
    return told if asked_for else {**told, "budget": min(options.get("budget", most), most)}


def has_law(entry):
    """Tell whether the exact path audits an entry, as far as its first database says."""
    task = make_task(entry.factory(), **entry.options)
    law_of = task.subject.distribution
    [(left, _), *_] = task.databases.pairs(most=1, rng=np.random.default_rng(0))
    return law_of is not None and task.options.numerics == "ideal" and law_of(left) is not None


#: Entries at the sizes of their theorems take seconds each: `pytest -m audit` and `make audit` audit them.
#: The privacy of one is audited here too.
AT_SIZE, AT_SIZE_HERE = "at-size", "parity-amplified-at-size"
#: Others that take as long, beside those that their entries call long. The errors of the learner with a bound
#: are in `test_queries_noisy_runs`, transcripts in `test_queries_runs` and `test_queries_noisy_privacy`.
LONG = {
    "interval-learner-64": "utility",
    "interval-learner-64-least": "utility",
    "bounded-noise-sq-learner": "utility",
    "local-sq-algorithm-transcript": "privacy",
    "noisy-labels-sq-algorithm-coarse": "privacy",
}


def is_long(audited):
    """Tell whether an audit is left to the runs that ask for audits."""
    name = audited.subject.name
    at_size = AT_SIZE in name and (audited.utility or name != AT_SIZE_HERE)
    kind = "utility" if audited.utility else "privacy"
    return at_size or LONG.get(name) == kind or kind in audited.subject.long


@parametrize_with_audits(load_catalogue())
def test_an_entry_is_what_it_is_expected_to_be(audited, auditor, effort, request):
    if is_long(audited) and request.config.getoption("markexpr") != "audit":
        pytest.skip("at its stated size: audited by `pytest -m audit`")
    result = auditor.check(audited, **effort)
    name = "" if audited.utility else audited.subject.name
    assert audited.utility or audited.subject.formulas is None or result.agreements  # all agree, or it failed
    exact = name and result.evidence is Evidence.EXACT and not result.refuted
    worst = any(each.claimed is not None for each in result.agreements)
    assert not exact or worst or name in TAILS or (name in FAR and "times as large exceeds it" in str(result))
    assert name not in PROVED or result.verdict is Verdict.PROVED
    assert name not in FOUND or result.epsilon_lower > FOUND[name]
    assert name not in CAUGHT or result.detectable_epsilon < CAUGHT[name]


def test_what_is_told_of_entries_is_told_of_entries_there_are():
    told = PROVED | FAR | TAILS | {*FOUND, *CAUGHT, *LEAST, *LONG, AT_SIZE_HERE}
    assert told <= {entry.name for entry in load_catalogue()}
