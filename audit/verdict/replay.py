"""Replay a saved witness. A replay repeats the runs of the witness from the same seed, or makes new runs."""

import math
from dataclasses import replace
from typing import Any

from audit.claims import ApproximateDP
from audit.codec.encoding import revived
from audit.errors import AuditError, InvalidValue
from audit.events.event import RegionIn
from audit.evidence.bets import Ledger
from audit.laws.law_check import law_log_e_value
from audit.relations import Relation, check_pair
from audit.results.result import AuditResult, Evidence, SavedResult, Verdict, Witness
from audit.sampling import LAW, Sampler
from audit.sampling.loops import joined
from audit.subject.conversion import converting
from audit.subject.loading import require_trust
from audit.subject.subject import Subject, adapt
from audit.subject.surroundings import own_arithmetic
from audit.values.brief import show
from audit.values.outcomes import Raised, Unfinished
from audit.values.said import Said, Says
from audit.verdict import statements
from audit.verdict.examples import most_probable
from audit.verdict.redraw import Redraw
from audit.verdict.terms import Terms
from audit.verdict.witness import loss

#: A declared law is compared with `_COMPARED` runs on each database. Their seeds lie at the place `_REPLAYED`
#: of the seed tree.
_COMPARED = 500
_REPLAYED = 3_000_000
#: The fields that a replay copies from the saved result; all other fields describe only the audit.
_OF_SUBJECT = ("subject", "claim", "relation", "parameters", "reference", "target", "expected", "_subject")
_TAKEN = (*_OF_SUBJECT, "evidence", "witness", "tolerance", "significance", "seed", "numerics")


@own_arithmetic()
def replay_witness(
    result: AuditResult,
    subject: Any = None,
    *,
    target: str | None = None,
    fresh: bool = False,
    isolate: bool = False,
    trust: bool = False,
) -> AuditResult:
    """Return the result of running a saved witness again.

    Parameters
    ----------
    result
        A result with a witness.
    subject
        The mechanism (or adapted subject) to run. By default, it is the audited one. For a result read from a
        file, it is the one that its target names. The audit's `convert` prepares the databases, unless the
        subject has its own.
    target
        The text that names `subject` for import, if there is one.
    fresh
        Make new runs, from a part of the seed tree that no audit uses.
    isolate
        Run the subject in a child process, so that it may hang or crash.
    trust
        Whether the result's target and `convert` may be imported and called
        (`audit.subject.loading.require_trust`).

    Returns
    -------
    AuditResult
        If these runs (or the declared laws) refute the claim, REFUTED. If no run answers, ERROR. If the runs
        are too few to decide, INCONCLUSIVE. If a refutation needs a fresh process that cannot be started,
        also INCONCLUSIVE. In all other cases, NOT_REFUTED. The verdict does not depend on the saved verdict
        (`audit.verdict.redraw`). The first note says whether the runs gave the saved counts again.

    Raises
    ------
    AuditError
        The result has no witness or only the text of one, or there is no subject to run.
    """
    witness = result.witness
    if witness is None:
        raise InvalidValue("This result has no witness, so there is nothing to replay.")
    chosen = subject_of(result, subject, trust=trust)
    left, right = (revived(side, what="databases") for side in (witness.left, witness.right))
    witness = replace(witness, left=left, right=right, event=revived(witness.event, what="event"))
    _refuse_strangers(result, witness)
    if subject is not None and (target is None or target != result.target):
        result = _on_another(result, chosen, target)
    if result.evidence is Evidence.EXACT:
        return _again_by_law(result, witness, chosen, isolate=isolate)
    return _again_by_runs(result, witness, chosen, fresh=fresh, isolate=isolate)


def _on_another(result: AuditResult, subject: Subject, target: str | None) -> AuditResult:
    """Return the result under the name of the replayed subject. The environment keeps the audited name."""
    if target is None and subject.name == result.subject:
        return result  # it has the name of the audited subject
    return replace(
        result,
        subject=subject.name,
        target=target,
        parameters=dict(subject.parameters),
        reference=subject.reference,
        expected=None,
        environment={"replay_of": result.subject, **result.environment},
    )


def _bare(result: AuditResult, verdict: Verdict, *, notes: tuple[Said, ...], **found: Any) -> AuditResult:
    """Return an empty result for a replay, with the fields `_TAKEN` of the saved one."""
    environment = {"replay_of": result.subject, **result.environment}
    for name in ("command", "date", "elapsed"):
        environment.pop(name, None)
    saved = environment["replay_of"]
    if saved != result.subject:
        notes = (*notes, Says.OTHER_SUBJECT(saved=saved))
    not_tested = [Says.ONLY_SAVED()]
    if result.numerics == "ideal" or result.evidence is Evidence.EXACT:
        not_tested.append(Says.FLOATS())
    return AuditResult(
        **{name: getattr(result, name) for name in _TAKEN} | found,
        verdict=verdict,
        notes=notes,
        pairs_tried=1,
        not_tested=(*not_tested, Says.SIDE_CHANNELS()),
        environment=environment,
    )


def subject_of(result: SavedResult, subject: Any, *, trust: bool) -> Subject:
    """Return the subject to run.

    If `subject` is None, it is the subject of the audit. If the result was read from a file, its target names
    the subject. The target is imported only with `trust`. The audit's `convert` prepares the databases,
    unless the subject has its own.
    """
    live = result._subject  # noqa: SLF001 - the live subject is kept for this
    chosen = live if subject is None else subject
    if chosen is None and result.target is not None:
        require_trust(result.target, what="subject", trust=trust)
        from audit.subject.targets import rebuild_subject

        chosen = rebuild_subject(result.target, result.parameters)
    if chosen is None:
        raise InvalidValue("The saved result names no target; give the subject: `result.replay(subject)`.")
    return converting(adapt(chosen), result.environment, live=live, trust=trust)


def _refuse_strangers(result: AuditResult, witness: Witness) -> None:
    """Raise an error if the saved databases are not neighbours."""
    try:
        relation = Relation.from_name(result.relation)
    except InvalidValue:  # the user defined the relation, and it is not known here
        return
    if witness.distance == 1:
        check_pair(relation, witness.left, witness.right)


def _again_by_runs(
    result: AuditResult, witness: Witness, subject: Subject, *, fresh: bool, isolate: bool
) -> AuditResult:
    terms = Terms(
        epsilon=result.claim.epsilon,
        delta=result.claim.delta,
        significance=result.significance,
        budget=2 * witness.runs,
        floats=result.numerics == "float",
        against=witness.against,
    )
    with Sampler(subject, seed=result.seed, isolate=isolate) as sampler:
        redraw = Redraw(sampler, witness, terms, fresh)
        verdict, drawn = sampler.with_copies(redraw.decide)
        samples, unfinished, notes = sampler.drawn, sampler.unfinished, tuple(sampler.notes)
    said = Says.REPRODUCED if redraw.reproduced else Says.NEW_RUNS if fresh else Says.RUNS_DIFFER
    decided = verdict in (Verdict.REFUTED, Verdict.NOT_REFUTED)  # by these runs alone, at the witness's level
    bounds = terms.bounds(Ledger([drawn.bet])) if decided else {}
    return _bare(
        result,
        verdict,
        reason=redraw.reason,
        witness=drawn.witness,
        samples=samples,
        unfinished=unfinished,
        assumptions=statements.assumed_of_runs(
            subject, how=redraw.how, unfinished=unfinished, against=witness.against, numerics=result.numerics
        ),
        notes=(said(), *notes),
        **bounds,
    )


def _again_by_law(result: AuditResult, witness: Witness, subject: Subject, *, isolate: bool) -> AuditResult:
    """Return the verdict by the laws that are declared now.

    The laws are compared with runs of the code first.
    """
    from audit.laws.region import probability
    from audit.laws.scores import score

    region, found = _region(witness), _laws(witness, subject)
    if isinstance(found, str):
        return _bare(result, Verdict.ERROR, reason=found, notes=())
    ends = found if witness.direction == "left" else found[::-1]
    p, q = (probability(law, region) for law in ends)
    claim = ApproximateDP(result.claim.epsilon, result.claim.delta).group(witness.distance)
    shown, excess = loss(p, q, claim.delta), p - math.exp(min(claim.epsilon, 700.0)) * q
    scored = score(*ends, claim)
    if shown <= claim.epsilon:  # if several coordinates cause the loss together, perhaps no box shows it
        shown, excess = scored.epsilon, scored.delta
    again = replace(
        witness,
        p=p,
        q=q,
        confirmed=scored.over,
        epsilon_lower=shown / witness.distance,
        examples=(most_probable(found[0]), most_probable(found[1])),
    )
    trouble, samples, notes = _beside_code(result, witness, subject, found, isolate=isolate)
    if trouble:
        return _bare(result, Verdict.ERROR, reason=trouble, notes=notes, samples=samples)
    same = (p, q) == (witness.p, witness.q)
    said = Says.LAW_REPRODUCED if same else Says.LAW_CHANGED
    return _bare(
        result,
        Verdict.REFUTED if scored.over else Verdict.NOT_REFUTED,
        witness=again,
        notes=(said(), *notes),
        samples=samples,
        epsilon_lower=again.epsilon_lower,
        delta_lower=max(excess, 0.0),
        assumptions=(Says.LAW_REPLAYED(runs=_COMPARED), Says.REAL_LAWS()),
    )


def _region(witness: Witness) -> Any:
    conditions: tuple[Any, ...] = getattr(witness.event, "conditions", ())
    if len(conditions) != 1 or not isinstance(conditions[0], RegionIn):
        raise InvalidValue("The evidence is exact, but the witness's event is not a region of an exact law.")
    return conditions[0].region


def _laws(witness: Witness, subject: Subject) -> tuple[Any, Any] | str:
    """Return the declared laws on the left and the right database.

    If the subject declares no laws, return a text that says why.
    """
    from audit.distributions import Law

    law_of = subject.distribution
    if law_of is None:
        raise AuditError(f"The witness is exact, but {subject.name} declares no law; audit it again by runs.")
    try:
        laws = law_of(witness.left), law_of(witness.right)
    except (Exception, SystemExit) as error:  # noqa: BLE001  the user's law may raise anything
        return f"the declared law {Raised.of(error)}"
    strange = next((law for law in laws if not isinstance(law, Law)), None)
    if strange is None:
        return laws
    return f"the declared law must be one of audit.distributions; got {show(strange, 60)}"


def _beside_code(
    result: AuditResult, witness: Witness, subject: Subject, laws: tuple[Any, Any], *, isolate: bool
) -> tuple[str, int, tuple[Said, ...]]:
    """Return what contradicts the laws, the number of runs, and notes.

    If nothing contradicts the laws, the text is empty.
    """
    pair, path = (witness.left, witness.right), (LAW, _REPLAYED)
    with Sampler(subject, seed=result.seed, isolate=isolate) as sampler:
        blocks = sampler.with_copies(lambda: list(sampler.draw(*pair, _COMPARED, path, singly=True)))
        drawn, notes = sampler.drawn, tuple(sampler.notes)
    outputs = joined([block.left for block in blocks]), joined([block.right for block in blocks])
    first = next((each for side in outputs for each in side if not isinstance(each, Unfinished)), None)
    if all(isinstance(each, (Raised, Unfinished)) for side in outputs for each in side):
        return f"every run {first or outputs[0][0]}", drawn, notes
    limit = math.log(len(laws) / result.significance)
    for law, side, database in zip(laws, outputs, pair, strict=True):
        if law_log_e_value(law, side) >= limit:
            where = f"{_COMPARED:,} runs on {show(database, 60)} contradict it"
            return statements.NOT_ITS_LAW.format(where), drawn, notes
    return "", drawn, notes
