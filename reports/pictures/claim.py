"""The pictures that compare a claim with what was found."""

import math

from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.values import wording
from audit.words import alike, allowance, story

from .drawing import FRAME, Drawing, Picture, Scale, round_up

__all__ = ["closeness", "event_picture", "finite_claim", "profile", "trade_off"]

LEFT, RIGHT = 10.0, 410.0
_PITCH = 46.0  # from one labelled bar to the next
_STEPS = 40  # points of a curve
_VISIBLE = 0.02  # a smaller difference of two probabilities cannot be seen between 0 and 1


def event_picture(result: AuditResult, witness: Witness, words: story.WitnessWords) -> Picture | None:
    """Return a picture of p, q and the largest p that the claim allows at q.

    Return None if a number is missing.
    """
    limit = allowance.allowed(result, witness)
    if limit is None or not all(math.isfinite(x) for x in (witness.p, witness.q)):
        return None
    ends = [allowance.allowed(result, witness, q=q) for q in witness.q_interval or ()]
    grown = tuple(end for end in ends if end is not None) or None
    most = max(witness.p, witness.q, *(witness.p_interval or ()), min(limit, 1.0))
    scale = Scale(0.0, round_up(most), LEFT, RIGHT)
    labels = (
        f"p on {words.on_p}: {words.p}{words.p_interval}",
        f"allowed, {words.allowance}: {words.limit}",
        f"q on {words.on_q}: {words.q}{words.q_interval}",
    )
    drawing, bottom = Drawing(), 12 + 3 * _PITCH
    drawing.across(scale, 6, bottom, "probability of the event")
    bars = zip(
        ("p", "limit", "q"),
        labels,
        (witness.p, limit, witness.q),
        (witness.p_interval, grown, witness.q_interval),
        strict=True,
    )
    for i, (kind, label, value, interval) in enumerate(bars):
        y = 20 + _PITCH * i
        drawing.words(label, LEFT, y)
        drawing.bar(kind, (LEFT, scale.at(value)), y + 8)
        if interval:
            drawing.whisker(scale.at(interval[0]), scale.at(interval[1]), y + 15)
        if limit <= scale.high:  # beside the bars only: a line through a label is hard to read
            drawing.path("threshold", f"M{scale.at(limit):g} {y + 5:g}v20")
    caption = _excess(witness, limit)
    return Picture(
        "Probability of the event on both databases, and what the claim allows",
        f"{'; '.join(labels)}. {caption}",
        caption,
        drawing.done(),
        bottom + 38,
        ("", "probability", "from", "to"),
        tuple(
            (name, _n(value), *(_ends(interval) if interval else ("exact", "exact")))
            for name, value, interval in (
                (f"p on {words.on_p}", witness.p, witness.p_interval),
                ("allowed by the claim", limit, grown),
                (f"q on {words.on_q}", witness.q, witness.q_interval),
            )
        ),
        term="event",
    )


def _excess(witness: Witness, limit: float) -> str:
    excess = witness.p - limit
    if excess <= 0:
        return "p is within what the claim allows at this estimate of q."
    times = f", and {_n(witness.p / limit)} times that limit" if limit > 0 and excess / limit > 0.01 else ""
    return f"p is {_n(excess)} above what the claim allows{times}."


def _ends(interval: tuple[float, ...]) -> tuple[str, str]:
    return wording.at_least(interval[0]), wording.at_most(interval[-1])


def profile(result: AuditResult, witness: Witness | None) -> Picture | None:
    """Return a picture of δ as a function of ε.

    It shows the claim, what the witness's event shows, and the audit's bounds.

    At x < ε an (ε, δ) claim allows at most δ + (1 − δ)(e^ε − e^x)/(1 + e^ε). This is the tightest curve that
    follows from the claim (Kairouz, Oh and Viswanath 2015). An event shows that δ(x) is at least p − e^x·q,
    here with the lower end of p and the upper end of q. If the claim has a δ, the δ axis is logarithmic. On a
    linear axis this δ would look like 0.
    """
    epsilon, delta = finite_claim(result)
    if epsilon is None or result.verdict in (Verdict.ERROR, Verdict.INCONCLUSIVE):
        return None
    event = witness if witness is not None and witness.distance == 1 else None
    found = [x for x in (result.epsilon_lower, result.detectable_epsilon) if x is not None and x < 50]
    across = Scale(0.0, round_up(1.25 * max(epsilon, *found, 0.1)), *FRAME)
    claimed = [(x, _implied(x, epsilon, delta)) for x in _grid(across, epsilon)]
    shown = [(x, _shown(x, event)) for x in _grid(across)] if event else []
    most = round_up(max(y for _, y in (*claimed, *shown)))
    least = min(filter(None, (delta, result.delta_lower)), default=0.0) / 3
    up = Scale(least if delta else 0.0, most, 200.0, 26.0, log=bool(delta))
    drawing = Drawing()
    drawing.across(across, 26, 200, "ε")
    drawing.up(up, *FRAME, "δ")
    drawing.line("curve claimed", [(across.at(x), up.at(y)) for x, y in claimed])
    if shown:
        drawing.line("curve found", [(across.at(x), up.at(y)) for x, y in shown])
    exact = result.evidence is Evidence.EXACT and not (story.is_bracketed(result) or alike.replay_of(result))
    sign = "=" if exact else "≥"
    points = {
        (epsilon, max(result.delta_lower, 0.0)): f"at the claimed ε = {_n(epsilon)}, δ {sign} "
        f"{_n(result.delta_lower)} found, {_n(delta)} claimed",
        (result.epsilon_lower, delta): f"at the claimed δ = {_n(delta)}, ε {sign} "
        f"{_n(result.epsilon_lower)} found, {_n(epsilon)} claimed",
    }
    for x, y in points:
        if math.isfinite(x):
            drawing.path("point found", f"M{across.at(x):g} {up.at(y):g}h0")
    keys = [
        ("curve claimed", "allowed by the claim"),
        ("point found", "exact, over these pairs" if exact else "bounds of this audit"),
    ]
    keys += [("curve found", "shown by the event")] if shown else []
    drawing.legend(keys, 250.0)
    text = "; ".join(points.values())
    where = "of these pairs meets" if exact else "lies at or beyond"
    return Picture(
        "Privacy profile: δ against ε, claimed and found",
        f"{text[:1].upper()}{text[1:]}.",
        f"The true curve {where} the points. Above the dashed curve it breaks the claim.",
        drawing.done(),
        244 + 20 * len(keys),
        ("ε", "δ allowed by the claim", *(("δ shown by the event",) if shown else ())),
        tuple(
            (
                _n(x),
                _n(_implied(x, epsilon, delta)),
                *((_n(_shown(x, event)),) if event else ()),
            )
            for x in across.ticks()
        ),
        term="profile",
    )


def _shown(x: float, event: Witness) -> float:
    """Return the δ that an event shows at ε = `x`.

    If p and q are intervals, the unfavourable ends count.
    """
    low, high = (event.p_interval or (event.p,))[0], (event.q_interval or (event.q,))[-1]
    return max(0.0, low - math.exp(x) * high)


def _implied(x: float, epsilon: float, delta: float) -> float:
    if x >= epsilon:
        return delta
    return delta + (1.0 - delta) * (math.exp(epsilon) - math.exp(x)) / (1.0 + math.exp(epsilon))


def trade_off(result: AuditResult, witness: Witness | None) -> Picture | None:
    """Return a picture of the rate of misses against the rate of false alarms.

    It shows the least rates that the claim allows, and the rates of an observer who guesses by the event.
    Return None if the excess over the claim is too small to be seen.
    """
    epsilon, delta = finite_claim(result)
    if witness is None or witness.distance != 1 or epsilon is None:
        return None
    least = _least_misses(witness.q, epsilon, delta)
    if result.refuted and witness.p < 1.0 - least + _VISIBLE:
        return None
    across, up = Scale(0.0, 1.0, *FRAME), Scale(0.0, 1.0, 200.0, 26.0)
    drawing = Drawing()
    drawing.across(across, 26, 200, "false alarms")
    drawing.up(up, *FRAME, "misses")
    places = sorted({i / _STEPS for i in range(_STEPS + 1)} | {(1.0 - delta) / (1.0 + math.exp(epsilon))})
    drawing.line("curve claimed", [(across.at(x), up.at(_least_misses(x, epsilon, delta))) for x in places])
    at = across.at(witness.q), up.at(1.0 - witness.p)
    drawing.line("curve found", [(across.at(0), up.at(1)), at, (across.at(1), up.at(0))])
    if witness.p_interval and witness.q_interval:
        low, high = (across.at(q) for q in witness.q_interval)
        top, foot = (up.at(1.0 - p) for p in witness.p_interval)
        drawing.path("whisker", f"M{low:g} {at[1]:g}H{high:g}M{at[0]:g} {top:g}V{foot:g}")
    drawing.path("point found", f"M{at[0]:g} {at[1]:g}h0")
    drawing.legend([("curve claimed", "least, if the claim holds"), ("curve found", "by the event")], 250.0)
    text = (
        f"An observer who says “{witness.direction}” on the event raises a "
        f"false alarm with probability {_n(witness.q)} and misses with {_n(1.0 - witness.p)}; the claim "
        f"allows no fewer misses than {_n(least)}."
    )
    return Picture(
        "Trade-off: false alarms against misses",
        text,
        text,
        drawing.done(),
        284,
        ("", "false alarms", "misses"),
        (
            ("by the event", _n(witness.q), _n(1.0 - witness.p)),
            ("least, if the claim holds", _n(witness.q), _n(least)),
        ),
        term="trade-off",
    )


def _least_misses(x: float, epsilon: float, delta: float) -> float:
    """Return the least rate of misses if the rate of false alarms is `x`.

    This is the trade-off function of (ε, δ) (Dong, Roth, Su).
    """
    return max(0.0, 1.0 - delta - math.exp(epsilon) * x, math.exp(-epsilon) * (1.0 - delta - x))


def closeness(result: AuditResult) -> Picture | None:
    """Return a picture of the claimed, the found and the detectable ε."""
    epsilon, _ = finite_claim(result)
    if epsilon is None or result.verdict in (Verdict.ERROR, Verdict.INCONCLUSIVE):
        return None
    exact = result.evidence is Evidence.EXACT
    marks = [("limit", "claimed", epsilon, _n(epsilon))]
    bracketed = exact and (result.epsilon_upper or 0.0) > result.epsilon_lower * (1 + 1e-9)
    if bracketed:
        upper = result.epsilon_upper or 0.0
        marks += [
            ("found", "found, at least", result.epsilon_lower, wording.at_least(result.epsilon_lower)),
            ("found", "found, at most", upper, wording.at_most(upper)),
        ]
    else:
        found = _n(result.epsilon_lower) if exact else wording.at_least(result.epsilon_lower)
        label = "found, exact worst" if exact else "found, at least"
        marks += [("found", label, result.epsilon_lower, found)]
    if not exact and not result.refuted and result.detectable_epsilon is not None:
        marks.append(
            (
                "q",
                "caught nine times in ten, from",
                result.detectable_epsilon,
                wording.at_most(result.detectable_epsilon),
            )
        )
    if result.ceiling_epsilon is not None and not exact:
        marks.append(
            (
                "q",
                "most that these runs can certify",
                result.ceiling_epsilon,
                wording.at_most(result.ceiling_epsilon),
            )
        )
    most = max(value for *_, value, _ in marks if math.isfinite(value)) or 1.0
    scale = Scale(0.0, round_up(most), LEFT, RIGHT)
    drawing, bottom = Drawing(), 12 + 40.0 * len(marks)
    drawing.across(scale, 6, bottom, "ε")
    for i, (kind, label, value, told) in enumerate(marks):
        y = 18 + 40.0 * i
        drawing.words(f"{label}: {told}", LEFT, y)
        drawing.bar(kind, (LEFT, scale.at(value)), y + 6, height=10)
        if i:
            drawing.path("threshold", f"M{scale.at(epsilon):g} {y + 4:g}v14")
    text = "; ".join(f"{label}: {told}" for _, label, _, told in marks)
    return Picture(
        "How close: the claimed ε beside what this audit knows",
        f"ε {text}.",
        "The dashed mark is the claimed ε.",
        drawing.done(),
        bottom + 38,
        ("ε", "value"),
        tuple((label, told) for _, label, _, told in marks),
        term="detectable",
    )


def finite_claim(result: AuditResult) -> tuple[float | None, float]:
    """Return the claimed ε and the claimed δ.

    If ε is too large to draw, it is None.
    """
    epsilon, delta = allowance.claimed(result)
    return (epsilon if epsilon is not None and epsilon < 50 else None), min(max(delta, 0.0), 1.0)


def _grid(scale: Scale, *more: float) -> list[float]:
    ends = (scale.low + (scale.high - scale.low) * i / _STEPS for i in range(_STEPS + 1))
    return sorted({*ends, *more})


def _n(value: float) -> str:
    return wording.number(value)
