"""How close the lower bound on ε is to the true ε.

The pair is given, and the whole budget is spent. The claim is 0.8 of the true ε. It only determines which
values of ε (a lattice) the bound can take. Refutations are confirmed with as few runs as possible, because
these runs would tighten the bound too.
"""

from collections.abc import Iterator

from audit.claims import private
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.judging import judged_share, ranged
from audit.self_audit.row import Row
from audit.self_audit.subjects.exact import Setting, gaussian, geometric, laplace, randomized_response

PART = "tightness"
SIGNIFICANCE = 1e-3
CLAIMED = 0.8
DELTA = 1e-3
JUDGED = 1


def settings() -> tuple[Setting, ...]:
    """Return the mechanisms whose bounds are measured."""
    return laplace(), geometric(), randomized_response(), gaussian(1.0, DELTA)


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield a row for each mechanism, then a row for bounds above the true ε."""
    above = n = 0
    for setting in settings():
        found = bounds(audits, setting, side=sizes.side, repeats=sizes.repeats)
        above, n = above + sum(each > setting.epsilon for each in found), n + len(found)
        ratios = [each / setting.epsilon for each in found]
        what = f"bound ÷ true ε, {setting.name}, {sizes.side:,} runs a side"
        note = f"true ε {setting.epsilon:.4g}" + (f" at δ = {setting.delta:g}" if setting.delta else "")
        yield ranged(PART, what, ratios, kind="ratio", note=note)
    yield judged_share(
        PART,
        f"bounds on ε above the true ε, significance {SIGNIFICANCE:g}",
        count=above,
        n=n,
        side="at most",
        limit=SIGNIFICANCE,
        level=audits.level,
    )


def bounds(audits: Audits, setting: Setting, *, side: int, repeats: int) -> list[float]:
    """Return the lower bound on ε of each audit."""
    epsilon = CLAIMED * setting.epsilon
    options = {
        "pairs": [setting.pair],
        "budget": 2 * side,
        "until": "budget",
        "confirm_budget": 4,
        "significance": SIGNIFICANCE,
    }
    claim = private(epsilon, setting.delta)
    what = f"{setting.name}, {side:,} runs a side, true ε {setting.epsilon:g}"
    task = Task(setting.mechanism, claim, options)
    return [result.epsilon_lower for result in audits.carried_out(PART, what, [task] * repeats)]
