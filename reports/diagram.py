"""The picture of a witness: p against what the claim allows, as geometry that a template draws."""

import math
from dataclasses import dataclass

from audit.results.result import AuditResult, Witness
from audit.values import wording
from audit.words import allowance, story

LEFT, WIDTH = 10.0, 400.0  # of the tracks, in the picture's own units
TOP, PITCH = 20.0, 44.0


@dataclass(frozen=True)
class Row:
    """One probability: its label, its bar, and the ends of its interval if it has one."""

    kind: str
    label: str
    y: float
    bar: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Tick:
    """A mark on the axis."""

    x: float
    label: str


@dataclass(frozen=True)
class Diagram:
    """All that is drawn; `text` says it in words."""

    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    limit: float | None  # None where it lies beyond the axis
    bottom: float
    text: str
    caption: str


def diagram(result: AuditResult, witness: Witness, words: story.WitnessWords) -> Diagram | None:
    """Return the picture, None where the claim allows no number to compare `p` with."""
    limit = allowance.allowed(result, witness)
    if limit is None or not all(math.isfinite(x) for x in (witness.p, witness.q)):
        return None
    ends = (allowance.allowed(result, witness, q=q) for q in witness.q_interval or ())
    grown = tuple(end for end in ends if end is not None) or None
    top = _axis(max(witness.p, witness.q, *(witness.p_interval or ()), min(limit, 1.0)))
    limit_label = f"allowed, {words.allowance}: {words.limit}"
    rows = (
        _row("p", f"p on {words.on_p}: {words.p}{words.p_interval}", witness.p, witness.p_interval, top=top),
        _row("limit", limit_label, limit, grown, top=top),
        _row("q", f"q on {words.on_q}: {words.q}{words.q_interval}", witness.q, witness.q_interval, top=top),
    )
    at = _x(limit, top) if limit <= top else None
    return Diagram(
        rows, _ticks(top), at, TOP + 3 * PITCH, "; ".join(r.label for r in rows), _caption(witness, limit)
    )


def _axis(most: float) -> float:
    """Return the end of the axis: 1, 2 or 5 times a power of ten, at most 1."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return min(
        1.0, next((step * power for step in (1, 2, 5) if most <= step * power * (1 + 1e-12)), 10 * power)
    )


def _ticks(top: float) -> tuple[Tick, ...]:
    parts = 4 if f"{top:e}".startswith("2") else 5
    return tuple(Tick(_x(top * i / parts, top), wording.number(top * i / parts)) for i in range(parts + 1))


def _x(value: float, top: float) -> float:
    return round(LEFT + WIDTH * min(max(value / top, 0.0), 1.0), 2)


def _row(kind: str, label: str, value: float, interval: tuple[float, ...] | None, *, top: float) -> Row:
    low, high = (_x(end, top) for end in interval) if interval else (None, None)
    y = TOP + PITCH * ("p", "limit", "q").index(kind)
    return Row(kind, label, y, round(_x(value, top) - LEFT, 2), low, high)


def _caption(witness: Witness, limit: float) -> str:
    excess = witness.p - limit
    if excess <= 0:
        return "p is within what the claim allows at this estimate of q."
    times = (
        f", and {wording.number(witness.p / limit)} times that limit"
        if limit > 0 and excess / limit > 0.01
        else ""
    )
    return f"p is {wording.number(excess)} above what the claim allows{times}."
