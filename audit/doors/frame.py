"""Results as a pandas table."""

from collections.abc import Iterable
from typing import Any

from audit.entry_points import optional
from audit.errors import AuditError
from audit.results.result import AuditResult
from audit.utility.result import UtilityResult
from audit.utility.saved import Saved

__all__ = ["audits_to_frame"]

#: Columns that are fields of a result, under the same name. A result without the field has NaN there.
_FIELDS = (
    *("epsilon_lower", "delta_lower", "detectable_epsilon", "beta_lower", "beta_upper"),
    *("samples", "samples_to_refutation", "significance", "seed"),
    *("expected", "reason", "reference", "target"),
)


def audits_to_frame(results: Iterable[Saved]) -> Any:
    """Return a `pandas.DataFrame` with a row for each result, in their order.

    `subject`, `kind`, `verdict` and `evidence` come first; `kind` is "privacy" or "utility". Then come the
    claimed `epsilon`, `delta`, `alpha` and `beta`. The values of the result follow: `epsilon_lower`,
    `delta_lower`, `detectable_epsilon`, `beta_lower`, `beta_upper`, `samples` (runs),
    `samples_to_refutation`, `significance`, `seed`, `expected`, `reason`, `reference` and `target`. The last
    column is `elapsed`, in seconds.

    Raises
    ------
    AuditError
        pandas is not installed, or an item is not a result.

    Examples
    --------
    >>> from audit import PureDP, audit_privacy
    >>> leak = audit_privacy(lambda database: database[0], PureDP(1.0), records=[0, 1], size=1, name="leak")
    >>> audits_to_frame([leak])[["subject", "verdict", "epsilon"]].values.tolist()
    [['leak', 'refuted', 1.0]]
    """
    pandas = optional("pandas", missing="`audits_to_frame` needs pandas: `pip install pandas`.")
    return pandas.DataFrame([_row(result) for result in results], columns=_COLUMNS)


def _row(result: Saved) -> dict[str, Any]:
    if not isinstance(result, AuditResult | UtilityResult):
        raise AuditError(f"`audits_to_frame` takes results of audits; got {type(result).__name__}.")
    return {
        "subject": result.subject,
        "kind": "utility" if isinstance(result, UtilityResult) else "privacy",
        "verdict": result.verdict.value,
        "evidence": result.evidence.value,
        **{name: getattr(result.claim, name, None) for name in _CLAIMED},
        **{name: getattr(result, name, None) for name in _FIELDS},
        "elapsed": result.environment.get("elapsed"),
    }


_CLAIMED = ("epsilon", "delta", "alpha", "beta")
_COLUMNS = ["subject", "kind", "verdict", "evidence", *_CLAIMED, *_FIELDS, "elapsed"]
