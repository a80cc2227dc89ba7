"""The exact path, which compares declared laws with the claim.

The laws are also compared with runs of the code.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from audit.databases.chosen import Pair
from audit.databases.domain import no_neighbours
from audit.events.event import Event, RegionIn
from audit.laws.declared import Laws
from audit.laws.exact import ExactFinding, compare_pairs
from audit.results.course import Course
from audit.results.result import AuditResult, Evidence, Verdict, Witness
from audit.sampling import TimeIsOver, why_over
from audit.task import PrivacyTask
from audit.values.brief import show
from audit.values.canonical import key
from audit.values.said import Said, Says
from audit.verdict import multisets, statements
from audit.verdict.code_bets import SHARE, TIGHT, beside_law, bet_on_code, speaks
from audit.verdict.examples import most_probable
from audit.verdict.law_runs import LEAST_CHECKED, LawRuns
from audit.verdict.shown.outputs import outputs_by_law
from audit.verdict.terms import NeverAnswers

#: The number of pairs that are compared if the domain cannot be enumerated.
SOME_PAIRS = 512
_KEPT = (Verdict.PROVED, Verdict.NOT_REFUTED)


def audit_by_law(task: PrivacyTask) -> AuditResult | None:
    """Return the result of an audit by declared laws.

    If no law is declared for these databases, return None.
    """
    every = task.databases.enumerate()
    rng = np.random.default_rng(np.random.SeedSequence(task.pairs_seed()))
    if every is None:
        if (found := _up_to_order(task)) is not None:
            return found
        pairs = task.databases.pairs(most=SOME_PAIRS, rng=rng)
    else:
        pairs = [*task.databases.beyond(every), *every]
    if not pairs:
        raise no_neighbours(task.databases)
    laws = Laws(task.subject)
    if laws.of(pairs[0][0]) is None:
        return None
    finding = _compared(task, laws, pairs)
    exhaustive = finding.complete and task.databases.lists_all
    enumerated = len(every) if every and exhaustive else None
    return _Comparison(task, laws, finding, pairs, enumerated=enumerated, code=task).result()


def _up_to_order(task: PrivacyTask) -> AuditResult | None:
    """Return the result on all multisets, or None.

    If there are too many multisets, the result is None. If two multisets break the claim, the result is None
    too. The audit of lists then shows the finding, on databases that users know.
    """
    subject, pairs = multisets.on_multisets(task.subject, task.databases)
    if not pairs:
        return None
    turned, beyond = replace(task, subject=subject), task.databases.beyond([])
    if beyond and _compared(task, Laws(task.subject), beyond).over:
        return None
    laws = Laws(subject)
    finding = _compared(turned, laws, pairs)
    if finding.over or not finding.complete:
        return None
    comparison = _Comparison(
        turned,
        laws,
        multisets.in_lists(finding, subject),
        pairs,
        enumerated=len(pairs),
        code=task,
        reordered=multisets.in_another_order(subject, seed=task.pairs_seed()),
    )
    return multisets.up_to_order(comparison.result())


def _compared(task: PrivacyTask, laws: Laws, pairs: list[tuple[Any, Any]]) -> ExactFinding:
    return compare_pairs(pairs, laws.first, task.claim, stop=task.is_late)


@dataclass
class _Comparison:
    """Compares the laws with the claim and with the code, and makes the result."""

    task: PrivacyTask
    laws: Laws
    finding: ExactFinding
    pairs: list[Pair]
    enumerated: int | None
    code: PrivacyTask
    reordered: Callable[[Any], Any] | None = None
    bets: AuditResult | None = None
    notes: list[Said] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.worst = self.finding.by_delta if self.task.claim.delta > 0 else self.finding.by_epsilon
        worst = self.worst.left, self.worst.right
        self.runs = LawRuns(self.task, self.laws.again, self.pairs, worst, self.reordered)

    def result(self) -> AuditResult:
        """Compare the laws with the code and with the claim, and return the result."""
        try:
            trouble = self.runs.trouble(significance=(1.0 - SHARE) * self.task.options.significance)
        except TimeIsOver:
            reason = f"{why_over()} before the law was compared with the code"
            return self._as(Verdict.INCONCLUSIVE, reason=reason)
        except NeverAnswers as silent:
            return self._as(Verdict.ERROR, reason=str(silent))
        if trouble:
            return self._as(Verdict.ERROR, reason=statements.NOT_ITS_LAW.format(trouble))
        if changed := self.laws.changed():
            return self._as(Verdict.ERROR, reason=changed)
        return self._judged()

    def _judged(self) -> AuditResult:
        """Return the result for a law that runs of the code did not contradict."""
        if self.finding.over:
            if doubt := self.task.databases.doubt(self.worst.left, self.worst.right):
                return self._as(Verdict.INCONCLUSIVE, reason=doubt)
            return self._as(Verdict.REFUTED, witness=self._witness())
        if not self.finding.complete:
            reason = f"{why_over()} after {self.finding.pairs} of {len(self.pairs)} pairs"
            return self._as(Verdict.INCONCLUSIVE, reason=reason)
        self.bets = bet_on_code(
            self.code, self._worst_pairs(), compared=self.runs.samples, tight=self._is_tight()
        )
        if self.bets is not None and speaks(self.bets):
            return beside_law(self.bets, self.code, compared=self.runs.samples)
        exhaustive = self.enumerated is not None
        if exhaustive and self.laws.discrete and self._is_proof():
            return self._as(Verdict.PROVED)
        return self._as(Verdict.NOT_REFUTED)

    def _is_proof(self) -> bool:
        """Return whether the comparison is a proof, and note why if it is not.

        A proof must take rounding into account. The code must keep no state. It must have been compared
        closely with the law. The time must suffice for the bets on the code.
        """
        least = self.runs.least_checked
        if not self.finding.within:
            said = Says.ROUNDED()
        elif least < LEAST_CHECKED:
            said = Says.FEW_COMPARED(runs=least, least=LEAST_CHECKED)
        elif not self.runs.stateless:
            said = Says.MAY_KEEP_STATE(subject="subject")
        elif self.task.is_late():
            said = Says.FEW_CODE_BETS()
        else:
            return True
        self.notes.append(said)
        return False

    def _is_tight(self) -> bool:
        """Return whether the loss under the laws is close to the claim."""
        claim, finding = self.task.claim, self.finding
        return finding.epsilon >= TIGHT * claim.epsilon or finding.delta >= TIGHT * claim.delta > 0

    def _worst_pairs(self) -> list[Pair]:
        """Return the pairs with the largest ε and with the largest δ, each pair once."""
        found = self.finding.by_epsilon, self.finding.by_delta
        return list({key([pair.left, pair.right]): (pair.left, pair.right) for pair in found}.values())

    def _worst_pair(self) -> Said:
        """Return a note that names the pair with the largest loss."""
        worst = self.worst
        pair = [worst.left, worst.right] if worst.direction == "left" else [worst.right, worst.left]
        where = " and ".join(show(database, 60) for database in pair)
        in_delta = self.task.claim.delta > 0
        at = f"δ {worst.delta:.4g} at the claimed ε" if in_delta else f"ε {worst.epsilon:.4g}"
        return Says.WORST_PAIR(pair=where, loss=at)

    def _witness(self) -> Witness:
        worst = self.worst
        laws = self.laws.again(worst.left), self.laws.again(worst.right)
        return Witness(
            left=worst.left,
            right=worst.right,
            event=Event((RegionIn(worst.event),)),
            p=worst.p,
            q=worst.q,
            direction=worst.direction,
            epsilon_lower=worst.epsilon,
            examples=(most_probable(laws[0]), most_probable(laws[1])),
            outputs=outputs_by_law(worst.event, *laws),
        )

    def _as(self, verdict: Verdict, **fields: Any) -> AuditResult:
        task, finding, samples = self.task, self.finding, self.runs.samples
        notes, not_tested = [*self.runs.notes, *self.notes], list[Said]()
        if verdict is not Verdict.ERROR:
            fields["epsilon_lower"], fields["epsilon_upper"] = finding.epsilon, finding.epsilon_upper
            fields["delta_lower"], fields["delta_upper"] = finding.delta, finding.delta_upper
            fields["search_course"] = Course.of(finding.course)
            notes += [] if "witness" in fields else [self._worst_pair()]
        if self.bets is not None:
            samples += self.bets.samples
            fields["detectable_epsilon"] = self.bets.detectable_epsilon
            fields["detectable_event"] = self.bets.detectable_event
        if self.enumerated is None:
            not_tested.append(Says.OTHER_DATABASES())
        else:
            fields["pairs_total"], fields["family"] = len(self.pairs), self._family(self.enumerated)
        if verdict in _KEPT:
            fields["law_distance"] = self.runs.distance
            not_tested += task.databases.left_out()
        return statements.result_of(
            task,
            verdict,
            Evidence.EXACT,
            samples=samples,
            pairs_tried=finding.pairs,
            tolerance=finding.tolerance,
            assumptions=tuple(self._assumed(verdict)),
            notes=tuple(notes),
            not_tested=(*not_tested, Says.FLOATS(), Says.SIDE_CHANNELS()),
            **fields,
        )

    def _family(self, enumerated: int) -> str:
        """Return in words the domain whose pairs were all compared.

        The words also say how many given pairs lie outside the domain.
        """
        family, beyond = self.task.databases.family(enumerated), self.finding.pairs - enumerated
        if self.task.subject.family:
            family = f"{self.task.subject.family}, as the subject derives it from {family}"
        return f"{family}, and {beyond} given pair{'' if beyond == 1 else 's'}" if beyond else family

    def _assumed(self, verdict: Verdict) -> Iterator[Said]:
        if not self.runs.checked:
            yield Says.LAW_NOT_COMPARED()
        elif verdict is not Verdict.ERROR:  # for an ERROR, the reason already names the fault of the law
            yield Says.LAW_COMPARED(runs=self.runs.samples, where=self.runs.on_databases())
        if self.bets is not None:
            yield Says.CODE_BETS(runs=self.bets.samples)
        elif verdict in _KEPT:
            yield Says.NO_CODE_BETS()
        yield Says.REAL_LAWS()
