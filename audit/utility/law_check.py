"""Compare a learner's declared law with its code.

No verdict rests on a law before this comparison. Each comparison gives an e-value. A disagreement is reported
if an e-value reaches (number of comparisons)/significance. There are three kinds of comparison:

- *on a database*: outputs of the code against the law (`audit.laws.law_check`);
- *on a problem with a known failure probability*: whole trials. They test the law of `draw`, the learner's
  laws, `errors` and `failure` together;
- *on a problem whose conditional failure probabilities are bet on*: the code against the law in each trial.

For trial i, the last two kinds use the failure probability f_i and the indicator x_i of a failure.

**Guarantee.** If the f_i are right, the product over trials of 1 + s·(x_i/f_i − 1) has expectation 1. The
same holds for the product with 1 − x_i and 1 − f_i. The average of these products over a fixed grid of s has
expectation 1 too. So the average reaches 1/t with probability at most t (Markov).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from audit.distributions.law import Floats
from audit.evidence.bets import STAKES, log_sum
from audit.laws.law_check import law_log_e_value
from audit.results.result import Verdict
from audit.sampling import LAW, Sampler
from audit.subject.subject import Subject
from audit.utility.exact import ExactFailure
from audit.utility.experiment import as_subject, law_on
from audit.utility.runs import draw_trials
from audit.utility.task import UtilityTask
from audit.values.outcomes import Unfinished
from audit.values.said import Said

#: The number of pairs of runs on each database. More runs detect smaller differences.
CHECKED_PAIRS: Final = 500
#: A result counts as proved only after this many runs on each database.
LEAST_CHECKED: Final = 1_000
#: The number of pairs of whole trials on all problems together. One problem gets at least `FEWEST` and at
#: most `MOST` pairs. More trials detect smaller differences.
TRIAL_PAIRS: Final = 1_000
FEWEST, MOST = 8, 250
#: The number of pairs of trials that also compute a law, on all problems together. One problem gets at least
#: `FEWEST_LAWS` and at most `MOST_LAWS` pairs.
LAW_PAIRS: Final = 200
FEWEST_LAWS, MOST_LAWS = 4, 64
#: This many pairs of runs are drawn first, to notice soon if the code hangs.
FIRST: Final = 3
_GRID = np.append(STAKES[STAKES > 0], 1.0)


def failures_log_e_value(failed: Floats, probabilities: Floats) -> float:
    """Return the log e-value against these failure probabilities.

    It is +∞ if the probabilities make the failures impossible.

    Examples
    --------
    >>> certain, half = np.ones(9), np.full(9, 0.5)
    >>> bool(failures_log_e_value(certain, half) > 2), failures_log_e_value(certain, np.zeros(9))
    (True, inf)
    """
    logs = []
    for shown, claimed in ((failed, probabilities), (1.0 - failed, 1.0 - probabilities)):
        if np.any((claimed <= 0.0) & (shown > 0.0)):
            return math.inf
        ratio = np.divide(shown, claimed, out=np.ones(len(shown)), where=claimed > 0.0)
        with np.errstate(divide="ignore"):  # a stake of 1 loses all wealth at the first factor 0
            logs.append(np.log1p(_GRID * (ratio[:, None] - 1.0)).sum(axis=0))
    both = np.concatenate(logs)
    return float(log_sum(both) - math.log(len(both)))


def _called(problem: Any, where: str) -> str:
    return (
        "the learner's outputs do not follow its declared law: outputs of calls on "
        f"{where} of `{problem.name}` contradict it"
    )


@dataclass(eq=False)
class LawCheck:
    """The comparisons of law and code in one audit, and their runs.

    Parameters
    ----------
    task
        The audit.
    tests
        The largest number of comparisons that the audit may make.
    notes
        The notes of the audit, to which the comparisons add.
    """

    task: UtilityTask
    tests: int
    notes: list[Said]
    samples: int = 0
    runs: int = 0
    unfinished: int = 0
    least: int = 2 * CHECKED_PAIRS
    stateless: bool = True

    @property
    def open(self) -> str:
        """Why the laws cannot decide, or an empty text if they can.

        They cannot decide if the comparison with the code is missing or incomplete.
        """
        if not self.runs:
            return "time ran out before the law was compared with the code"
        if self.runs <= self.unfinished:
            return f"no run finished: {self.unfinished} were started"
        if self.unfinished:
            return (
                f"{self.unfinished} of {self.runs:,} runs to be compared with the law did not finish, and "
                "the law does not cover those; audit with `exact=False`, or raise `run_time_limit`"
            )
        return ""

    @property
    def verdict(self) -> Verdict:
        """The verdict if the laws cannot decide."""
        return Verdict.ERROR if 0 < self.runs <= self.unfinished else Verdict.INCONCLUSIVE

    def on_databases(self, databases: Sequence[tuple[Any, Any]]) -> str:
        """Return a text if law and code disagree on a database."""
        subject = self.task.subject
        pairs = min(CHECKED_PAIRS, max(1, self.task.options.budget // (4 * len(databases))))
        self.least = min(self.least, 2 * pairs)

        def compared(sampler: Sampler, index: int) -> tuple[str, float]:
            problem, database = databases[index]
            outputs = self._outputs(sampler, database, pairs, index)
            law = law_on(subject.declared_law, database, subject.convert)
            return _called(problem, "a database"), law_log_e_value(law, outputs)

        return self._each(replace(subject, declared_sampler=None), len(databases), compared)

    def on_problems(self, found: Sequence[ExactFailure]) -> str:
        """Return a text if trials disagree with exact failure probabilities."""
        pairs = self._share(len(found), TRIAL_PAIRS, FEWEST, MOST)
        experiment = as_subject(self.task.subject, self.task.claim, law=False)

        def compared(sampler: Sampler, index: int) -> tuple[str, float]:
            one = found[index]
            trials = self._trials(sampler, one.problem, pairs, index)
            failed = np.array([trial.failure for trial in trials])
            words = (
                f"the laws do not match the runs: in {failed.sum():,.0f} of {len(failed):,} trials of "
                f"`{one.problem.name}` the error was above alpha, but the laws of the learner and of the "
                f"problem give that probability {one.failure:.4g}"
            )
            return words, failures_log_e_value(failed, np.full(len(failed), one.failure))

        return self._each(experiment, len(found), compared)

    def beside_laws(self, problems: Sequence[Any]) -> str:
        """Return a text if failures of the code contradict the declared law."""
        pairs = self._share(len(problems), LAW_PAIRS, FEWEST_LAWS, MOST_LAWS)
        experiment = as_subject(self.task.subject, self.task.claim, law=True, beside=True)

        def compared(sampler: Sampler, index: int) -> tuple[str, float]:
            drawn = self._trials(sampler, problems[index], pairs, index)
            trials = [each for each in drawn if each.ran is not None]
            failed = np.array([trial.ran for trial in trials], dtype=np.float64)
            claimed = np.array([trial.failure for trial in trials])
            return _called(problems[index], "databases"), failures_log_e_value(failed, claimed)

        return self._each(experiment, len(problems), compared)

    def _share(self, problems: int, total: int, fewest: int, most: int) -> int:
        wanted = min(most, max(fewest, total // problems))
        return max(1, min(wanted, self.task.options.budget // (8 * problems)))

    def _each(
        self, subject: Subject, count: int, compared: Callable[[Sampler, int], tuple[str, float]]
    ) -> str:
        """Return a text on the first disagreement, or an empty text.

        The comparisons stop at the time limit, or if runs do not finish.
        """
        limit = math.log(self.tests / self.task.options.significance)
        with self.task.sampler(subject) as sampler:
            sampler.copy_inputs = True
            trouble = ""
            for index in range(count):
                if trouble or self.unfinished:
                    break
                if self.task.is_late():
                    self.least = 0
                    break
                words, e_value = compared(sampler, index)
                if e_value >= limit:
                    trouble = f"{words} (log e-value {e_value:.4g}, limit {limit:.4g})"
            self.stateless = self.stateless and sampler.state_suspected() is False
            self.samples += sampler.drawn
            self.notes += [note for note in sampler.notes if note not in self.notes]
        return trouble

    def _outputs(self, sampler: Sampler, database: Any, pairs: int, index: int) -> list[Any]:
        outputs: list[Any] = []
        for size, path in self._parts(pairs, index):
            blocks = sampler.draw(database, database, size, path)
            drawn = [output for runs in blocks for output in (*runs.left, *runs.right)]
            self.runs += len(drawn)
            self.unfinished += sum(isinstance(output, Unfinished) for output in drawn)
            outputs += drawn
        return outputs

    def _trials(self, sampler: Sampler, problem: Any, pairs: int, index: int) -> list[Any]:
        found: list[Any] = []
        for size, path in self._parts(pairs, 2**18 + index):
            trials = draw_trials(sampler, problem, size, path)
            self.runs, self.unfinished = self.runs + 2 * size, self.unfinished + trials.unfinished
            found += trials.finished
        return found

    def _parts(self, pairs: int, index: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the two parts of a draw as (pairs, path).

        If a run of the first part has not finished, the second part is omitted.
        """
        first = min(FIRST, pairs)
        yield first, (LAW, index, 0)
        if pairs > first and not self.unfinished:
            yield pairs - first, (LAW, index, 1)
