"""A saved failure drawn again from its seed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from audit.canonical import same
from audit.conversion import converting
from audit.encoding import decode, encode, revived
from audit.errors import AuditError
from audit.results import Evidence
from audit.sampling import CONFIRM, Sampler
from audit.subjects import Subject, adapt
from audit.surroundings import own_arithmetic
from audit.utility.experiment import Ask, Revealed, as_subject
from audit.utility.families import read_problems
from audit.utility.result import UtilityWitness

if TYPE_CHECKING:
    from audit.utility.result import UtilityResult

__all__ = ["replay_failure"]


@own_arithmetic()
def replay_failure(
    result: UtilityResult, subject: Any = None, *, problems: Any = None, isolate: bool = False
) -> UtilityWitness:
    """Return the failure of a result as it comes out now, `repeats` telling whether the output is the same.

    The learner gets its databases through the audit's `convert`, unless it is a subject that brings one.
    The problem is found by its name; one that only the search knew is replaced by its saved database, and the
    error of another output than the saved one then counts as 0, for nothing can measure it.

    Raises
    ------
    AuditError
        No failure, no learner to draw from, or a `convert` without a name to find it by.
    """
    witness = result.witness
    if witness is None:
        raise AuditError("This result has no witness, so there is nothing to replay.")
    learner = converting(_learner_of(result, subject), result.environment)
    problem = _problem_of(witness.problem, learner.object, problems)
    by_law = result.conditional or result.evidence is Evidence.EXACT
    drawn = problem is not None and witness.seed is not None
    if not drawn and not witness.replayable:
        raise AuditError("This witness cannot be replayed: its database was kept as text only.")
    if not drawn:
        witness = replace(witness, database=revived(witness.database, what="database"))
    witness = replace(witness, output=decode(encode(witness.output)))
    experiment = as_subject(learner, alpha=result.claim.alpha, law=by_law)
    ask = Ask(
        _Saved(witness) if problem is None else problem,
        seed=0 if witness.seed is None else witness.seed,
        reveal=True,
        database=() if drawn else (witness.database,),
    )
    with Sampler(experiment, seed=result.seed, isolate=isolate) as sampler:
        [runs] = sampler.draw(ask, ask, 1, (CONFIRM, 0))
    shown = runs.left[0]
    if not isinstance(shown, Revealed):
        raise AuditError(f"The run did not end: {shown}.")
    if shown.trial.trouble:
        raise AuditError(f"The problem `{witness.problem}` {shown.trial.trouble}")
    trial, repeats = shown.trial, same(shown.output, witness.output)
    return UtilityWitness(
        witness.problem, shown.database, shown.output, trial.error, trial.failure, witness.seed, repeats
    )


@dataclass(frozen=True)
class _Saved:
    """Stands for a problem of which only one failure is known."""

    witness: UtilityWitness

    def error(self, output: Any, database: Any) -> float:
        """Return the saved error of the saved output, 0 for any other."""
        del database
        return self.witness.error if same(output, self.witness.output) else 0.0


def _learner_of(result: UtilityResult, subject: Any) -> Subject:
    known = result._subject if subject is None else subject  # noqa: SLF001 - the live one is kept for this
    if known is not None:
        return adapt(known)
    if result.target is None:
        raise AuditError("This result does not say what was audited; give the learner too.")
    from audit.targets import rebuild_subject

    return adapt(rebuild_subject(result.target, result.parameters))


def _problem_of(name: str, learner: Any, problems: Any) -> Any:
    if problems is None and not callable(getattr(learner, "problems", None)):
        return None
    library = read_problems(problems, subject=learner).library
    return next((problem for problem in library if problem.name == name), None)
