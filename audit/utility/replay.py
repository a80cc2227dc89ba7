"""Replay a saved failure of a learner."""

from dataclasses import replace
from typing import Any

from audit.codec.decoding import decode
from audit.codec.encoding import encode, revived
from audit.codec.stored import Opaque, is_replayable
from audit.errors import AuditError
from audit.problems import check_problem
from audit.results.result import Evidence
from audit.sampling import Sampler
from audit.subject.subject import Subject
from audit.subject.surroundings import own_arithmetic
from audit.utility.exact import exact_failure, exceeds
from audit.utility.experiment import Revealed, as_subject
from audit.utility.families import PROBLEMS, read_problems
from audit.utility.result import UtilityResult, UtilityWitness
from audit.utility.runs import reveal
from audit.values.canonical import same
from audit.verdict.replay import subject_of


@own_arithmetic()
def replay_failure(
    result: UtilityResult,
    subject: Any = None,
    *,
    problems: Any = None,
    isolate: bool = False,
    trust: bool = False,
) -> UtilityWitness:
    """Repeat the failure that a result shows, and return it.

    `repeats` says whether the output is the same. The audit's `convert` prepares the databases, unless the
    learner has its own. The error is measured again by the problem of the same name in `problems` or of the
    learner. Without such a problem, the audit's own problem measures it. A refutation by exact laws is
    computed again. Then `refutes` says whether the failure probability is still above beta.

    Parameters
    ----------
    result
        A result with a failure.
    subject
        The learner; by default the audited one or, with `trust`, the one that the result's target names.
    problems
        As in the audit; by default the learner's own.
    isolate
        Run the learner in a child process, so that it may hang or crash.
    trust
        Whether the result's target and `convert` may be imported and called
        (`audit.subject.loading.require_trust`).

    Raises
    ------
    AuditError
        The result has no failure, or there is no learner to run. Or `convert` has no name to import it by. Or
        the file does not hold the problem that measures the error.
    """
    witness = result.witness
    if witness is None:
        raise AuditError("This result has no witness, so there is nothing to replay.")
    learner = subject_of(result, subject, trust=trust)
    problem = _problem_of(witness, learner.object, problems)
    if result.evidence is Evidence.EXACT:
        return _again_by_law(result, witness, learner, problem)
    if witness.seed is None:
        raise AuditError("This failure cannot be replayed: the result does not record its seed.")
    experiment = as_subject(learner, result.claim, law=result.conditional)
    with Sampler(experiment, seed=result.seed, isolate=isolate) as sampler:
        shown = reveal(sampler, problem, witness.seed)
    if not isinstance(shown, Revealed):
        raise AuditError(f"The run did not finish: {shown}.")
    again = replace(witness, database=shown.database, error=shown.trial.error, failure=shown.trial.failure)
    return _given(again, problem, shown.output)


def _again_by_law(
    result: UtilityResult, witness: UtilityWitness, learner: Subject, problem: Any
) -> UtilityWitness:
    """Return the witness on the worst database, computed again from the laws."""
    found = exact_failure(learner, problem, result.claim)
    if found is None:
        raise AuditError(
            f"The evidence is exact, but the laws of {learner.name} and of the problem `{witness.problem}` "
            "do not give its failure probability; audit it again by runs."
        )
    again = replace(witness, database=found.database, error=found.error, failure=found.at_database)
    return replace(_given(again, problem, found.output), refutes=exceeds(found.failure, result.claim.beta))


def _given(witness: UtilityWitness, problem: Any, output: Any) -> UtilityWitness:
    """Return the witness with a new output.

    `repeats` says whether the new output equals the old output. It is None if a file holds only the text of
    the old output.
    """
    saved = encode(witness.output)
    repeats = True if same(output, witness.output) else same(output, decode(saved))
    known = repeats or is_replayable(saved) or not isinstance(witness.output, Opaque)
    return replace(witness, output=output, repeats=repeats if known else None, source=problem)


def _problem_of(witness: UtilityWitness, learner: Any, problems: Any) -> Any:
    """Return the problem of a witness, by name if it is given, else the audit's own."""
    if problems is not None or callable(getattr(learner, "problems", None)):
        library = read_problems(problems, subject=learner).library
        named = next((problem for problem in library if problem.name == witness.problem), None)
        if named is not None:
            return named
    if witness.source is None:
        raise AuditError(
            f"The problem `{witness.problem}` is not one of the learner's own and could not be saved, so its "
            "error cannot be measured: give it in ",
            *(PROBLEMS, "."),
        )
    return check_problem(revived(witness.source, what="problem"))
