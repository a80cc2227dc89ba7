"""The pictures of a utility audit."""

import math
from collections.abc import Sequence

from audit.utility import text as utility_text
from audit.utility.result import ProblemFinding, UtilityResult
from audit.values import wording

from .drawing import Drawing, Picture, Scale

__all__ = ["error_picture", "failure_rates"]

LEFT, RIGHT = 10.0, 410.0
_MOST = 12  # problems in a picture; the table has all of them


def error_picture(result: UtilityResult) -> Picture | None:
    """Return a picture of the error of a failing output beside the claimed α.

    Return None if no number is known.
    """
    alpha = getattr(result.claim, "alpha", None)
    error = None if result.witness is None else result.witness.error
    if not isinstance(alpha, (int, float)) or error is None or not math.isfinite(error) or error <= 0:
        return None
    scale, drawing = Scale(0.0, 1.1 * max(error, alpha), LEFT, RIGHT), Drawing()
    drawing.across(scale, 6, 100, "error")
    told = (("p", "error of this output", error), ("limit", "claimed α", float(alpha)))
    for i, (kind, label, value) in enumerate(told):
        y = 20 + 46 * i
        drawing.words(f"{label}: {wording.number(value)}", LEFT, y)
        drawing.bar(kind, (LEFT, scale.at(value)), y + 8)
    drawing.path("threshold", f"M{scale.at(alpha):g} 25v20")
    rows = tuple((label, wording.number(value)) for _, label, value in told)
    text = "; ".join(f"{label}: {value}" for label, value in rows)
    return Picture(
        "Error of the failure beside α",
        f"{text}.",
        "One failure. The claim bounds the probability of failures.",
        drawing.done(),
        140,
        ("", "error"),
        rows,
    )


def failure_rates(result: UtilityResult) -> Picture | None:
    """Return a picture of each problem's failure rate, its upper bound, and β.

    The worst problem is first.
    """
    beta = utility_text.claimed(result)
    tried = [each for each in result.problems if each.exact is not None or each.runs]
    if beta is None or not tried:
        return None
    worst = sorted(tried, key=lambda each: (-_rate(each), each.name))
    shown, drawing = worst[:_MOST], Drawing()
    most = max(beta, *(max(_rate(each), _upper(each)) for each in shown))
    scale, pitch = Scale(0.0, min(1.0, 1.1 * most) or 1.0, LEFT, RIGHT), 40.0
    bottom = 12 + pitch * len(shown)
    drawing.across(scale, 6, bottom, "probability of an error above α")
    for i, (each, name) in enumerate(zip(shown, _names([each.name for each in shown]), strict=True)):
        y = 18 + pitch * i
        drawing.words(f"{name}: {wording.number(_rate(each))}", LEFT, y)
        drawing.bar("p" if _rate(each) > beta else "q", (LEFT, scale.at(_rate(each))), y + 6, height=10)
        if each.exact is None and each.upper is not None:
            drawing.whisker(scale.at(_rate(each)), scale.at(_upper(each)), y + 11)
        drawing.path("threshold", f"M{scale.at(beta):g} {y + 4:g}v14")
    left = f" The {len(worst) - _MOST} problems that failed less often are only in the table." * (
        len(worst) > _MOST
    )
    return Picture(
        "Failure rate by problem beside β",
        "; ".join(f"{wording.short(each.name, 60)}: {_told(each)}" for each in shown)
        + f"; claimed β: {wording.number(beta)}.",
        f"The dashed mark is the claimed β = {wording.number(beta)}; a line goes to the upper bound.{left}",
        drawing.done(),
        bottom + 38,
    )


def _names(problems: Sequence[str]) -> list[str]:
    """Return the names of problems, shortened in the middle.

    Examples
    --------
    >>> _names(["r = 00000000, a = 0, uniform, answers down"])
    ['r = 00000…a = 0, uniform, answers down']
    >>> _names([f"hypothesis 0, {a}·alpha where it differs from its rival" for a in (0.95, 1.05)])
    ['hypothesis 0, 0.95·…ers from its rival', 'hypothesis 0, 1.05·…ers from its rival']
    """
    names = [wording.short(name, 200) for name in problems]
    for head in (9, 19):
        cut = [name if len(name) <= 38 else f"{name[:head]}…{name[head - 37 :]}" for name in names]
        if len({*cut}) == len({*names}):
            break
    return cut


def _rate(each: ProblemFinding) -> float:
    return each.exact if each.exact is not None else each.failures / max(each.runs, 1)


def _upper(each: ProblemFinding) -> float:
    return each.exact if each.exact is not None else (1.0 if each.upper is None else each.upper)


def _told(each: ProblemFinding) -> str:
    if each.exact is not None:
        return f"{wording.number(each.exact)}, exact"
    most = "" if each.upper is None else f", at most {wording.at_most(each.upper)}"
    return f"{wording.number(each.failures)} of {each.runs:,}{most}"
