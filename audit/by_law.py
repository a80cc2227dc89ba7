"""The exact path: compare declared laws of neighbouring databases, and the laws with the code that is run."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.betting import NeverAnswers, silence
from audit.canonical import key
from audit.distributions import Countable, Finite, Law
from audit.errors import AuditError, InvalidValue, SubjectError
from audit.events import Event, RegionIn
from audit.exact import ExactFinding, PairFinding, compare_pairs
from audit.examples import most_probable
from audit.law_check import law_log_e_value
from audit.outcomes import Unfinished
from audit.relations import name_of
from audit.results import AuditResult, Evidence, Verdict, Witness
from audit.sampling import LAW, MutatedInput, Runs, Sampler

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from audit.privacy import Task

#: Pairs compared when the domain is not enumerated.
SOME_PAIRS = 512
#: Runs drawn of each database whose law is compared with the code.
CHECKED_RUNS = 2_000
#: With fewer runs of a database nothing is called a proof.
LEAST_CHECKED = 1_000
SAMPLED_RUNS = 10_000
_OTHERS = 1
#: Calls that the databases beyond those share, each this many at least: a law may be wrong on one alone.
SPREAD_RUNS = 1_000
_LEAST_SPREAD, _LOOKED_AT, _COUNTED = 16, 256, 5_000
_KEPT = (Verdict.PROVED, Verdict.NOT_REFUTED)


def audit_by_law(task: Task) -> AuditResult | None:
    """Audit a task by its declared laws; None if it declares none for these databases after all."""
    every = task.databases.enumerate()
    rng = np.random.default_rng(np.random.SeedSequence(task.pairs_seed()))
    if every is None:
        if (found := _up_to_order(task)) is not None:
            return found
        pairs = task.databases.pairs(most=SOME_PAIRS, rng=rng)
    else:
        pairs = [*task.databases.beyond(every), *every]
    if not pairs:
        raise InvalidValue(
            "No two databases of this domain are neighbours; check `records`, `size` and `relation`."
        )
    laws = _Laws(task)
    if laws.of(pairs[0][0]) is None:
        return None
    finding = _compared(task, laws, pairs)
    exhaustive = finding.complete and task.databases.lists_all
    enumerated = len(every) if every and exhaustive else None
    return _Comparison(task, laws, finding, pairs, enumerated=enumerated).result()


def _up_to_order(task: Task) -> AuditResult | None:
    """Return what all multisets show; None where they are too many or break the claim, which lists show."""
    from audit.multisets import in_lists, on_multisets, up_to_order

    subject, pairs = on_multisets(task.subject, task.databases)
    if not pairs:
        return None
    turned, beyond = replace(task, subject=subject), task.databases.beyond([])
    if beyond and _compared(task, _Laws(task), beyond).over:
        return None
    laws = _Laws(turned)
    finding = _compared(turned, laws, pairs)
    if finding.over or not finding.complete:
        return None
    found = _Comparison(turned, laws, in_lists(finding, subject), pairs, enumerated=len(pairs)).result()
    return up_to_order(found)


def _compared(task: Task, laws: _Laws, pairs: list[tuple[Any, Any]]) -> ExactFinding:
    stop = None if task.deadline is None else lambda: time.monotonic() >= (task.deadline or math.inf)
    return compare_pairs(pairs, laws.demand, task.claim, stop=stop)


@dataclass
class _Laws:
    """The declared laws, asked for with the subject's own faults told apart from ours.

    Parameters
    ----------
    task
        The audit.
    discrete
        Whether every law so far was compared outcome by outcome: densities would need interval arithmetic.
    """

    task: Task
    discrete: bool = True

    def of(self, database: Any) -> Law | None:
        """Give the law on a database, None where the subject declares none."""
        law_of = self.task.subject.distribution
        assert law_of is not None
        try:
            law: Law | None = law_of(database)
        except AuditError:
            raise
        except Exception as error:
            name = self.task.subject.name
            raise SubjectError(f"`distribution` of {name} failed: {type(error).__name__}: {error}") from error
        self.discrete = self.discrete and isinstance(law, Finite | Countable)
        return law

    def demand(self, database: Any) -> Law:
        """Give the law on a database; refuse a subject that declares one for some databases only."""
        law = self.of(database)
        if law is None:
            raise SubjectError(
                f"`distribution` of {self.task.subject.name} declares a law for some databases only."
            )
        return law


@dataclass
class _Check:
    """One comparison of a law with runs."""

    database: Any
    log_e_value: float
    how: str


class _Comparison:
    """What was found, turned into a result."""

    def __init__(
        self,
        task: Task,
        laws: _Laws,
        finding: ExactFinding,
        pairs: list[tuple[Any, Any]],
        *,
        enumerated: int | None,
    ) -> None:
        self.task, self.laws, self.finding, self.pairs = task, laws, finding, pairs
        self.enumerated = enumerated
        self.samples = 0
        self.checked: set[Hashable] = set()
        self.least_checked = CHECKED_RUNS
        self.stateless = True
        self.notes: list[str] = []

    def result(self) -> AuditResult:
        """Give the verdict: the claim against the laws, once the laws have been compared with the code."""
        try:
            return self._judged(self._check_laws())
        except _TimeIsOverError:
            reason = "the time was over before the law was compared with the code"
            return self._as(Verdict.INCONCLUSIVE, reason=reason)
        except NeverAnswers as silent:
            return self._as(Verdict.ERROR, reason=silence(silent.outcome))

    def _judged(self, checks: list[_Check]) -> AuditResult:
        limit = math.log(max(1, len(checks)) / self.task.options.significance)
        wrong = next((check for check in checks if check.log_e_value >= limit), None)
        if wrong is not None:
            from audit.brief import show

            where = show(wrong.database, 40)
            reason = (
                "the law this subject declares is not what it returns: "
                f"{wrong.how} on {where} disagrees with it "
                f"(log e-value {wrong.log_e_value:.4g}, limit {limit:.4g})"
            )
            return self._as(Verdict.ERROR, reason=reason)
        worst = self._worst()
        if self.finding.over and (doubt := self.task.databases.doubt(worst.left, worst.right)):
            return self._as(Verdict.INCONCLUSIVE, reason=doubt)
        if self.finding.over:
            return self._as(Verdict.REFUTED, witness=self._witness())
        if not self.finding.complete:
            return self._as(
                Verdict.INCONCLUSIVE,
                reason=f"the time was over after {self.finding.pairs} of {len(self.pairs)} pairs",
            )
        if self.exhaustive and self.laws.discrete and self._is_settled() and self._is_checked():
            return self._as(Verdict.PROVED)
        return self._as(Verdict.NOT_REFUTED)

    @property
    def exhaustive(self) -> bool:
        """Whether every pair of the domain was compared: `enumerated` of them, beside those given by hand."""
        return self.enumerated is not None

    def _is_settled(self) -> bool:
        """Tell whether the laws keep the claim, rounding apart; say so where rounding leaves it open."""
        if not self.finding.within:
            self.notes.append(
                "Not called a proof: some probabilities are as small as the rounding of the floats that give "
                "them; give the law accurate `log_probabilities`, or fractions."
            )
        return self.finding.within

    def _is_checked(self) -> bool:
        """Tell whether the code was compared closely enough to speak of a proof; say why where it was not."""
        if self.least_checked < LEAST_CHECKED:
            self.notes.append(
                f"Not called a proof: the law was compared with {self.least_checked} runs of a database, "
                f"fewer than {LEAST_CHECKED}; a larger budget allows more."
            )
        elif not self.stateless:
            self.notes.append("Not called a proof: the subject keeps state, or that cannot be told.")
        return self.least_checked >= LEAST_CHECKED and self.stateless

    def _worst(self) -> PairFinding:
        return self.finding.by_delta if self.task.claim.delta > 0 else self.finding.by_epsilon

    def _worst_pair(self) -> str:
        """Say between which databases most is lost, where there is no witness to show it."""
        from audit.brief import show

        worst = self._worst()
        pair = [worst.left, worst.right] if worst.direction == "left" else [worst.right, worst.left]
        where = " beside ".join(show(database, 60) for database in pair)
        at = (
            f"δ {worst.delta:.4g} at the claimed ε" if self.task.claim.delta > 0 else f"ε {worst.epsilon:.4g}"
        )
        return f"The worst pair: {where}, with {at}."

    def _witness(self) -> Witness:
        worst = self._worst()
        return Witness(
            left=worst.left,
            right=worst.right,
            event=Event((RegionIn(worst.event),)),
            p=worst.p,
            q=worst.q,
            direction=worst.direction,
            epsilon_lower=worst.epsilon,
            examples=(
                most_probable(self.laws.demand(worst.left)),
                most_probable(self.laws.demand(worst.right)),
            ),
        )

    def _as(self, verdict: Verdict, *, reason: str = "", witness: Witness | None = None) -> AuditResult:
        task, finding = self.task, self.finding
        compared = verdict is not Verdict.ERROR
        family = None if self.enumerated is None else task.databases.family(self.enumerated)
        beyond = finding.pairs - (self.enumerated or 0)
        if family and task.subject.family:
            family = f"{task.subject.family}, as the subject derives it from {family}"
        if family and beyond:
            family = f"{family}, and {beyond} given beside them"
        return AuditResult(
            subject=task.subject.name,
            claim=task.claim,
            relation=name_of(task.relation),
            verdict=verdict,
            evidence=Evidence.EXACT,
            reason=reason,
            epsilon_lower=finding.epsilon if compared else 0.0,
            delta_lower=finding.delta if compared else 0.0,
            epsilon_upper=finding.epsilon_upper if compared else None,
            delta_upper=finding.delta_upper if compared else None,
            witness=witness,
            samples=self.samples,
            pairs_tried=finding.pairs,
            pairs_total=len(self.pairs) if self.exhaustive else None,
            family=family,
            tolerance=finding.tolerance,
            significance=task.options.significance,
            seed=task.options.seed,
            numerics=task.options.numerics,
            budget=task.options.budget,
            parameters=dict(task.subject.parameters),
            reference=task.subject.reference,
            assumptions=(
                *self._law_assumed(verdict),
                "real-number arithmetic: the laws are those of the mechanism without rounding",
            ),
            notes=(*self.notes, *(() if witness or not compared else (self._worst_pair(),))),
            not_tested=(
                *(() if self.exhaustive else ("databases outside the pairs that were compared",)),
                *(task.databases.left_out() if verdict in _KEPT else ()),
                'the floats as returned (numerics="float")',
                "timing, memory and other side channels",
            ),
            expected=task.subject.expected,
        )

    def _check_laws(self) -> list[_Check]:
        """Compare the law with the code, as fixed beforehand: closely on some pairs, in few calls on many."""
        subject = self.task.subject
        checks: list[_Check] = []
        per_run = replace(subject, declared_sampler=None)
        ways = [(per_run, CHECKED_RUNS, "calling it")]
        if subject.declared_sampler is not None:
            ways.append((subject, SAMPLED_RUNS, "its `sample`"))
        pairs = self._checked_pairs()
        share = max(1, self.task.options.budget // (2 * len(ways) * len(pairs)))
        for way, (chosen, runs, how) in enumerate(ways):
            options = self.task.options
            with Sampler(
                chosen,
                seed=options.seed,
                jobs=options.jobs,
                isolate=options.isolate,
                run_time_limit=options.run_time_limit,
            ) as sampler:
                for index, pair in enumerate(pairs):
                    checks += self._checks_of(sampler, pair, min(runs, share), (LAW, way, index), how)
                    self.least_checked = min(self.least_checked, runs, share)
                    self.stateless = self.stateless and sampler.state_suspected() is False
                if not way:
                    left = self.task.options.budget // (2 * len(ways)) - len(pairs) * min(runs, share)
                    checks += self._spread(sampler, min(SPREAD_RUNS // 2, left), first=len(pairs))
                self.stateless = self.stateless and sampler.state_suspected() is False
                self.samples += sampler.drawn
                self.notes += [note for note in sampler.notes if note not in self.notes]
        return checks

    def _checked_pairs(self) -> list[tuple[Any, Any]]:
        worst = self._worst()
        step = max(1, len(self.pairs) // (_OTHERS + 1))
        others = self.pairs[step // 2 :: step][:_OTHERS]
        return [(worst.left, worst.right), *others]

    def _spread(self, sampler: Sampler, runs: int, *, first: int) -> Iterator[_Check]:
        """Compare the law with a few calls on each of many databases: `runs` a side in all."""
        pairs = self._unchecked()[: max(runs, 0) // _LEAST_SPREAD]
        for index, pair in enumerate(pairs):
            yield from self._checks_of(
                sampler, pair, runs // len(pairs), (LAW, 0, first + index), "calling it"
            )

    def _unchecked(self) -> list[tuple[Any, Any]]:
        """Give pairs, from all over the family, with a database that no other pair has had compared."""
        seen, found = set(self.checked), []
        step = max(1, len(self.pairs) // _LOOKED_AT)
        for pair in self.pairs[::step]:
            keys = set(map(key, pair))
            if not keys <= seen:
                found.append(pair)
            seen |= keys
        most = SPREAD_RUNS // 2 // _LEAST_SPREAD
        return found[:: max(1, -(-len(found) // most))]

    def _law_assumed(self, verdict: Verdict) -> Iterator[str]:
        if not self.checked:
            yield "the declared law, which was not compared with the code"
        elif verdict is not Verdict.ERROR:  # which says itself what is wrong with it
            runs = f"{self.samples:,} runs of the code{self._on_databases()}"
            yield f"the declared law, which {runs} did not contradict"

    def _on_databases(self) -> str:
        """Say on how many databases the code was run, of how many where these are few enough to count."""
        run = len(self.checked)
        if len(self.pairs) > _COUNTED:
            return f" on {run:,} databases"
        known = len({key(database) for pair in self.pairs for database in pair})
        return f" on {'all' if run == known else f'{run:,} of the'} {known:,} databases"

    def _checks_of(
        self, sampler: Sampler, pair: tuple[Any, Any], runs: int, path: tuple[int, ...], how: str
    ) -> Iterator[_Check]:
        left, right = pair
        try:
            blocks = list(self._drawn(sampler, pair, runs, path))
        except MutatedInput as fault:
            self.notes.append(str(fault))
            sampler.copy_inputs = True
            blocks = list(self._drawn(sampler, pair, runs, path))
        for database, sides in ((left, [b.left for b in blocks]), (right, [b.right for b in blocks])):
            outputs = (
                np.concatenate(sides)
                if all(isinstance(side, np.ndarray) for side in sides)
                else _joined(sides)
            )
            self.checked.add(key(database))
            yield _Check(database, law_log_e_value(self.laws.demand(database), outputs), how)

    def _drawn(
        self, sampler: Sampler, pair: tuple[Any, Any], runs: int, path: tuple[int, ...]
    ) -> Iterator[Runs]:
        """Draw in growing parts, so that the time limit and a subject that never ends are noticed early."""
        deadline, part, size = self.task.deadline, 0, 2
        while runs > 0:
            if deadline is not None and time.monotonic() >= deadline:
                raise _TimeIsOverError
            for block in sampler.draw(*pair, min(size, runs), (*path, part)):
                if part == 0 and all(isinstance(o, Unfinished) for o in (*block.left, *block.right)):
                    raise NeverAnswers(block.left[0])
                yield block
            runs, part, size = runs - min(size, runs), part + 1, 4 * size


class _TimeIsOverError(Exception):
    """The time limit was reached before the laws had been compared with the code."""


def _joined(sides: list[Any]) -> list[Any]:
    return [output for side in sides for output in side]
