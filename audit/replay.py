"""Drawing a saved witness again: the same runs from the same seed, or new ones."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.betting import Terms
from audit.candidates import Candidate
from audit.conversion import converting
from audit.encoding import revived
from audit.errors import AuditError, InvalidValue
from audit.evidence import Ledger, at_distance, delta_bound, epsilon_bound
from audit.examples import most_probable
from audit.relations import Relation, check_pair
from audit.results import AuditResult, Evidence, Verdict
from audit.sampling import CONFIRM, MutatedInput, Sampler
from audit.subjects import Subject, adapt
from audit.surroundings import own_arithmetic
from audit.witness import Drawn, Plan, loss, run_witness

if TYPE_CHECKING:
    from audit.evidence import Bet
    from audit.results import Witness

#: First index of the seed paths of fresh replays, which no audit uses.
_FRESH = 1_000


@own_arithmetic()
def replay_witness(
    result: AuditResult,
    subject: Any = None,
    *,
    target: str | None = None,
    fresh: bool = False,
    isolate: bool = False,
) -> AuditResult:
    """Draw a result's witness again.

    Parameters
    ----------
    result
        A result with a witness.
    subject
        The mechanism (or adapted subject) to draw from; by default the one that was audited, or what its
        target names. It gets its databases through the audit's `convert`, unless it brings one.
    target
        The text that `subject` was made from, where it was made from one.
    fresh
        Draw new runs, from a part of the seed tree that no audit uses.
    isolate
        Run the subject in a child process, which may hang or die.

    Returns
    -------
    AuditResult
        REFUTED if these runs (or the declared laws) refute the claim by themselves, else NOT_REFUTED; the
        first note says whether the saved counts were reproduced.

    Raises
    ------
    AuditError
        There is no witness, it was kept as text only, or there is no subject to draw from.
    """
    witness = result.witness
    if witness is None:
        raise InvalidValue("This result has no witness, so there is nothing to replay.")
    if not witness.replayable:
        raise InvalidValue("This witness cannot be replayed: a database or its event was kept as text only.")
    chosen = converting(_subject(result, subject), result.environment)
    left, right = (revived(side, what="databases") for side in (witness.left, witness.right))
    witness = replace(witness, left=left, right=right, event=revived(witness.event, what="event"))
    _refuse_strangers(result, witness)
    if subject is not None and (target is None or target != result.target):
        result = _on_another(result, chosen, target)
    if result.evidence is Evidence.EXACT:
        return _again_by_law(result, witness, chosen)
    return _again_by_runs(result, witness, chosen, fresh=fresh, isolate=isolate)


def _on_another(result: AuditResult, subject: Subject, target: str | None) -> AuditResult:
    """Say of which subject the replay speaks, and whose witness it draws again."""
    if target is None and subject.name == result.subject:
        return result  # the same one, as far as can be told
    return replace(
        result,
        subject=subject.name,
        target=target,
        parameters=dict(subject.parameters),
        reference=subject.reference,
        expected=None,
        environment={"replay_of": result.subject, **result.environment},
    )


def _bare(result: AuditResult, **found: Any) -> AuditResult:
    """Return a replay's result: what only the audit did is not taken over from the saved one."""
    environment = {"replay_of": result.subject, **result.environment}
    for name in ("command", "elapsed"):
        environment.pop(name, None)
    saved = environment["replay_of"]
    if saved != result.subject:
        found["notes"] = (*found["notes"], f"the witness that was drawn again is a saved one of {saved}")
    nothing: dict[str, Any] = {
        "reason": "",
        "pairs_tried": 1,
        "pairs_total": None,
        "family": None,
        "epsilon_upper": None,
        "delta_upper": None,
        "detectable_epsilon": None,
        "detectable_event": None,
        "ceiling_epsilon": None,
        "only_output": None,
        "law_distance": None,
        "samples_to_refutation": None,
        "unfinished": 0,
        "log_wealth": 0.0,
        "log_limit": None,
        "budget": 0,
        "not_tested": (
            "events and pairs of databases other than the saved ones",
            *(untested for untested in result.not_tested if untested.startswith(("the floats", "timing"))),
        ),
        "environment": environment,
    }
    return replace(result, **{**nothing, **found})


def _assumptions(result: AuditResult, witness: Witness, subject: Subject, unfinished: int) -> tuple[str, ...]:
    """Say what a replay by runs rests on; nothing of it was checked."""
    alone = "the runs came from fresh mechanisms, which share nothing"
    said = [
        "the claim is read as one about each call, given the state the subject is in when called",
        alone if witness.fresh else "the subject keeps no state between runs; a replay does not check that",
    ]
    if not subject.takes_rng:
        said.append("the subject draws its own randomness: the seed does not reproduce its runs")
    if unfinished:
        how = "count against the refutation" if witness.against else "are outputs"
        said.append(f"{unfinished} runs did not finish; they {how}")
    if result.numerics == "ideal":
        said.append("real-number arithmetic: the low bits of float outputs were not attacked")
    return tuple(said)


def _subject(result: AuditResult, subject: Any) -> Subject:
    if subject is None:
        subject = result._subject  # noqa: SLF001 - the live subject is kept for this
    if subject is None and result.target is not None:
        from audit.targets import rebuild_subject

        subject = rebuild_subject(result.target, result.parameters)
    if subject is None:
        raise InvalidValue(
            "Say what to draw from: `result.replay(mechanism)`; the saved result names no target."
        )
    return subject if isinstance(subject, Subject) else adapt(subject)


def _refuse_strangers(result: AuditResult, witness: Witness) -> None:
    """Refuse databases that were edited so that they are no neighbours: nothing is claimed of those."""
    try:
        relation = Relation.from_name(result.relation)
    except InvalidValue:  # somebody's own, which is not known here
        return
    if witness.distance == 1:
        check_pair(relation, witness.left, witness.right)


def _again_by_runs(
    result: AuditResult, witness: Witness, subject: Subject, *, fresh: bool, isolate: bool
) -> AuditResult:
    path = tuple(witness.seed) if witness.seed and len(witness.seed) > 1 else (CONFIRM, 1, 0)
    candidate_number = path[-2]  # of a fresh replay's path too
    if fresh:
        path = _fresh(path)
    terms = Terms(
        epsilon=result.claim.epsilon,
        delta=result.claim.delta,
        significance=result.significance / 2.0**candidate_number,
        budget=2 * witness.runs,
        floats=result.numerics == "float",
        against=witness.against,
    )
    # What the saved runs showed may choose h and the stakes of new ones; not of themselves, or of what shares
    # their seed. Before them was foreseen what may, if it was saved: h is next to 0 else.
    estimates = (witness.p, witness.q) if fresh else witness.foreseen or (0.0, 0.0)
    p, q = np.clip(estimates, 1e-3, 1 - 1e-3).tolist()
    candidate = Candidate(
        event=witness.event,
        side=0 if witness.direction == "left" else 1,
        p=p,
        q=q,
        past=float(witness.runs) if fresh else 0.0,
    )

    def draw() -> Drawn:
        return run_witness(
            sampler,
            (witness.left, witness.right),
            candidate,
            terms,
            plan=Plan(witness.runs, witness.parts, copies=witness.fresh and not witness.parts),
            path=path,
            distance=witness.distance,
        )

    with Sampler(subject, seed=result.seed, isolate=isolate) as sampler:
        try:
            drawn = draw()
        except MutatedInput:
            sampler.copy_inputs = True
            drawn = draw()
        samples, unfinished, notes = sampler.drawn, sampler.unfinished, tuple(sampler.notes)
    again = drawn.witness
    epsilon_lower, delta_lower = _bounds(drawn.bet, terms)
    same = (again.p, again.q) == (witness.p, witness.q)
    said = "the saved counts were reproduced exactly" if same else "these runs differ from the saved ones"
    if fresh:
        said = "new runs, from a part of the seed tree that no audit uses"
    elif same:
        again = replace(again, confirmed=witness.confirmed)
    return _bare(
        result,
        verdict=Verdict.REFUTED if again.confirmed else Verdict.NOT_REFUTED,
        witness=again,
        samples=samples,
        unfinished=unfinished,
        assumptions=_assumptions(result, witness, subject, unfinished),
        notes=(said, *notes),
        epsilon_lower=epsilon_lower,
        delta_lower=delta_lower,
    )


def _fresh(path: tuple[int, ...]) -> tuple[int, ...]:
    """Give a seed path that neither an audit nor the replay that drew `path` has used."""
    if path[1] >= _FRESH:
        return (path[0], path[1] + 1, *path[2:])
    return (CONFIRM, _FRESH, *path)


def _bounds(bet: Bet, terms: Terms) -> tuple[float, float]:
    """Give the bounds on ε and δ of these runs alone, at the candidate's level: more than a result says."""
    ledger = Ledger([bet])
    epsilon, delta, significance = terms.epsilon, terms.delta, terms.significance
    return (
        epsilon_bound(ledger, epsilon=epsilon, delta=delta, significance=significance),
        delta_bound(ledger, epsilon=epsilon, significance=significance),
    )


def _delta_shown(witness: Witness, epsilon: float) -> float:
    """Return the δ of one step that p and q show: p − R^k·q over 1 + R + … + R^(k−1), with R = e^ε."""
    powers = [math.exp(min(count * epsilon, 700.0)) for count in range(witness.distance + 1)]
    return max(witness.p - powers[-1] * witness.q, 0.0) / math.fsum(powers[:-1])


def _again_by_law(result: AuditResult, witness: Witness, subject: Subject) -> AuditResult:
    from audit.region import probability
    from audit.scores import score

    law_of = subject.distribution
    if law_of is None:
        raise AuditError(f"The witness is exact, but {subject.name} declares no law; audit it again by runs.")
    region = witness.event.conditions[0].region
    laws = law_of(witness.left), law_of(witness.right)
    ends = laws if witness.direction == "left" else laws[::-1]
    p, q = (probability(law, region) for law in ends)
    epsilon, delta = at_distance(result.claim.epsilon, result.claim.delta, witness.distance)
    shown, excess = loss(p, q, delta), p - math.exp(min(epsilon, 700.0)) * q
    found = score(*ends, SimpleNamespace(epsilon=epsilon, delta=delta))
    over = found.over
    if shown <= epsilon:  # no box need show what several coordinates do together
        shown, excess = found.epsilon, found.delta
    said = (
        "the saved probabilities were reproduced"
        if (p, q) == (witness.p, witness.q)
        else "the law has changed"
    )
    again = replace(
        witness,
        p=p,
        q=q,
        confirmed=over,
        epsilon_lower=shown / witness.distance,
        examples=(most_probable(laws[0]), most_probable(laws[1])),
    )
    verdict = Verdict.REFUTED if over else Verdict.NOT_REFUTED
    return _bare(
        result,
        verdict=verdict,
        witness=again,
        notes=(said,),
        samples=0,
        epsilon_lower=again.epsilon_lower,
        delta_lower=max(excess, 0.0),
        assumptions=(
            "the declared law, which a replay does not compare with runs of the code",
            "real-number arithmetic: the laws are those of the mechanism without rounding",
        ),
    )
