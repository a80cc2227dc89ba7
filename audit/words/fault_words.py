"""The text for each fault. It is one or two sentences on which a maintainer can act."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from audit.results.fault import Fault
from audit.values.wording import number, short, shown


def told(fault: Fault) -> str:
    """Return the kind of a fault and its text in one line.

    Examples
    --------
    >>> from audit.results.fault import FaultKind
    >>> told(Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "The sensitivity is twice what the scale assumes."))
    'noise too small: The sensitivity is twice what the scale assumes.'
    """
    return f"{fault.kind.value}: {fault.words}".rstrip(": ")


def place(where: Sequence[Any]) -> str:
    """Return the name of a place in an output.

    Examples
    --------
    >>> place(()), place((0, "a"))
    ('the output', "output[0]['a']")
    """
    return "output" + "".join(f"[{shown(each, 20)}]" for each in where) if where else "the output"


def several(where: Sequence[Sequence[Any]]) -> str:
    """Return a text that names the first two of some places in an output.

    It counts the other places.

    Examples
    --------
    >>> several([(0,), (1,)]), several([(0,), (1,), (2,), (3,)])
    ('output[0] and output[1]', 'output[0], output[1] and 2 more')
    """
    told = [place(each) for each in where]
    if len(told) <= 2:
        return " and ".join(told)
    return f"{told[0]}, {told[1]} and {len(told) - 2} more"


def times(factor: float) -> str:
    """Return a factor as a text.

    Examples
    --------
    >>> times(2.0), times(2.55)
    ('twice', '2.55 times')
    """
    return "twice" if abs(factor - 2.0) < 1e-6 else f"{number(factor)} times"


def number_of_times(count: int) -> str:
    """Return a text on how often something happened.

    Examples
    --------
    >>> number_of_times(0), number_of_times(1), number_of_times(3)
    ('not at all', 'once', '3 times')
    """
    return {0: "not at all", 1: "once", 2: "twice"}.get(count, f"{count} times")


def claimed(epsilon: float, delta: float) -> str:
    """Return the ε and δ of a claim as a text."""
    return f"ε = {number(epsilon)}" + (f", δ = {number(delta)}" if delta else "")


def too_far(moves: str, draws: str, covers: float, at: str, factor: float | None) -> str:
    """Return the text for noise that does not hide a move of the output.

    `covers` is the largest move for which this noise meets the claim, or NaN if it is unknown.

    Examples
    --------
    >>> print(too_far(moves([()], 2.0, "L1"), times_slope("laplace(scale=1)", 1.0), 1.0, "ε = 1", 2.0))
    On the same random draws the output moves by 2. `laplace(scale=1)` covers 1 at ε = 1: the sensitivity is
    at least twice what the scale assumes.
    >>> print(too_far(moves([()], 2.0, "L1"), times_slope("standard_normal", 0.5), math.nan, "ε = 1", None))
    On the same random draws the output moves by 2. `standard_normal`, times 0.5, covers less than that
    at ε = 1.
    """
    amount = "less than that" if math.isnan(covers) else number(covers)
    said = f"On the same random draws {moves}. {draws} covers {amount} at {at}"
    if factor and math.isnan(covers):
        said += f": the noise is too small by a factor of at least {number(factor)}"
    elif factor:
        said += f": the sensitivity is at least {times(factor)} what the scale assumes"
    return f"{said}."


def times_slope(draws: str, slope: float) -> str:
    """Return the text for draws and the factor that multiplies them."""
    return f"`{draws}`" + ("" if abs(slope - 1.0) < 1e-6 else f", times {number(slope)},")


def moves(where: Sequence[Sequence[Any]], by: float, norm: str) -> str:
    """Return a text on which numbers of the output move, and by how much.

    Examples
    --------
    >>> moves([(0,)], 2.0, "L1"), moves([(0,), (1,)], 2.0, "L1")
    ('output[0] moves by 2', 'output[0] and output[1] move by 2 in L1 norm')
    """
    if len(where) == 1:
        return f"{place(where[0])} moves by {number(by)}"
    return f"{several(where)} move by {number(by)} in {norm} norm"


def each_moves(by: Mapping[Sequence[Any], float]) -> str:
    """Return a text on how far each of some numbers of the output moves.

    Examples
    --------
    >>> each_moves({("total",): 48.0, ("old",): 1.0})
    "output['total'] moves by 48, output['old'] by 1"
    """
    told = [
        f"{place(where)} {'' if i else 'moves '}by {number(far)}" for i, (where, far) in enumerate(by.items())
    ]
    return ", ".join([*told[:3], *([f"{len(told) - 3} more"] if len(told) > 3 else [])])


def has_to_shift(draws: str, by: float, norm: str) -> str:
    """Return a text on the shift of draws that would make the outputs equal.

    Examples
    --------
    >>> has_to_shift("laplace(scale=1)", 2.0, "")
    '`laplace(scale=1)` has to shift by 2 to hide what moves'
    """
    return f"`{draws}` has to shift by {number(by)}{f' in {norm} norm' if norm else ''} to hide what moves"


def besides(methods: Sequence[str]) -> str:
    """Return the text for draws that are not noise, but may hide some of the move."""
    return f" `{listed(sorted(set(methods)))}` may hide part of this move; that is not counted here."


NO_PURE = " Normal noise of any scale breaks a claim without δ: claim one with δ, or draw Laplace noise."


def spent(count: int, draws: str, at: str, factor: float) -> str:
    """Return the text for several draws that each spend the whole ε."""
    return (
        f"{count} separate draws, `{draws}`, hide the same record. Each spends the whole budget of {at}; "
        f"together they spend {times(factor)} as much."
    )


def relation(draws: str, factor: float) -> str:
    """Return the text for noise that suits add-or-remove-one only. The claim is about replace-one."""
    return (
        f"Replacing a record removes one and adds another. `{draws}` covers each step, but both together "
        f"move the output {times(factor)} as far. The noise fits add-or-remove-one; the claim is about "
        "replace-one."
    )


def unbounded(move: float, further: float, draws: str) -> str:
    """Return the text for a record that is not clipped."""
    return (
        f"On the same random draws the output moves by {number(move)}, and by {number(further)} if the "
        f"record is a thousand times as large. `{draws}` covers only a bounded move."
    )


def through_nan(move: float, draws: str) -> str:
    """Return the text for a NaN that is not clipped and moves the output."""
    return _passes(f"the output moves by {number(move)} on the same random draws", draws)


def nan_comes_out(where: Sequence[Sequence[Any]], draws: str) -> str:
    """Return the text for a NaN that is not clipped and comes out."""
    return _passes(f"{several(where)} {'is' if len(where) == 1 else 'are'} NaN", draws)


def _passes(seen: str, draws: str) -> str:
    return f"A NaN record passes the clipping: {seen}. `{draws}` covers clipped records only."


def reused(where: Sequence[Sequence[Any]], draws: str) -> str:
    """Return the text for one draw that is added to several outputs."""
    return (
        f"The same draw, `{draws}`, is in {several(where)}. It cancels when these are combined, and what "
        "remains shows the data without noise."
    )


def exact(where: Sequence[Any], left: Any, right: Any, drawn: Sequence[str]) -> str:
    """Return the text for a part of the output that has no noise."""
    part = place(where) if where else "The output"
    seen = f"{part} is {shown(left, 40)} in every run on the left and {shown(right, 40)} on the right"
    none = f"({short(', '.join(drawn), 60)}) reaches it" if drawn else "is made"
    return f"{seen}. No random draw {none}."


def fixed(draws: str, *, own: bool) -> str:
    """Return the text for draws that are the same in every run."""
    how = "comes from a generator that the code seeds itself" if own else "is the same in every run"
    return f"`{draws}` {how}: the same seed gives the same noise in every call, which anybody can subtract."


def weights(left: Any, right: Any) -> str:
    """Return the text for an option with weight 0 on only one database."""
    return (
        f"`choice(p=...)` gets exact weights: {shown(_list(left), 60)} on the left and "
        f"{shown(_list(right), 60)} on the right. An option has weight 0 on one side and more on the "
        "other: drawing it reveals the database."
    )


def _list(weights: Any) -> list[float]:
    return [float(f"{weight:.3g}") for weight in weights]


def possible(what: str, more: int, side: str, share: float, delta: float) -> str:
    """Return the text for outputs that only one database can give.

    `more` is the number of such outputs besides the named one.

    Examples
    --------
    >>> print(possible("the key 'a'", 0, "left", 1.0, 0.0))
    The key 'a' occurs in the output on the left in every run; on the right no draw gives it.
    >>> print(possible("the key 'a'", 3, "left", 0.04, 0.01))
    The key 'a', or one of 3 others, occurs in the output on the left with a probability of about 0.04 (more
    than δ = 0.01); on the right no draw gives them.
    """
    other = "left" if side == "right" else "right"
    allowed = "" if not delta else f" (more than δ = {number(delta)})"
    often = "in every run" if share == 1.0 else f"with a probability of about {number(share, digits=2)}"
    others = "" if not more else f", or one of {more} others," if more > 1 else ", or one other,"
    said = f"{what[0].upper()}{what[1:]}{others} occurs in the output on the {side} {often}{allowed}"
    return f"{said}; on the {other} no draw gives {'them' if more else 'it'}."


def missing(left: str, right: str) -> str:
    """Return the text for a database on which there is no answer."""
    said = f"In every run the left {short(left, 60)} and the right {short(right, 60)}"
    return f"{said}: whether there is an answer depends on one record."


def counted_draws(left: Mapping[str, int], right: Mapping[str, int]) -> str:
    """Return the text for a draw that is made more often on one database.

    Examples
    --------
    >>> print(counted_draws({"laplace(scale=1)": 1}, {"laplace(scale=1)": 2}))
    `laplace(scale=1)` is drawn once on the left, twice on the right: how often depends on the data.
    """
    name = next(name for name in (*left, *right) if left.get(name, 0) != right.get(name, 0))
    a, b = number_of_times(left.get(name, 0)), number_of_times(right.get(name, 0))
    return f"`{name}` is drawn {a} on the left, {b} on the right: how often depends on the data."


def spread(where: Sequence[Any], left: float, right: float) -> str:
    """Return the text for noise that is wider on one database."""
    return (
        f"The noise in {place(where)} has standard deviation {number(left)} on the left and {number(right)} "
        "on the right: its scale depends on the data."
    )


def scales(method: str, name: str, left: Any, right: Any) -> str:
    """Return the text for a draw whose parameter depends on the database."""
    return (
        f"`{method}` is drawn with {name}={shown(left, 30)} on the left and {name}={shown(right, 30)} on the "
        "right: the noise depends on the data."
    )


def silenced(draws: str, where: Sequence[Any]) -> str:
    """Return the text for noise that has scale 0 on these databases only."""
    return (
        f"`{draws}` is drawn and changes {place(where)} on other databases, but on neither of these: its "
        "multiplier depends on the data and is 0 here."
    )


def likely(output: str, p: float, q: float, at: str, side: str) -> str:
    """Return the text for a random choice that favours an output too much."""
    other = "left" if side == "right" else "right"
    return (
        f"The output is {output} with probability {number(p)} on the {side} and {number(q)} on the "
        f"{other}: a loss of {number(math.log(p / q))}, where {at} is claimed. Check the sensitivity of the "
        "score and the noise in the choice."
    )


def one_for_all(where: Sequence[Sequence[Any]], draws: str) -> str:
    """Return the text for one draw that decides several answers. Each answer alone meets the claim."""
    return (
        f"The same draw, `{draws}`, decides {several(where)}. Each alone meets the claim; together they do "
        "not."
    )


LOW_BITS = (
    "The noise covers the move, and rounded outputs keep the claim, but the low bits of the floating-point "
    "output break it. Round to a grid, or draw discrete noise."
)
NOTHING_SEEN = (
    "The outputs vary, but the audit saw no draw from `rng`, numpy.random, random or secrets, so it cannot "
    "say where the fault is."
)
UNSEEN_TOO = (
    "The outputs vary on the same recorded draws: some noise comes from a source that the audit cannot "
    "record, so it cannot say where the fault is."
)
KEPT = (
    "The output does not vary within a process, but two new processes give different answers on the same "
    "draws: the code uses noise from before the call, kept in memory or on disk, or a clock. So the audit "
    "cannot say where the fault is."
)
NOT_SHOWN = "The recorded draws do not show which fault this is."
NOT_LOOKED = "The audit could not look at the draws: {}."
TOO_LONG = "The audit stopped looking at the draws after {:g} s of processor time."
TOO_MANY = "The audit stopped looking at the draws after {:,} runs."


def listed(names: Sequence[str]) -> str:
    """Return a text that lists each kind of draw once, with its count.

    Examples
    --------
    >>> listed(["laplace(scale=1)", "laplace(scale=1)", "normal(scale=2)"])
    '2 × laplace(scale=1), normal(scale=2)'
    """
    seen = Counter(names)
    return short(", ".join(name if many == 1 else f"{many} × {name}" for name, many in seen.items()), 80)
