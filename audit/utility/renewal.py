"""Confirm a verdict on a learner that keeps state, by runs of new learners.

In one process, runs may depend on earlier runs. Suppose that a learner decides once, at random, whether it is
good, and keeps the decision. Then it fails always or never. So a verdict on a learner that keeps state must
be confirmed on new learners. Each new learner is made in a fresh process (`audit.sampling.isolated.fresh`).
It is called a number of times that is fixed beforehand. Its trial is the share of its calls that fail.

**Guarantee.** Let p be the mean of that share. The shares of new learners are independent, even if the calls
of one learner are not. So the wealths of `audit.evidence.failures` are valid if F is a learner's share. If p
≤ β, the wealth against the claim reaches 1/significance with probability at most significance. If p ≥ β, the
same holds for the wealth in favour of the claim. If calls are independent, p is the failure probability. A
claim counts as met only if it is confirmed on all problems. So no correction for their number is needed.

A learner counts as stateless if `Sampler.is_stateless` says so and its constructor draws nothing at random.
State that makes no difference, such as a cache, is allowed. Copies of the learner's first state must then
give the same outputs from the same generator states. Suppose that random state makes a difference with
probability at least β. The checks are repeated until they miss it with probability at most significance. This
does not hold if it takes over 2,000 learners. The checks assume that importing the learner's module draws
nothing at random.
"""

import math
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

from audit.errors import SubjectError
from audit.evidence.failures import GRID, LEAST_BETA, Bets, least_runs, lower_bound, upper_bound
from audit.sampling import CONFIRM, Sampler, TimeIsOver, why_over
from audit.sampling.isolated.recipes import draws_when_made
from audit.subject.subject import Renewed
from audit.utility.betting import Standing, UtilityBetting
from audit.utility.experiment import Ask
from audit.utility.runs import draw_anew
from audit.utility.task import UtilityTask
from audit.values.canonical import same
from audit.values.said import Says

#: Each new learner is called at least `LEAST_CALLS` times. All learners together make at most `CALLS` calls
#: or, if that is more, four times as many as the audit had runs.
LEAST_CALLS: Final = 24
CALLS: Final = 20_000
#: The number of new learners between two checks of the wealth.
BATCH: Final = 16
#: Larger: confirmation is more certain. The estimated number of new learners is multiplied by this.
_MARGIN: Final = 1.5
#: Limits on new learners on one problem, on tries of a state check, and on estimated seconds. A process
#: counts as `_A_PROCESS` seconds. Larger limits confirm more verdicts but take longer.
_MOST: Final = 1_000
_MOST_MADE: Final = 2_000
_SECONDS: Final = 60.0
_A_PROCESS: Final = 0.03


@dataclass(eq=False)
class Renewal:
    """The confirmation of one verdict.

    Attributes
    ----------
    how
        Why the runs are independent trials. "stateless" means that the learner keeps no state, and "cached"
        that its state makes no difference. "renewed" means that the user's `fresh=` makes a new learner for
        every run. "fresh" means that new learners ran in fresh processes. "unchecked" means that this is not
        known. Before the check it is empty.
    doubt
        Why the verdict does not stand, or empty.
    learners
        The number of new learners made.
    """

    task: UtilityTask
    sampler: Sampler
    betting: UtilityBetting
    how: str = ""
    doubt: str = ""
    learners: int = 0
    bets: list[Bets] = field(default_factory=list)

    def __post_init__(self) -> None:
        if isinstance(self.task.subject.object, Renewed):
            self.how = "renewed"

    def run(self) -> None:
        """Confirm the verdict, or set `doubt`."""
        if self.how:
            return
        spent = time.monotonic() - self.task.started - self.sampler.loading
        a_run = max(spent, 0.0) / max(self.sampler.drawn, 1)
        ask, learner = Ask(self.betting.worst.look.problem), self.task.subject.object
        is_luck = draws_when_made(learner, self._times)  # whether the constructor draws noise and keeps it
        if not is_luck and self.sampler.is_stateless(ask, ask):
            self.how = "stateless"
        elif not is_luck and self._makes_no_difference(ask):
            self.how = "cached"
        elif self.sampler.recipe is None:
            self._go_without("it holds data that importing or constructing it does not restore")
        else:
            self.how = "fresh"
            try:
                self.doubt = self._anew(a_run)
            except TimeIsOver:
                self.doubt = _TIME.format(why_over())
            except SubjectError as error:
                self._go_without(str(error))

    def bounds(self) -> tuple[float, float]:
        """Return bounds on the failure probability of the worst problem.

        They rest on the runs that decide the verdict.
        """
        if self.doubt:
            return 0.0, 1.0
        if self.how != "fresh":
            return self.betting.bounds()
        significance, beta = self.betting.significance, self.betting.beta
        low = max(lower_bound(np.ones(1), [each], significance=significance) for each in self.bets)
        if self.betting.refuted:
            return max(low, beta), 1.0
        high = max(upper_bound(each, significance=significance) for each in self.bets)
        return low, min(high, beta)

    @property
    def _times(self) -> int:
        """The number of tries that detect an effect of probability beta.

        It is at most `_MOST_MADE`. If it is smaller, all tries miss the effect with probability at most
        significance.
        """
        times = least_runs(1.0 - max(self.betting.beta, LEAST_BETA), self.betting.significance)
        return min(times, _MOST_MADE)

    def _makes_no_difference(self, ask: Ask) -> bool:
        """Return whether the first and the present state give the same outputs."""
        sampler = self.sampler
        if not sampler.honours_rng or not sampler.state_kept():
            return False

        def drawn(*, fresh: bool) -> list[Any]:
            blocks = sampler.draw(ask, ask, math.ceil(self._times / 2), (CONFIRM, 2), fresh=fresh)
            return [[list(runs.left), list(runs.right)] for runs in blocks]

        return same(drawn(fresh=False), drawn(fresh=True))

    def _go_without(self, reason: str) -> None:
        """Doubt the verdict if kept state could explain it."""
        standings = [self.betting.worst] if self.betting.refuted else self.betting.standings
        never_varied = all(each.bets.failures in (0.0, each.bets.runs) for each in standings)
        self.how, self.bets = "unchecked", []
        if never_varied or self.sampler.state_kept():
            self.doubt = _UNTOLD.format(reason)

    def _anew(self, a_run: float) -> str:
        """Return why new learners do not confirm the verdict, or an empty text.

        A run takes `a_run` seconds.
        """
        against = self.betting.refuted
        standings = [self.betting.worst] if against else self.betting.standings
        plans = [self._plan(each, share=1 / len(standings)) for each in standings]
        many = sum(learners for learners, _ in plans)
        seconds = sum(learners * (_A_PROCESS + a_run * calls) for learners, calls in plans)
        if max(learners for learners, _ in plans) > _MOST or seconds > _SECONDS:
            return _TOO_MANY.format("over 1,000" if many > _MOST else f"{many:,}")
        for index, (standing, plan) in enumerate(zip(standings, plans, strict=True)):
            if not self._confirmed(standing, plan, index):
                return _TIME.format(why_over()) if self.task.is_late() else _UNCONFIRMED.format(self.learners)
        return ""

    def _plan(self, standing: Standing, *, share: float) -> tuple[int, int]:
        """Return the number of new learners for one problem, and the calls of each.

        This number very likely confirms the verdict. To confirm a refutation, each learner makes twice as
        many calls as the refutation took. State may have to grow first. To confirm a met claim, each learner
        makes as many calls as the problem had runs. If this costs too much, each learner makes fewer calls,
        but at least `LEAST_CALLS`.
        """
        runs, against, betting = standing.bets.runs, self.betting.refuted, self.betting
        seen = standing.bets.failures / runs
        error = math.sqrt(seen * (1.0 - seen) / runs)
        p = max(seen - error, 0.0) if against else min(seen + error, 1.0)
        needed = partial(learners_needed, p, betting.beta, log_limit=betting.log_limit, against=against)
        calls = max(LEAST_CALLS, 2 * (betting.crossed_at or runs) if against else runs)
        most = share * max(CALLS, 4 * self.sampler.drawn)
        learners = needed(calls=calls)
        if learners * calls > most:
            calls = max(LEAST_CALLS, int(most / min(learners, _MOST)))
            learners = needed(calls=calls)
        return learners, calls

    def _confirmed(self, standing: Standing, plan: tuple[int, int], index: int) -> bool:
        """Return whether the wealth from new learners reaches its limit."""
        learners, calls = plan
        bets, betting = Bets(), self.betting
        self.bets.append(bets)
        for batch in range(math.ceil(learners / BATCH)):
            if self.task.is_late():
                return False
            sizes = [math.ceil(calls / 2)] * BATCH
            problem = standing.look.problem
            parts = draw_anew(self.sampler, problem, sizes, (index, batch), against=self.task.against)
            if betting.answered and all(part.silent for part in parts):
                raise SubjectError(f"in a fresh process {parts[0].silent}")
            self.learners += len(parts)
            low, high = (np.array([float(getattr(p, end).mean()) for p in parts]) for end in ("low", "high"))
            bets.add(low, high, beta=betting.beta)
            wealth = bets.log_now if betting.refuted else bets.log_wealth_for(betting.beta)
            if wealth >= betting.log_limit:
                return True
        return False


def learners_needed(p: float, beta: float, *, calls: int, log_limit: float, against: bool) -> int:
    """Return how many new learners very likely bring the wealth to its limit.

    A share `p` of the calls fails.

    Examples
    --------
    >>> learners_needed(1.0, 0.1, calls=24, log_limit=13.8, against=True)
    15
    """
    allowed = max(beta if against else 1.0 - beta, LEAST_BETA)
    gain = (p if against else 1.0 - p) / allowed - 1.0
    if gain <= 0:
        return _MOST + 1
    spread = p * (1.0 - p) / calls / allowed**2
    growth = float((np.log1p(GRID * gain) - spread * (GRID / (1.0 + GRID * gain)) ** 2 / 2.0).max())
    if growth <= 0:
        return _MOST + 1
    return min(_MOST + 1, math.ceil(_MARGIN * (log_limit + math.log(len(GRID))) / growth) + 4)


_FRESH: Final = "give `fresh=`, a function without arguments that makes a new learner for every run"
_KEEPS: Final = "the learner keeps state, or uses randomness other than its generator"
_UNCONFIRMED: Final = (
    f"{_KEEPS}: {{:,}} new learners, each in a fresh process, did not confirm the runs of one learner; "
    f"to audit each run separately, {_FRESH}"
)
_TOO_MANY: Final = (
    f"{_KEEPS}: confirming the runs of one learner on new learners takes {{}} fresh processes; {_FRESH}"
)
_TIME: Final = f"{_KEEPS}, and {{}} before new learners confirmed the runs of one learner; {_FRESH}"
_UNTOLD: Final = (
    f"{_KEEPS}, and it cannot be made anew in a fresh process to check whether new learners fail as often "
    f"({{}}); {_FRESH}, or pass a function that can be imported"
)
#: The assumptions for each reason why runs are independent trials. The key "" means that there is no reason.
ASSUMED: Final = {
    "": [Says.EACH_CALL],
    "stateless": [Says.STATELESS, Says.IMPORTED],
    "cached": [Says.CACHED],
    "renewed": [Says.FIRST_CALL, Says.RENEWED],
    "fresh": [Says.NEW_CALLS, Says.FRESH],
    "unchecked": [Says.EACH_CALL, Says.UNCHECKED],
}
