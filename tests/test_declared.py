"""Every subject of the catalogue behaves as it declares."""

import pytest

from audit import check_subject
from audit.catalogue import load_catalogue
from audit.databases import domain

_GAP = "BNS Proposition 2(ii) asks for a gap of the scores, not for records"
_PROMISE = "BNS Lemma 3 asks for a promise of the quality function, not for records"
#: Subjects with a utility claim but no `sample_size`, each with the reason.
WITHOUT_SIZE = {
    "OracleRun": "an oracle answers, and there are no records",
    "OnSample": "audits alone support its claim, on fewer examples than the text's",
    "ExponentialMechanism": "BNS Proposition 1(ii) bounds the loss of score whatever the number of records",
    "StableSelection": _GAP,
    "TightStableSelection": _GAP,
    "ConcavePromise": _PROMISE,
    "LiteralConcavePromise": _PROMISE,
}


@pytest.fixture
def few_draws(monkeypatch):
    """Draw 60 records from a strategy, where an audit draws 400."""
    monkeypatch.setattr(domain, "_DRAWN", 60)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("entry", load_catalogue(), ids=lambda entry: entry.name)
def test_a_subject_behaves_as_it_declares(entry):
    check_subject(entry)


def test_a_subject_with_a_utility_claim_has_a_sample_size_that_grows_as_the_error_shrinks():
    without = set()
    for entry in load_catalogue():
        if entry.utility is None:
            continue
        made = entry.factory()
        if not callable(getattr(made, "sample_size", None)):
            without.add(type(made).__name__)
            continue
        learner = getattr(made, "part", made)
        own = getattr(learner, learner.accuracy, None) or 0.2
        loose, tight = (made.sample_size(alpha=share * own) for share in (0.9, 0.8))
        assert 1 <= loose <= tight, entry.name
    assert without == WITHOUT_SIZE.keys()
