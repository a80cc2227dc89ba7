"""The texts of a self-audit."""

import math

from audit.self_audit.row import Row, SelfAudit
from audit.values.wording import columns, hanging, number, visible

_WIDTH = 110

PURPOSE = {
    "false alarms": "Mechanisms that meet their claim with equality. A claim that holds is refuted with "
    "probability at most the significance.",
    "runs to refutation": "Mechanisms whose claims are false: how many runs of both sides an audit needs.",
    "efficiency": "Pairs of runs to a refutation, divided by the fewest that any auditor needs on average: "
    "ln(1/significance)/KL of the best event, from closed forms and exact laws.",
    "tightness": "The lower bound on ε, divided by the true ε.",
    "coverage": "Whether the intervals of a witness hold the exact probabilities, and whether audits refute "
    "a mechanism whose true ε is the detectable ε that they named.",
}


def measured(row: Row) -> str:
    """Return the measured figure of a row as a text.

    Examples
    --------
    >>> measured(Row("a", "b", 50, 0.04)), measured(Row("a", "b", 3, 1808.0, kind="runs"))
    ('2 of 50 (0.04)', '1,808 runs')
    """
    if row.measured is None:
        return "nothing"
    if row.kind == "share":
        return f"{round(row.measured * row.n)} of {row.n:,} ({number(row.measured)})"
    return f"{_figure(row.measured, row)} runs" if row.kind == "runs" else number(row.measured)


def spread(row: Row) -> str:
    """Return the interval or the range of a row as a text, which may be empty.

    Examples
    --------
    >>> spread(Row("a", "b", 50, 0.04, 0.001, 0.2)), spread(Row("a", "b", 9, 2.0, 1.5, kind="ratio"))
    ('0.001 to 0.2', 'at least 1.5')
    >>> spread(Row("a", "b", 3, 9.0, 7.0, math.inf, kind="runs", spread="range"))
    '7 to never'
    """
    if row.low is not None and row.high is not None:
        return f"{_figure(row.low, row)} to {_figure(row.high, row)}"
    if row.low is not None:
        return f"at least {_figure(row.low, row)}"
    return "" if row.high is None else f"at most {_figure(row.high, row)}"


def limit(row: Row) -> str:
    """Return the limit of a row as a text, empty for an unjudged row.

    Examples
    --------
    >>> limit(Row("a", "b", 50, 0.04, 0.001, 0.2, side="at most", limit=0.1))
    'at most 0.1'
    """
    return "" if row.limit is None else f"{row.side} {number(row.limit)}".strip()


def line(row: Row) -> str:
    """Return a row as one or two lines for a terminal.

    Examples
    --------
    >>> print(line(Row("a", "alarms", 50, 0.04, 0.001, 0.2, side="at most", limit=0.1, note="few")))
    kept      alarms: 2 of 50 (0.04), 0.001 to 0.2; at most 0.1
              few
    """
    figures = ", ".join(filter(None, (measured(row), spread(row))))
    held = limit(row)
    text = f"{row.what}: {figures}" + (f"; {held}" if held else "")
    width = columns(_WIDTH)
    lines = hanging(f"{row.verdict:<9} ", visible(text), width=width)
    return "\n".join(lines + (hanging(" " * 10, visible(row.note), width=width) if row.note else []))


def heading(part: str) -> str:
    """Return the title of a part, and what it measures.

    Examples
    --------
    >>> print(heading("tightness"))
    Tightness. The lower bound on ε, divided by the true ε.
    """
    return paragraph(f"{part.capitalize()}. {PURPOSE.get(part, '')}".strip())


def paragraph(text: str) -> str:
    """Return a text wrapped into lines for a terminal.

    Examples
    --------
    >>> paragraph("Two words.")
    'Two words.'
    """
    return "\n".join(hanging("", visible(text), width=columns(_WIDTH)))


def verdict(result: SelfAudit) -> str:
    """Return the overall verdict of the rows as a text.

    Examples
    --------
    >>> verdict(SelfAudit((), "quick", 0, planned=3, level=1e-6))
    'None of the 3 planned limits was judged.'
    """
    judged, failed = len(result.judged), len(result.failed)
    if not judged:
        return f"None of the {result.planned} planned limits was judged."
    left = result.planned - judged
    text = f"{judged - failed} of {judged} limits kept"
    return f"{text}; {left} of {result.planned} planned ones were not judged." if left > 0 else f"{text}."


def small_print(result: SelfAudit) -> str:
    """Return a text on how rows are judged.

    It states the chance that a correct auditor fails a row.

    Examples
    --------
    >>> small_print(SelfAudit((), "quick", 0, planned=3, level=1e-6)).split(".")[0]
    'Each end of each interval is wrong with probability at most 1e-06, in closed form'
    """
    judged = (
        "A row fails if its interval lies beyond its limit. A correct auditor fails any of these rows with "
        f"probability at most {number(result.chance)}. "
    )
    return (
        f"Each end of each interval is wrong with probability at most {number(result.level)}, in closed "
        f"form. {judged if result.judged else ''}Rows without a limit are measured and not judged; "
        "their ranges are the least and the greatest of the audits."
    )


def _figure(value: float, row: Row) -> str:
    if row.kind != "runs":
        return number(value)
    return "never" if math.isinf(value) else f"{value:,.0f}"
