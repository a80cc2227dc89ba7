"""Bets on the failures of a learner.

Each batch of runs is on one problem, usually the one that looks worst. The problem and the size of a batch
depend on earlier runs alone. The wealth is checked after every pair of runs. `audit.evidence.failures`
derives the guarantees.
"""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from audit.evidence.bets import log_sum
from audit.evidence.failures import Bets, lower_bound, upper_bound, weights
from audit.sampling import BET, Sampler, TimeIsOver, why_over
from audit.utility.experiment import Trial
from audit.utility.runs import Trials, draw_trials
from audit.utility.search import Look
from audit.utility.task import UtilityTask
from audit.values.progress import AuditProgressed

#: The first bet on a problem takes `FIRST` pairs of runs. Each later bet adds the share `GROWTH` to the runs
#: bet on the problem.
FIRST: Final = 16
GROWTH: Final = 0.25
#: Every 4th batch is on the problem on which the fewest runs were bet.
NEGLECTED: Final = 4
#: The audit gives up after this many runs without an answer.
SILENT: Final = 6


@dataclass(eq=False)
class Standing:
    """The trials and bets on one problem."""

    look: Look
    share: float
    bets: Bets = field(default_factory=Bets)
    batches: int = 0
    met: bool = False
    failing: Trial | None = None
    size: int | None = None
    seen: float = 0.0
    failed: float = 0.0

    @property
    def mean(self) -> float:
        """The estimated failure probability, strictly between 0 and 1."""
        return (self.failed + 0.5) / (self.seen + 1.0)

    def index(self, runs: float) -> float:
        """Return an upper estimate of the failure probability.

        It is the estimate plus the uncertainty of the estimate.
        """
        mean = self.mean
        return mean + math.sqrt(mean * (1.0 - mean) * math.log(1.0 + runs) / (self.seen + 1.0))


@dataclass(eq=False)
class UtilityBetting:
    """The bets of one utility audit.

    Parameters
    ----------
    task
        The audit.
    sampler
        Draws the runs.
    looks
        The problems to bet on. The order is fixed before the first bet.
    """

    task: UtilityTask
    sampler: Sampler
    looks: Sequence[Look]
    standings: list[Standing] = field(init=False)
    crossed_at: int | None = None
    log_at_crossing: float = 0.0
    worst_at_crossing: Standing | None = None
    silent: str = ""
    stopped: str = ""
    changed: bool = False
    raised: int = 0
    conditional: bool = False
    ran: bool = False
    answered: bool = False

    def __post_init__(self) -> None:
        self.beta, self.significance = self.task.claim.beta, self.task.options.significance
        self.log_limit = -math.log(self.significance)
        self._until_budget = self.task.options.until == "budget"
        self.shares = weights(len(self.looks))
        self.standings = list(map(Standing, self.looks, self.shares.tolist()))
        for standing in self.standings:
            if standing.look.trials is not None:
                self._note(standing, standing.look.trials)

    @property
    def refuted(self) -> bool:
        """Whether the wealth against the claim has reached its limit."""
        return self.crossed_at is not None

    @property
    def met(self) -> bool:
        """Whether the claim was met on every problem."""
        return all(standing.met for standing in self.standings)

    @property
    def log_wealth(self) -> float:
        """The current log wealth against the claim."""
        logs = np.array([each.bets.log_now for each in self.standings])
        return float(log_sum(logs + np.log(self.shares)))

    @property
    def log_wealth_with_unfinished(self) -> float:
        """The log wealth against the claim if every unfinished run had failed."""
        logs = [each.bets.log_wealth(self.beta, as_failures=True) for each in self.standings]
        return float(log_sum(np.array(logs) + np.log(self.shares)))

    def run(self) -> None:
        """Bet until the claim is decided, or until the budget or the time is used up.

        With ``until="budget"``, the bets continue after the claim is decided.
        """
        while not self._done():
            open_ones = [each for each in self.standings if not each.met] or self.standings
            with contextlib.suppress(TimeIsOver):  # no count includes an interrupted batch
                self._bet(self._next(open_ones))

    def _next(self, standings: list[Standing]) -> Standing:
        """Return the problem for the next batch.

        This is the problem that looks worst. Every `NEGLECTED` batches it is the problem with the fewest
        runs.
        """
        if sum(each.batches for each in standings) % NEGLECTED == NEGLECTED - 1:
            return min(standings, key=lambda each: each.bets.runs)
        runs = sum(each.seen for each in self.standings)
        return max(standings, key=lambda each: each.index(runs))

    def bounds(self) -> tuple[float, float]:
        """Return a lower and an upper bound on the worst problem's failure probability.

        Each bound alone has confidence 1 − significance.
        """
        bets = [each.bets for each in self.standings]
        low = lower_bound(self.shares, bets, significance=self.significance)
        high = max(self.upper(each) for each in self.standings)
        low = max(low, self.beta) if self.refuted else low
        return low, max(low, high)  # a problem may be met first, and the claim refuted later

    def upper(self, standing: Standing) -> float:
        """Return an upper bound on the failure probability of one problem."""
        bound = upper_bound(standing.bets, significance=self.significance)
        return min(bound, self.beta) if standing.met else bound

    @property
    def worst(self) -> Standing:
        """The problem with the most evidence against the claim."""
        if self.worst_at_crossing is not None:
            return self.worst_at_crossing
        return max(self.standings, key=lambda each: (each.mean, each.seen))

    @property
    def problems(self) -> list[Any]:
        """The problems that are bet on, worst first."""
        others = [each for each in self.standings if each is not self.worst]
        return [each.look.problem for each in (self.worst, *others)]

    @property
    def _left(self) -> int:
        return self.task.options.budget - self.sampler.drawn

    def _done(self) -> bool:
        if self.silent:
            return True
        if (self.refuted or self.met) and not self._until_budget:
            return True
        if self._left < 2:
            self.stopped = f"the budget of {self.task.options.budget:,} runs was spent"
        elif self.task.is_late():
            self.stopped = why_over()
        return bool(self.stopped)

    def _bet(self, standing: Standing) -> None:
        """Draw a batch of runs on one problem, and bet on them one pair at a time."""
        pairs = max(FIRST, int(GROWTH * standing.bets.runs / 2)) if self.answered else SILENT // 2
        pairs = min(pairs, self._left // 2)
        before = self.sampler.drawn
        path = (BET, self.standings.index(standing), standing.batches)
        trials = draw_trials(self.sampler, standing.look.problem, pairs, path, against=self.task.against)
        standing.batches += 1
        checked = self.sampler.drawn - before - len(trials.low)  # the sampler's own first runs
        self._settle(standing, trials, before + checked)
        self._note(standing, trials)
        self._tell()

    def _settle(self, standing: Standing, trials: Trials, before: int) -> None:
        """Settle the bets on some trials.

        The wealth counts only after a whole pair of runs, because the order within a pair is not recorded.
        """
        low, high = trials.low, trials.high
        against, favour = standing.bets.paths(low, high, beta=self.beta)
        others = [each.bets.log_now + math.log(each.share) for each in self.standings if each is not standing]
        rest = float(log_sum(np.array(others))) if others else -math.inf
        total = np.logaddexp(against + math.log(standing.share), rest)
        pair_ends = np.arange(len(low)) % 2 == 1
        crossed = np.flatnonzero(pair_ends & (total >= self.log_limit))
        end = len(low)
        if len(crossed) and not self.refuted:
            first = int(crossed[0])
            self.crossed_at = before + first + 1
            self.log_at_crossing = float(total[first])
            self.worst_at_crossing = standing
            end = end if self._until_budget else first + 1
        reached = np.flatnonzero((pair_ends & (favour >= self.log_limit))[:end])
        if len(reached):
            standing.met = True
            end = end if self._until_budget else int(reached[0]) + 1
        standing.bets.add(low[:end], high[:end], beta=self.beta)

    def _note(self, standing: Standing, trials: Trials) -> None:
        """Add trials to what is known of a problem, whether they were bet on or not."""
        finished = trials.finished
        standing.seen += len(trials.low)
        standing.failed += float(trials.low.sum())
        failed = (trial for trial in finished if trial.failure > 0)
        worst = max(failed, key=lambda trial: (trial.failure, trial.error), default=None)
        standing.failing = standing.failing or worst
        if standing.size is None and finished:
            standing.size = finished[0].size
        self.changed = self.changed or any(trial.changed for trial in finished)
        self.raised += sum(bool(trial.raised) for trial in finished)
        self.conditional = self.conditional or any(trial.exact for trial in finished)
        self.ran = self.ran or trials.unfinished > 0 or not all(trial.exact for trial in finished)
        self.answered = self.answered or not trials.silent
        seen = [each.seen for each in self.standings]
        if not self.answered and all(seen) and sum(seen) >= SILENT:
            self.silent = trials.silent

    def _tell(self) -> None:
        if self.task.listener is not None:
            name, runs, budget = self.sampler.subject.name, self.sampler.drawn, self.task.options.budget
            wealth, limit = self.log_wealth, self.log_limit
            self.task.listener(
                AuditProgressed(name, runs, budget, log_wealth=wealth, log_limit=limit, stage="bet")
            )
