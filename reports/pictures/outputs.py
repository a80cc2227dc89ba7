"""The outputs on the two databases as histograms, the event shaded."""

from collections.abc import Sequence
from itertools import pairwise

from audit.results.outputs import Outputs
from audit.results.result import Witness
from audit.values import wording

from .drawing import FRAME, Drawing, Picture, Scale, round_up

__all__ = ["outputs_picture"]

_PANEL, _GAP, _TOP = 74.0, 30.0, 30.0  # heights: of a side, between them, above the first
_ALONE, _BESIDE = 76.0, 46.0  # the width of one single value beside the bins, and of each of several
_MOST_BESIDE = 3
_ROW = 40.0  # the height of a single value if there are no bins
_LONG = 44
OTHERS = "any other"  # the name of all single values that are not listed
_RARE = 0.01  # of the outputs: rarer single values are counted together
_SMALL = 0.1  # of the longest bar: a shorter one is hard to see


def outputs_picture(witness: Witness) -> Picture | None:
    """Return a picture of a witness's outputs, or None if it holds no outputs."""
    if witness.outputs is None:
        return None
    outputs = _without_rare(witness.outputs)
    sides = ("p", "q") if witness.direction == "left" else ("q", "p")
    drawing = Drawing()
    height = (_bins if outputs.edges else _values)(drawing, outputs, sides)
    left, right, left_in, right_in = outputs.shares
    inside = f"{_n(sum(left_in))} of the outputs on left and {_n(sum(right_in))} of those on right"
    source = (
        "by their exact laws"
        if not witness.runs
        else f"{_n(sum((*outputs.on_left, *outputs.on_right)))} runs"
    )
    return Picture(
        "Outputs on left and right",
        f"Shares of the values of {outputs.of}, {source}. The event has {inside}.",
        f"Full colour: in the event. {source[:1].upper()}{source[1:]}."
        + (" The outer bins hold what lies beyond them too." if outputs.edges else "")
        + (" Bars that reach the right edge go on." if _longest(outputs) < max(*left, *right) else ""),
        drawing.done(),
        height,
        (wording.short(outputs.of, _LONG), "left", "right", "in the event"),
        tuple(
            (name, _n(l_all), _n(r_all), _part(l_all + r_all, l_in + r_in))
            for name, l_all, r_all, l_in, r_in in zip(
                [*_spans(outputs), *outputs.names], left, right, left_in, right_in, strict=True
            )
        ),
        term="event",
    )


def _without_rare(outputs: Outputs) -> Outputs:
    """Return the outputs with rare single values outside the event counted as one."""
    left, right, left_in, right_in = outputs.shares
    first = max(len(outputs.edges) - 1, 0)
    seldom = (i for i in range(first, len(left)) if max(left[i], right[i]) < _RARE)
    rare = [i for i in seldom if not left_in[i] + right_in[i]]
    if len(rare) < _MOST_BESIDE:
        return outputs
    last = outputs.names.index(OTHERS) + first if OTHERS in outputs.names else None
    kept = [i for i in range(len(left)) if i not in rare and i != last]
    gone = [*rare, *([] if last is None else [last])]
    sides = (outputs.on_left, outputs.on_right, outputs.left_inside, outputs.right_inside)
    columns = [(*(side[i] for i in kept), sum(side[i] for i in gone)) for side in sides]
    names = (*(outputs.names[i - first] for i in kept if i >= first), OTHERS)
    return Outputs(outputs.of, outputs.edges, names, *columns)


def _spans(outputs: Outputs) -> list[str]:
    """Return a text for each bin.

    A bin that holds a single whole number is written as that number.
    """
    whole = all(edge % 1 == 0.5 for edge in outputs.edges)
    if whole and all(b - a == 1 for a, b in pairwise(outputs.edges)):
        return [_n(a + 0.5) for a in outputs.edges[:-1]]
    return [f"{_n(a)} to {_n(b)}" for a, b in pairwise(outputs.edges)]


def _part(whole: float, inside: float) -> str:
    if inside <= 0:
        return "" if whole else "–"
    return "yes" if inside >= whole * (1 - 1e-6) else "in part"


def _bins(drawing: Drawing, outputs: Outputs, sides: Sequence[str]) -> float:
    """Draw a histogram of each side, one above the other.

    Return the height of the picture.
    """
    left, right, left_in, right_in = outputs.shares
    bins, names = len(outputs.edges) - 1, outputs.names[:_MOST_BESIDE]
    beside = _ALONE if len(names) == 1 else _BESIDE
    end = FRAME[1] - beside * len(names)
    across = Scale(outputs.edges[0], outputs.edges[-1], FRAME[0], end)
    most = round_up(max(*left, *right))
    bottom = _TOP + 2 * _PANEL + _GAP
    drawing.across(across, _TOP, bottom + 4, wording.short(outputs.of, int(end / 7.5)))
    places = [(across.at(a), across.at(b)) for a, b in pairwise(outputs.edges)]
    places += [(end + beside * i + 12, end + beside * (i + 1)) for i in range(len(names))]
    for i, (name, kind, whole, inside) in enumerate(
        zip(("left", "right"), sides, (left, right), (left_in, right_in), strict=True)
    ):
        foot = _TOP + _PANEL + (_PANEL + _GAP) * i
        up = Scale(0.0, most, foot, foot - _PANEL)
        for share in (0.0, most):
            drawing.path("grid", f"M{FRAME[0]:g} {up.at(share):g}H{FRAME[1]:g}")
            drawing.words(_n(share), FRAME[0] - 6, up.at(share) + 4, "tick", "end")
        for shade, shares in (("out", whole), ("in", inside)):
            columns = zip(places, shares, strict=False)
            drawn = "".join(_column(place, up.at(share), foot) for place, share in columns if share > 0)
            if drawn:
                drawing.path(f"shape {shade} {kind}", drawn)
        drawing.words(f"on {name}", FRAME[1], foot - _PANEL - 6, "label", "end")
    _strip(drawing, places, [a + b > 0 for a, b in zip(left_in, right_in, strict=True)], bottom + 4)
    for name, (a, b) in zip(names, places[bins:], strict=True):
        drawing.words(wording.short(name, int(beside / 6)), (a + b) / 2, bottom + 20, "tick", "middle")
    return bottom + 46


def _column(place: tuple[float, float], top: float, foot: float) -> str:
    """Return the path of a bar, at least half a unit high, on `foot`."""
    return f"M{place[0]:g} {foot:g}V{min(top, foot - 0.5):g}H{place[1] - 0.7:g}V{foot:g}z"


def _strip(drawing: Drawing, places: Sequence[tuple[float, float]], held: Sequence[bool], y: float) -> None:
    """Draw a strip below each bin that has outputs of the event."""
    marked = "".join(f"M{a:g} {y:g}H{b:g}" for (a, b), inside in zip(places, held, strict=False) if inside)
    if marked:
        drawing.path("strip", marked)


def _values(drawing: Drawing, outputs: Outputs, sides: Sequence[str]) -> float:
    """Draw two bars for each value, one for each side.

    Return the height of the picture. The axis ends at the largest share of a value. If the values of the
    event have much smaller shares, it ends at the largest of these.
    """
    left, right, left_in, right_in = outputs.shares
    scale, bottom = Scale(0.0, round_up(_longest(outputs)), 10.0, 410.0), 12 + _ROW * len(outputs.names)
    drawing.across(scale, 6, bottom, "share of the outputs")
    for i, name in enumerate(outputs.names):
        y = 18 + _ROW * i
        drawing.words(
            f"{wording.short(name, _LONG)}{' (event)' if left_in[i] + right_in[i] > 0 else ''}", 10, y
        )
        for k, (kind, whole, inside) in enumerate(
            zip(sides, (left[i], right[i]), (left_in[i], right_in[i]), strict=True)
        ):
            for shade, share in (("out", whole), ("in", inside)):
                if share > 0:
                    foot = y + 6 + 9 * k
                    drawing.path(f"shape {shade} {kind}", f"M10 {foot:g}H{scale.at(share):g}v8H10z")
    drawing.legend([(f"shape in {sides[0]}", "on left"), (f"shape in {sides[1]}", "on right")], bottom + 50)
    return bottom + 84


def _longest(outputs: Outputs) -> float:
    """Return the share of the outputs at which the axis of the bars ends."""
    left, right, left_in, right_in = outputs.shares
    longest, inside = max(*left, *right), max(*left_in, *right_in)
    return inside if 0 < inside < _SMALL * longest and not outputs.edges else longest


def _n(value: float) -> str:
    return wording.number(value)
