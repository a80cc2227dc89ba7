"""Privacy auditing, from a mechanism and its claim to a verdict with evidence.

The public names are resolved on first use. So the pytest plugin and the command line start without numpy.
"""

from typing import TYPE_CHECKING

from audit.values.on_demand import names_on_demand, offer

if TYPE_CHECKING:
    from audit import adapters, edges, strategies
    from audit.claims import PAC, Accuracy, ApproximateDP, PureDP
    from audit.doors.asserting import assert_private
    from audit.doors.checks import check_subject, parametrize_with_checks
    from audit.doors.frame import audits_to_frame
    from audit.privacy import audit_privacy
    from audit.relations import Relation
    from audit.results.fault import Fault, FaultKind
    from audit.results.result import AuditResult, Evidence, Verdict
    from audit.sampling.isolated.cluster import cluster
    from audit.utility.front import audit_utility
    from audit.utility.result import UtilityResult

__all__ = [
    "PAC",
    "Accuracy",
    "ApproximateDP",
    "AuditResult",
    "Evidence",
    "Fault",
    "FaultKind",
    "PureDP",
    "Relation",
    "UtilityResult",
    "Verdict",
    "adapters",
    "assert_private",
    "audit_privacy",
    "audit_utility",
    "audits_to_frame",
    "check_subject",
    "cluster",
    "edges",
    "parametrize_with_checks",
    "strategies",
]

_HOMES = {
    "audit.claims": ("PAC", "Accuracy", "ApproximateDP", "PureDP"),
    "audit.doors.asserting": ("assert_private",),
    "audit.doors.checks": ("check_subject", "parametrize_with_checks"),
    "audit.doors.frame": ("audits_to_frame",),
    "audit.privacy": ("audit_privacy",),
    "audit.relations": ("Relation",),
    "audit.results.fault": ("Fault", "FaultKind"),
    "audit.results.result": ("AuditResult", "Evidence", "Verdict"),
    "audit.sampling.isolated.cluster": ("cluster",),
    "audit.utility.front": ("audit_utility",),
    "audit.utility.result": ("UtilityResult",),
}
#: Public modules that are also attributes of `audit`.
_MODULES = ("adapters", "edges", "strategies")

offer(
    parse="audit.results.saved:parse",
    parse_utility="audit.utility.saved:parse_utility",
    extend="audit.privacy:extend",
    replay="audit.verdict.replay:replay_witness",
    replay_utility="audit.utility.replay:replay_failure",
    standing="audit.results.going_on:standing_of",
    short="audit.words.text:short",
    told="audit.words.text:told_privacy",
    told_utility="audit.utility.text:told",
    full="audit.words.text:full",
    summary="audit.doors.summary:summary",
    page="audit.doors.report_link:render_report",
)

__getattr__, __dir__ = names_on_demand(
    __name__,
    {name: home for home, names in _HOMES.items() for name in names}
    | {name: f"audit.{name}" for name in _MODULES},
)
