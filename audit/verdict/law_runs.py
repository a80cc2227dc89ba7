"""Compare a declared law with the code.

Two pairs are compared by many runs, and many other databases by few runs. Runs are calls and, if the subject
has a `sample`, outputs of `sample`.

**Guarantee.** Suppose the subject's runs are independent and follow its law. The chance of reporting a
disagreement is then at most the significance. Each of n comparisons gives an e-value
(`audit.laws.law_check`), and a disagreement is reported if one of them reaches n/significance.
"""

import math
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from audit.databases.chosen import Pair
from audit.distributions import Law
from audit.laws.law_check import detectable_distance, law_log_e_value, stray
from audit.sampling import LAW, Runs, Sampler, TimeIsOver
from audit.sampling.loops import joined
from audit.task import PrivacyTask
from audit.values.brief import show
from audit.values.canonical import key
from audit.values.outcomes import Unfinished
from audit.values.said import Said, Says
from audit.verdict.terms import NeverAnswers

#: The number of calls on each closely compared database, and the number of outputs of `sample`. Larger
#: numbers detect smaller differences.
CHECKED_RUNS: Final = 2_000
SAMPLED_RUNS: Final = 10_000
#: The verdict PROVED needs at least this many runs on each closely compared database.
LEAST_CHECKED: Final = 1_000
_OTHERS: Final = 1
#: A law may be wrong on a single database. So the databases that are not closely compared share `SPREAD_RUNS`
#: calls; each pair that gets calls gets at least `_LEAST_SPREAD` on each side.
SPREAD_RUNS: Final = 1_000
_LEAST_SPREAD, _LOOKED_AT, _COUNTED = 16, 256, 5_000


@dataclass
class _Check:
    """One comparison of a law with runs."""

    database: Any
    how: str
    log_e_value: float
    stray: tuple[Any, ...]

    def words(self, limit: float) -> str:
        where = show(self.database, 40)
        if self.stray:
            return f"{self.how} on {where} gave {show(self.stray[0], 40)}, which the law says cannot occur"
        said = f"outputs of {self.how} on {where} contradict it"
        return f"{said} (log e-value {self.log_e_value:.4g}, limit {limit:.4g})"


@dataclass
class LawRuns:
    """All comparisons of law and code in one audit.

    Parameters
    ----------
    task
        The audit; its databases are those of the given pairs.
    law_of
        Returns the law of a database.
    pairs
        All pairs whose laws were compared with the claim.
    worst
        The pair with the largest loss, which is compared closely.
    reordered
        For a `symmetric` subject: a function that returns the records of a database in another order.
    """

    task: PrivacyTask
    law_of: Callable[[Any], Law]
    pairs: list[Pair]
    worst: Pair
    reordered: Callable[[Any], Any] | None = None
    samples: int = 0
    least_checked: int = CHECKED_RUNS
    distance: float = 0.0
    stateless: bool = True
    checked: set[Hashable] = field(default_factory=set)
    notes: list[Said] = field(default_factory=list)

    def trouble(self, *, significance: float) -> str:
        """Return a text that says where law and code disagree.

        If no disagreement was found, the text is empty.

        Raises
        ------
        TimeIsOver
            The time limit was reached.
        NeverAnswers
            No run finishes.
        """
        checks = self._checks()
        limit = math.log(max(1, len(checks)) / significance)
        self.distance = max(
            detectable_distance(self.law_of(side), self.least_checked, limit) for side in self.worst
        )
        wrong = next((check for check in checks if check.log_e_value >= limit), None)
        return "" if wrong is None else wrong.words(limit)

    def on_databases(self) -> str:
        """Return in words on how many databases the code ran.

        If there are few pairs, the words also say how many different databases the pairs have.
        """
        run = len(self.checked)
        if len(self.pairs) > _COUNTED:
            return f" on {run:,} databases"
        known = len({key(database) for pair in self.pairs for database in pair})
        return f" on {'all' if run == known else f'{run:,} of the'} {known:,} databases"

    def _checks(self) -> list[_Check]:
        """Return all comparisons, which are fixed beforehand."""
        subject = self.task.subject
        checks: list[_Check] = []
        ways = [(replace(subject, declared_sampler=None), CHECKED_RUNS, "calls")]
        if subject.declared_sampler is not None:
            ways.append((subject, SAMPLED_RUNS, "`sample`"))
        close = self._close()
        budget = self.task.options.budget // (4 * len(ways))  # in pairs of runs: in all, half of the budget
        share = max(1, budget // len(close))
        for way, (chosen, runs, how) in enumerate(ways):
            size = min(runs, share)
            with self.task.sampler(chosen) as sampler:
                for index, beside in enumerate(close):
                    checks += self._compared(sampler, beside, size, (LAW, way, index), how)
                    self.least_checked = min(self.least_checked, size)
                    self.stateless = self.stateless and sampler.state_suspected() is False
                if not way:
                    left = budget - len(close) * size
                    checks += self._spread(sampler, min(SPREAD_RUNS // 2, left), first=len(close))
                self.stateless = self.stateless and sampler.state_suspected() is False
                self.samples += sampler.drawn
                self.notes += [note for note in sampler.notes if note not in self.notes]
        return checks

    def _close(self) -> list[tuple[Pair, Pair]]:
        """Return the pairs to compare closely, each with the pair on which the code runs.

        The code runs on the pair itself and, for a `symmetric` subject, also on its reordered records.
        """
        step = max(1, len(self.pairs) // (_OTHERS + 1))
        pairs = [self.worst, *self.pairs[step // 2 :: step][:_OTHERS]]
        reordered = pairs if self.reordered else []
        return [(pair, pair) for pair in pairs] + [(pair, self._turned(pair)) for pair in reordered]

    def _turned(self, pair: Pair) -> Pair:
        return pair if self.reordered is None else (self.reordered(pair[0]), self.reordered(pair[1]))

    def _spread(self, sampler: Sampler, runs: int, *, first: int) -> Iterator[_Check]:
        """Yield comparisons on many databases, with a few calls on each.

        In total, each side gets about `runs` calls.
        """
        pairs = self._unchecked()[: max(runs, 0) // _LEAST_SPREAD]
        for index, pair in enumerate(pairs):
            path = (LAW, 0, first + index)
            beside = pair, self._turned(pair)
            yield from self._compared(sampler, beside, runs // len(pairs), path, "calls")

    def _unchecked(self) -> list[Pair]:
        """Return pairs, spread evenly over all pairs, that have a new database."""
        seen, found = set(self.checked), []
        step = max(1, len(self.pairs) // _LOOKED_AT)
        for pair in self.pairs[::step]:
            keys = set(map(key, pair))
            if not keys <= seen:
                found.append(pair)
            seen |= keys
        most = SPREAD_RUNS // 2 // _LEAST_SPREAD
        return found[:: max(1, -(-len(found) // most))]

    def _compared(
        self, sampler: Sampler, beside: tuple[Pair, Pair], runs: int, path: tuple[int, ...], how: str
    ) -> Iterator[_Check]:
        """Yield comparisons of the law of each database of a pair with runs.

        `beside` holds the pair and the databases to run on. These are the pair itself, or lists of the same
        records in another order.
        """
        pair, drawn = beside

        def found() -> list[Runs]:
            return list(self._drawn(sampler, drawn, runs, path))

        def again() -> list[Runs]:
            self.notes.append(Says.CHANGES_INPUT())
            return found()

        blocks = sampler.with_copies(found, again)
        sides = [block.left for block in blocks], [block.right for block in blocks]
        for database, run_on, side in zip(pair, drawn, sides, strict=True):
            law, outputs = self.law_of(database), joined(side)
            self.checked.add(key(database))
            e_value = law_log_e_value(law, outputs)
            yield _Check(run_on, how, e_value, stray(law, outputs) if math.isinf(e_value) else ())

    def _drawn(self, sampler: Sampler, pair: Pair, runs: int, path: tuple[int, ...]) -> Iterator[Runs]:
        """Yield runs in parts that grow. So the time limit or a subject that hangs is noticed early."""
        part, size = 0, 2
        while runs > 0:
            if self.task.is_late():
                raise TimeIsOver
            for block in sampler.draw(*pair, min(size, runs), (*path, part)):
                if part == 0 and all(isinstance(o, Unfinished) for o in (*block.left, *block.right)):
                    raise NeverAnswers(block.left[0])
                yield block
            runs, part, size = runs - min(size, runs), part + 1, 4 * size
