"""The pictures of how an audit went: wealth won, and loss found by the search."""

import math
from collections.abc import Sequence

from audit.results.course import Course, spread
from audit.results.result import AuditResult, Evidence
from audit.values import wording

from .claim import finite_claim
from .drawing import FRAME, Drawing, Picture, Scale, round_up

__all__ = ["evidence", "search"]

_LOW, _HIGH = 200.0, 26.0  # of the vertical axis
_MOST_ROWS = 8  # of a table; the JSON inside has all points
_FEW = 8  # up to this many points are marked
_WIDE = 30.0  # a longer axis is logarithmic


def evidence(result: AuditResult) -> Picture | None:
    """Return a picture of the wealth won by bets, and of the wealth that refutes.

    A result of an older version holds only the wealth at the end.
    """
    limit = result.log_limit
    if limit is None or result.evidence is not Evidence.STATISTICAL or not math.isfinite(result.log_wealth):
        return None
    runs = result.samples_to_refutation or result.samples
    course = result.wealth_course or Course((runs,), (result.log_wealth,))
    points = [(place, value) for place, value in _points(course) if math.isfinite(value)]
    if not points:
        return None
    values = [value for _, value in points]
    least = min(0.0, *values)
    up = Scale(-round_up(-least) if least < 0 else 0.0, round_up(max(limit, *values) * 1.08), _LOW, _HIGH)
    drawing, kind = Drawing(), "refuted" if result.refuted else "not-refuted"
    across = _axis(drawing, [place for place, _ in points], "runs")
    drawing.up(up, *FRAME, "ln of the wealth won")
    _line(drawing, kind, [(across.at(place), up.at(value)) for place, value in points])
    y = up.at(limit)
    drawing.path("threshold", f"M{FRAME[0]:g} {y:g}H{FRAME[1]:g}")
    drawing.words(f"refutes: {_n(limit)}", FRAME[0] + 4, y - 5)
    last = values[-1]
    text = f"After {points[-1][0]:,} runs the ln of the wealth is {_n(last)}; {_n(limit)} refutes the claim."
    if len(points) > 1:
        text = f"{text} It was at most {_n(max(values))} and at least {_n(min(values))}."
    return Picture(
        "Evidence: what was won by betting against the claim",
        text,
        "If the claim holds, the chance that the wealth ever reaches the dashed line is at most "
        f"{result.significance:.3g}.",
        drawing.done(),
        _LOW + 42,
        ("runs", "ln wealth"),
        (*((f"{place:,}", _n(value)) for place, value in spread(points, _MOST_ROWS)), ("refutes", _n(limit))),
        term="wealth",
    )


def search(result: AuditResult) -> Picture | None:
    """Return a picture of the largest loss found after each number of tried pairs.

    It also shows the claimed ε. Return None if fewer than two pairs were tried.
    """
    course, (epsilon, _) = result.search_course, finite_claim(result)
    if course is None or course.places[-1] < 2 or len(course.places) < 2:
        return None
    points, exact = _points(course), result.evidence is Evidence.EXACT
    finite = [value for _, value in points if math.isfinite(value)]
    up = Scale(0.0, round_up(1.08 * max([epsilon or 0.0, *finite, 1e-3])), _LOW, _HIGH)
    drawing = Drawing()
    across = _axis(
        drawing, course.places, "pairs of databases compared" if exact else "pairs of databases tried"
    )
    drawing.up(up, *FRAME, "largest ε so far" if exact else "largest ε, by estimate")
    kind = "refuted" if result.refuted else "not-refuted"
    _line(drawing, kind, [(across.at(place), up.at(value)) for place, value in points], steps=exact)
    if epsilon is not None:
        y = up.at(epsilon)
        drawing.path("threshold", f"M{FRAME[0]:g} {y:g}H{FRAME[1]:g}")
        drawing.words(f"claimed: {_n(epsilon)}", FRAME[0] + 4, y - 5 if y > _HIGH + 16 else y + 16)
    last = f"After {points[-1][0]:,} pairs the largest ε of a pair is {_n(points[-1][1])}"
    claimed = "" if epsilon is None else f"; {_n(epsilon)} is claimed"
    guess = "Lower estimate for the best pair so far. It guides the search; no verdict rests on it."
    return Picture(
        "Search: the largest loss against pairs",
        f"{last}{claimed}{'' if exact else ' (an estimate)'}.",
        ("An infinite ε lies on the upper edge." if len(finite) < len(points) else "") if exact else guess,
        drawing.done(),
        _LOW + 42,
        ("pairs", "largest ε"),
        tuple((f"{place:,}", _n(value)) for place, value in spread(points, _MOST_ROWS)),
    )


def _points(course: Course) -> list[tuple[int, float]]:
    return list(zip(course.places, course.values, strict=True))


def _axis(drawing: Drawing, places: Sequence[int], name: str) -> Scale:
    """Add the horizontal axis of runs or pairs, and return its scale."""
    first, last = max(places[0], 1), max(places[-1], 2)
    far = last / first > _WIDE
    across = Scale(float(first if far else 0), float(last), *FRAME, log=far)
    drawing.across(across, _HIGH, _LOW, name)
    return across


def _line(drawing: Drawing, kind: str, points: list[tuple[float, float]], *, steps: bool = False) -> None:
    """Add a line through points, in steps if a value holds until the next point.

    If there are few points, they are marked.
    """
    if len(points) <= _FEW:
        drawing.path("point found", "".join(f"M{x:g} {y:g}h0" for x, y in points))
    if steps:
        first, *others = points
        drawing.path(
            f"series {kind}", f"M{first[0]:g} {first[1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in others)
        )
    else:
        drawing.line(f"series {kind}", points)


def _n(value: float) -> str:
    return wording.number(value)
