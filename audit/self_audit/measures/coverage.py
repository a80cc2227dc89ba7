"""How often intervals contain the truth, and how often a detectable ε is detected.

**Witness intervals.** A witness is an event with two intervals. They are for its probabilities p and q on the
two databases. For mechanisms with finite laws, the exact probability of any event is a sum. An interval at
confidence c may miss it with probability 1 − c. Misses of p and of q are counted separately, because the
intervals need not be independent.

**Detectable ε.** The audit of a control names a detectable ε and an event. The probability p of this event is
known in advance. For a coin that ignores its database, no event has any privacy loss. The coin's audit names
no particular event. Its detectable ε holds for an event with probability (1 + δ)/2. Randomized response has
two events. Each has probability e/(1 + e) on the database where it is more probable. To test a detectable ε
of d, another mechanism is audited. It answers 1 with probability p on one database and (p − δ)/e^d on the
other database.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audit.claims import ApproximateDP, PureDP
from audit.errors import AuditError
from audit.relations import Relation
from audit.results.result import Witness
from audit.self_audit.audits import Audits, Sizes, Task
from audit.self_audit.judging import judged_share
from audit.self_audit.row import Row
from audit.self_audit.subjects import exact
from audit.values.wording import number

PART = "coverage"
#: In audits for witnesses: the share of the true ε that is claimed, and the significance. A larger share
#: makes refutations harder, so fewer witnesses are found.
CLAIMED, SIGNIFICANCE = 0.5, 1e-3
#: The budget of the audits that name a detectable ε, and the promised rate of detection. A larger budget
#: gives a smaller detectable ε.
BUDGET = 20_000
DETECTED = 0.9


@dataclass(frozen=True)
class Control:
    """A mechanism that meets its claim, with the probability of an event.

    The audit of the mechanism names this event.
    """

    mechanism: exact.Drawn
    claim: PureDP | ApproximateDP
    p: float


#: The mechanisms whose detectable ε is tested.
CONTROLS = (
    Control(exact.coin(0.5, 0.5), PureDP(0.5), 0.5),
    Control(exact.coin(0.5, 0.5), PureDP(1.0), 0.5),
    Control(exact.coin(0.5, 0.5), ApproximateDP(1.0, 0.05), 0.525),
    Control(exact.randomized_response().mechanism, PureDP(1.0), math.e / (1 + math.e)),
)
JUDGED = 2 + len(CONTROLS)


def settings() -> tuple[exact.Setting, ...]:
    """Return the mechanisms on which witness intervals are checked."""
    return exact.randomized_response(), exact.geometric(), exact.noisy_max()


def rows(audits: Audits, sizes: Sizes) -> Iterator[Row]:
    """Yield two rows for the intervals, then one for each of `CONTROLS`.

    The first row is for the intervals of p, the second for those of q.
    """
    yield from _intervals(audits, sizes.witnesses)
    for control in CONTROLS:
        yield _detection(audits, control, sizes.detections)


def _intervals(audits: Audits, count: int) -> Iterator[Row]:
    misses: dict[str, list[tuple[bool, bool]]] = {}
    error = 0.0
    for setting in settings():
        options = {
            "relation": Relation.QUERY_ANSWERS,
            "pairs": [setting.pair],
            "significance": SIGNIFICANCE,
        }
        task = Task(setting.mechanism, PureDP(CLAIMED * setting.epsilon), options)
        results = audits.carried_out(PART, f"witnesses of {setting.name}", [task] * count)
        witnesses = [result.witness for result in results]
        sampled = [each for each in witnesses if each is not None and each.confidence is not None]
        error = max([error, *(1 - (each.confidence or 0.0) for each in sampled)])
        misses[setting.name] = [missed(each, setting) for each in sampled]
    if not any(misses.values()):
        raise AuditError("No audit of a faulty mechanism had a witness with intervals.")
    for place, name in enumerate(("p", "q")):
        found = {of: [pair[place] for pair in pairs] for of, pairs in misses.items()}
        every = [each for some in found.values() for each in some]
        yield judged_share(
            PART,
            f"intervals of {name} that miss the exact probability, confidence {1 - error:g}",
            count=sum(every),
            n=len(every),
            side="at most",
            limit=error,
            level=audits.level,
            details=[(of, f"{sum(some)} of {len(some)}") for of, some in found.items()],
        )


def missed(witness: Witness, setting: exact.Setting) -> tuple[bool, bool]:
    """Return whether the intervals of p and of q miss the exact probabilities."""
    assert setting.laws is not None
    by_database = list(zip(setting.pair, setting.laws, strict=True))

    def misses(database: Any, interval: Sequence[float] | None) -> bool:
        assert interval is not None
        [law] = [law for of, law in by_database if of == database]
        return not interval[0] <= law.of(witness.event) <= interval[1]

    return misses(witness.on_p, witness.p_interval), misses(witness.on_q, witness.q_interval)


def _detection(audits: Audits, control: Control, count: int) -> Row:
    claim, name = control.claim, f"{control.mechanism.name} at {control.claim}"
    options = {"pairs": [([0], [1])], "relation": Relation.QUERY_ANSWERS, "budget": BUDGET}
    [said] = audits.carried_out(PART, f"control: {name}", [Task(control.mechanism, claim, options)])
    detectable = said.detectable_epsilon
    if detectable is None:
        raise AuditError(f"The audit of the control {name} names no detectable ε.")
    faulty = exact.coin(control.p, (control.p - claim.delta) * math.exp(-detectable))
    tasks = [Task(faulty, claim, options)] * count
    results = audits.carried_out(PART, f"at the detectable ε of {name}", tasks)
    return judged_share(
        PART,
        f"refuted at the detectable ε of {name}, {BUDGET:,} runs",
        count=sum(result.refuted for result in results),
        n=count,
        side="at least",
        limit=DETECTED,
        level=audits.level,
        note=f"detectable ε {number(detectable)}, by the event: {said.detectable_event or 'none named'}",
    )
