"""The texts of a utility result, for the terminal and the page."""

from decimal import ROUND_CEILING, ROUND_FLOOR

from audit.results.result import Evidence, Verdict
from audit.utility.result import ProblemFinding, UtilityResult, UtilityWitness
from audit.values.wording import apart, confidence, number, short, shown
from audit.words import again, alike
from audit.words.allowance import accuracy
from audit.words.text import Told, entry

#: The terminal report names at most `MOST_NAMED` problems, in at most `NAMED_LENGTH` characters.
MOST_NAMED = 5
NAMED_LENGTH = 240
#: An undecided claim may hold with equality if its bounds are within this factor of the claimed β. The report
#: then says this.
_CLOSE = 2.0


def told(result: UtilityResult) -> Told:
    """Return the texts on the result of a utility audit.

    Examples
    --------
    >>> from audit.utility.result import UtilityResult
    >>> print(UtilityResult("learner", None, Verdict.ERROR, Evidence.EXACT, "It raises."))
    ERROR  learner  no claim
    <BLANKLINE>
      The audit failed: It raises.
      This says nothing for or against the claim.
    <BLANKLINE>
      Runs         0 runs drawn; 0 problems tried
      Again        the same audit with seed=0
    """
    bound, worth = bounds(result), meaning(result)
    witness = "" if result.witness is None else witness_story(result.witness)
    named = result.refuted or result.verdict in alike.UNDECIDED
    family = entry("Family", result.family or "") if named else []
    return Told(
        title=alike.claim_words(result),
        paragraphs=(verdict_sentence(result), bound, witness, worth),
        witness=witness,
        hint="Hint: print(result) for the whole finding; result.witness holds a failure.",
        bounds=bound,
        meaning=worth,
        runs=runs(result),
        again=again.reproduction(result),
        entries=[*family, *(entry("Problems", searched(result), most=3) if result.problems else [])],
    )


def brief_claim(result: UtilityResult) -> str:
    """Return the claim as papers write it: ``(0.1, 0.05)-PAC``."""
    known = accuracy(result)
    if known is None:
        return alike.claim_words(result)
    kind = "PAC" if type(result.claim).__name__ == "PAC" else "accurate"
    return f"({number(known[0])}, {number(known[1])})-{kind}"


def claimed(result: UtilityResult) -> float | None:
    """Return the claim's β, or None if it has none."""
    known = accuracy(result)
    return None if known is None else known[1]


def verdict_sentence(result: UtilityResult) -> str:
    """Return the verdict as a sentence."""
    if result.verdict in alike.UNDECIDED:
        return alike.no_verdict(result)
    where = short(result.family or "no problem", 200)
    exact = result.evidence is Evidence.EXACT
    if result.refuted:
        how = "by the exact laws" if exact else "by runs of the learner"
        return (
            f"The claim does not hold: it is refuted {how}, on the problem `{short(result.worst or '', 80)}`."
        )
    if result.verdict is Verdict.PROVED:
        return (
            f"The claim is proved over {where}: no exact failure probability there exceeds β. The proof "
            "covers only that family."
        )
    how = "exactly" if exact else f"with confidence {confidence(result.significance)}"
    count = len(result.problems)
    these = "this 1 problem" if count == 1 else f"these {count} problems"
    return f"The claim is met {how} on {these}: {where}. Other problems may be harder: this is not a proof."


def bounds(result: UtilityResult) -> str:
    """Return a text on the bounds on the failure probability. The bounds are those of the worst problem."""
    beta = claimed(result)
    if beta is None or result.verdict is Verdict.ERROR:
        return ""
    alpha = number(getattr(result.claim, "alpha", None))
    of = f"of an error above {alpha} on the worst problem{sizes(result)}"
    if result.evidence is Evidence.EXACT:
        found, most = apart(result.beta_lower, beta)
        return f"The exact probability {of} is {found} (claimed {most})."
    least, below = apart(result.beta_lower, beta, rounding=ROUND_FLOOR)
    most, above = apart(result.beta_upper, beta, rounding=ROUND_CEILING)
    lies = f"is at least {least} and at most {most} (claimed {max(below, above, key=len)})"
    return f"The probability {of} {lies}. {alike.separately(result)}"


def sizes(result: UtilityResult) -> str:
    """Return words on the sample size, enclosed in commas, or an empty text."""
    count = result.sample_size
    if count is None:
        return ""
    return f", on samples of {alike.tried(count, 'record')},"


def meaning(result: UtilityResult) -> str:
    """Return a text that says what the evidence means."""
    if result.verdict in alike.UNDECIDED:
        return _open_between(result) or "This says nothing for or against the claim."
    if result.evidence is Evidence.EXACT:
        drawn = f"; {result.samples:,} runs did not contradict it" if result.samples else ""
        return f"The law is the one the learner declares{drawn}; no sampling error is involved."
    if result.refuted:
        return alike.chance(result)
    most = f"{result.significance:.3g}"
    return f"If the claim is false on any of these problems, the chance of this verdict is at most {most}."


def _open_between(result: UtilityResult) -> str:
    """Return advice if the claim lies between two close bounds, else an empty text."""
    beta = claimed(result)
    if beta is None or result.verdict is not Verdict.INCONCLUSIVE:
        return ""
    if not beta / _CLOSE <= result.beta_lower <= beta <= result.beta_upper <= _CLOSE * beta:
        return ""
    return (
        "The claimed β lies between the two bounds: the claim may hold with equality. Raise the budget, "
        "allow a larger α or β, or declare a `distribution`."
    )


def witness_story(witness: UtilityWitness) -> str:
    """Return a text that describes a failure."""
    output, database = shown(witness.output), shown(witness.database)
    problem, chance = short(witness.problem, 80), number(witness.failure)
    if witness.output is None and witness.error != witness.error:  # NaN: a law gave only the probability
        return f"On this database of `{problem}` the learner fails with probability {chance}: {database}."
    told = f"A failure on `{problem}`: from {database} the learner made {output}"
    exact = f" (the learner fails there with probability {chance})" if witness.failure < 1 else ""
    return f"{told}, error {number(witness.error)}{exact}. {seed_words(witness)}".rstrip()


def seed_words(witness: UtilityWitness) -> str:
    """Return a text that says how to reproduce a failure.

    Examples
    --------
    >>> from audit.utility.result import UtilityWitness
    >>> seed_words(UtilityWitness("uniform", [0], 1, 0.3, seed=7))
    '`result.replay()`, or `dp-audit replay FILE` on the saved result, repeats it from seed 7.'
    """
    if witness.seed is None:
        return ""
    if witness.repeats is False:
        return f"Its seed, {witness.seed}, did not give the same failure again."
    how = "`result.replay()`, or `dp-audit replay FILE` on the saved result,"
    return f"{how} repeats it from seed {witness.seed}."


def searched(result: UtilityResult) -> str:
    """Return a text that names the worst problems and their failures.

    Examples
    --------
    >>> from audit.utility.result import ProblemFinding, UtilityResult
    >>> found = (ProblemFinding("uniform", 90, 2.0), ProblemFinding("heavy", 90, 8.0))
    >>> searched(UtilityResult("m", None, Verdict.NOT_REFUTED, Evidence.STATISTICAL, problems=found))
    'worst first, with failures / runs: `heavy` 8/90; `uniform` 2/90'
    """
    told = [
        f"`{short(each.name, 60)}` {_failed(each, by_law=result.conditional)}" for each in worst_first(result)
    ]
    named = told[:MOST_NAMED]
    while len(named) > 1 and len("; ".join(named)) > NAMED_LENGTH:
        named.pop()
    more = f"; {len(told) - len(named):,} more" if len(told) > len(named) else ""
    with_what = "mean failure probability" if result.conditional else "failures / runs"
    with_what = "failure probability" if result.evidence is Evidence.EXACT else with_what
    first = "" if len(told) == 1 else "worst first, "
    return f"{first}with {with_what}: {'; '.join(named)}{more}"


def worst_first(result: UtilityResult) -> list[ProblemFinding]:
    """Return the problems, the worst first.

    After a refutation, the first problem is that on which the claim was refuted.
    """

    def bad(each: ProblemFinding) -> tuple[bool, float, bool]:
        decided, share = each.name == result.worst, each.failures / each.runs if each.runs else 0.0
        return result.refuted and decided, share if each.exact is None else each.exact, decided

    return sorted(result.problems, key=bad, reverse=True)


def _failed(problem: ProblemFinding, *, by_law: bool) -> str:
    if problem.exact is not None:
        return number(problem.exact)
    if not problem.runs:
        return "not bet on"
    if by_law:  # a sum of conditional probabilities is not a count
        return number(problem.failures / problem.runs)
    return f"{number(problem.failures)}/{problem.runs:,}"


def runs(result: UtilityResult) -> str:
    """Return a text on the runs, and when the claim was refuted."""
    raised = f"; {result.raised:,} raised" if result.raised else ""
    return f"{alike.drawn(result)}{raised}; {alike.tried(result.problems_tried, 'problem')} tried"
