"""The first screen of a page of audits, with a picture of all audits."""

import math
from collections import Counter
from collections.abc import Sequence

from audit.results.result import AuditResult, Verdict
from audit.utility import text as utility_text
from audit.utility.saved import Saved
from audit.words import allowance

from .pictures.drawing import Drawing, Picture, Scale

__all__ = ["about", "all_audits", "outcome", "outcome_sentence", "rank"]

AS_EXPECTED, UNEXPECTED = "as expected", "unexpected"
#: Up to this many audits can be read at a glance in the index, so no picture is drawn.
_FEW = 4
#: The width of a mark. Marks that lie closer together are drawn smaller.
_DOT = 6.0
_ROUNDING = 1e-6  # an exact bound so near the claim is the claim
_OPEN = (Verdict.ERROR, Verdict.INCONCLUSIVE)


def outcome(result: Saved) -> str:
    """Return how a verdict compares with the one that the entry expects.

    The text is empty if the entry expects none.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> outcome(AuditResult("m", None, Verdict.REFUTED, Evidence.EXACT, expected="not refuted"))
    'unexpected'
    """
    if result.expected is None:
        return ""
    if result.disagreements:
        return UNEXPECTED
    wanted = {Verdict.REFUTED} if result.expected == "refuted" else {Verdict.NOT_REFUTED, Verdict.PROVED}
    return AS_EXPECTED if result.verdict in wanted else UNEXPECTED


def is_wrong(result: Saved) -> bool:
    """Return whether an audit needs attention.

    It does if its verdict is unexpected, ERROR or INCONCLUSIVE, or if it refuted a claim and no verdict was
    expected.
    """
    said = outcome(result)
    return said == UNEXPECTED or result.verdict in _OPEN or (result.refuted and not said)


def rank(result: Saved) -> tuple[int, int]:
    """Return a sort key that puts first the audits that need attention."""
    order = [Verdict.REFUTED, Verdict.ERROR, Verdict.INCONCLUSIVE, Verdict.NOT_REFUTED, Verdict.PROVED]
    return (0 if is_wrong(result) else 1, order.index(result.verdict))


def about(results: Sequence[Saved]) -> str:
    """Return a line with the number of audits, their versions and their dates.

    Examples
    --------
    >>> from audit.results.result import Evidence
    >>> ran = {"date": "2026-11-29", "python": "3.11.7", "versions": {"dp-audit": "0.1.0"}}
    >>> about([AuditResult("m", None, Verdict.PROVED, Evidence.EXACT, environment=ran)])
    '1 audit with dp-audit 0.1.0 and Python 3.11.7 on 2026-11-29'
    """
    count = f"{len(results)} audit{'' if len(results) == 1 else 's'}"
    subjects = len({result.subject for result in results})
    count += f" of {subjects} subject{'' if subjects == 1 else 's'}" * (len(results) > 1)
    ran = [result.environment for result in results]
    versions = [each.get("versions") for each in ran]
    ours = {each.get("dp-audit") for each in versions if isinstance(each, dict)}
    pythons = {each.get("python") for each in ran}
    dates = sorted({each["date"][:10] for each in ran if isinstance(each.get("date"), str)})
    told = [_several("dp-audit", ours), _several("Python", pythons)]
    where = " and ".join(filter(None, told))
    when = f" on {dates[0]}" if len(dates) == 1 else f" from {dates[0]} to {dates[-1]}" if dates else ""
    return f"{count}{' with ' if where else ''}{where}{when}"


def _several(name: str, values: set[object]) -> str:
    known = sorted(value for value in values if isinstance(value, str))
    return f"{name} {', '.join(known)}" if known else ""


def outcome_sentence(results: Sequence[Saved]) -> str:
    """Return the outcome of several audits in one sentence.

    For a single audit the sentence is empty.
    """
    wrong = [result for result in results if is_wrong(result)]
    if len(results) == 1:
        return ""  # the audit's own sentence says more
    told = _counted(wrong)
    expected = [result for result in results if result.expected is not None]
    if wrong:
        return f"{len(wrong)} of {len(results)} audits need{'s' * (len(wrong) == 1)} a look: {told}."
    if len(expected) == len(results):
        flawed = sum(result.refuted for result in results)
        kept = len(results) - flawed
        others = {0: "", 1: ", and the other was not"}.get(kept, f", and none of the other {kept} was")
        return (
            f"All {len(results)} outcomes are as expected: {flawed} claim{'s' * (flawed != 1)} known to be "
            f"flawed {'was' if flawed == 1 else 'were'} refuted{others}."
        )
    if all(result.verdict is Verdict.NOT_REFUTED for result in results):
        return f"None of the {len(results)} claims was refuted."
    refuted = any(each.refuted for each in results)
    return f"{'Every refutation was expected' if refuted else 'No claim was refuted'}: {_counted(results)}."


def _counted(results: Sequence[Saved]) -> str:
    """Return how many audits have each verdict, and which verdicts were unexpected."""
    seen = Counter((result.verdict.value, outcome(result) == UNEXPECTED) for result in results)
    order = [
        verdict.value
        for verdict in (
            Verdict.REFUTED,
            Verdict.ERROR,
            Verdict.INCONCLUSIVE,
            Verdict.NOT_REFUTED,
            Verdict.PROVED,
        )
    ]
    told = sorted(seen.items(), key=lambda each: order.index(each[0][0]))
    return ", ".join(f"{count} {verdict}{' (unexpected)' * odd}" for (verdict, odd), count in told)


def all_audits(results: Sequence[Saved]) -> Picture | None:
    """Return a picture of every audit with a numeric claim, largest ratio first.

    The ratio is found ÷ claimed, of ε for privacy and of β for utility. A dot is the bound that was
    found. A line goes up from the dot to the detectable ε, or to the upper bound on the failure
    probability.

    Return None if too few audits can be shown.
    """
    points = sorted(filter(None, map(_point, results)), reverse=True)
    if len(points) < _FEW:
        return None
    up, left, right = Scale(0.01, 100.0, 226.0, 30.0, log=True), 52.0, 612.0
    pitch = (right - left - 8) / len(points)
    small = " small" if pitch < _DOT else ""
    drawing, lines = Drawing(), []
    dots: dict[str, list[str]] = {}
    drawing.up(up, left, right, "found ÷ claimed")
    drawing.path("threshold", f"M{left:g} {up.at(1.0):g}H{right:g}")
    drawing.words("the claim", left + 4, up.at(1.0) + 18, "tick")
    for i, (ratio, detectable, kind) in enumerate(points):
        x, y = round(left + 8 + pitch * i, 1), up.at(ratio)
        dots.setdefault(kind, []).append(f"M{x:g} {y:g}h.1")  # without a length a square is missing on paper
        if detectable > ratio:
            lines.append(f"M{x:g} {y:g}V{up.at(detectable):g}")
    if lines:
        drawing.path("detectable", "".join(lines))
    for kind, places in sorted(dots.items()):
        drawing.path(f"dots{small} {kind}", "".join(places))
    x = left
    for kind in sorted(dots):
        drawing.path(f"dots {kind}", f"M{x + 4:g} 246h.1")
        drawing.words(kind.replace("-", " "), x + 14, 250, "tick")
        x += 34 + 9.0 * len(kind)
    if lines:
        drawing.path("detectable", f"M{left + 4:g} 261v14")
        drawing.words(
            "from the bound up to the detectable ε, or the upper bound on β", left + 14, 272, "tick"
        )
    above = sum(ratio > 1.0 + _ROUNDING for ratio, *_ in points)
    text = (
        f"{_some(len(points), len(results))} by ε found ÷ ε claimed (utility: β), the largest first: "
        f"{above} above the claim, {len(points) - above} within it."
    )
    return Picture(
        "All audits: found beside claimed",
        text,
        f"{text} Values beyond the scale lie on its edge. The index has the numbers.",
        drawing.done(),
        284 if lines else 262,
        width=620.0,
    )


def _some(shown: int, count: int) -> str:
    return f"{count} audits" if shown == count else f"{shown} of {count} audits, those with both numbers,"


def _point(result: Saved) -> tuple[float, float, str] | None:
    """Return found ÷ claimed, detectable ÷ claimed, and the verdict.

    The second ratio is 0 if nothing was left to detect.
    """
    if result.verdict in _OPEN:
        return None
    if isinstance(result, AuditResult):
        claimed, found, more = allowance.claimed(result)[0], result.epsilon_lower, result.detectable_epsilon
    else:
        claimed, found, more = utility_text.claimed(result), result.beta_lower, result.beta_upper
    if not claimed or not math.isfinite(claimed) or math.isnan(found):
        return None
    beyond = 0.0 if more is None or result.refuted else more / claimed
    return found / claimed, beyond, result.verdict.value.replace(" ", "-")
