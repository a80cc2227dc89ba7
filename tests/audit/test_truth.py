"""A result has no truth value, so `assert audit_privacy(...)` cannot pass."""

import pytest

from audit import AuditResult, Evidence, PureDP, Verdict, audit_privacy
from audit.errors import InvalidKind
from audit.findings import Finding
from audit.mutation.result import MutationCheck
from audit.studies.results import StudyResult
from audit.utility.result import UtilityResult

RESULTS = [
    *(AuditResult("m", None, verdict, Evidence.STATISTICAL) for verdict in Verdict),
    UtilityResult("m", None, Verdict.NOT_REFUTED, Evidence.EXACT),
    MutationCheck("m", None, ()),
    StudyResult("m", "All.", "PAC(0.1, 0.1)", curves=()),
    Finding("E1", "A", "It holds.", "false", "It does not."),
]


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_a_result_in_place_of_a_condition_is_refused_with_what_to_write(result):
    for ask in (bool, lambda each: not each, lambda each: each or 1, lambda each: [*filter(None, [each])]):
        with pytest.raises(InvalidKind, match=r"has no truth value; use .*`.*\w\..*`") as refused:
            ask(result)
        assert "\n" not in str(refused.value)


def test_an_assert_of_an_audit_fails_and_names_the_verdict():
    with pytest.raises(TypeError, match=r"result\.verdict.*raise_if_refuted\(\).*auditor\.check"):
        assert audit_privacy(lambda database: database, PureDP(1.0), records=[0, 1], size=1)
