"""The search for problems to bet on.

It tries the problems of the family's library, random problems, and variants of the worst problems. No verdict
rests on its runs.
"""

import contextlib
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Any, Final

import numpy as np

from audit.errors import blamed
from audit.problems import check_problem
from audit.sampling import EXPLORE, Sampler, TimeIsOver
from audit.utility.families import Family
from audit.utility.runs import Trials, draw_trials, score
from audit.utility.task import UtilityTask

#: The number of pairs of runs with which the search tries a problem. More pairs give better estimates of
#: fewer problems.
LOOK: Final = 8
#: The number of pairs of runs on a problem before any run has answered. It is small, because the learner may
#: hang.
UNANSWERED: Final = 3
#: The share of the budget that the search may use. The rest is for bets.
SHARE: Final = 0.1
RANDOM: Final = 4
PARENTS: Final = 2
CHILDREN: Final = 2
ROUNDS: Final = 20
PATIENCE: Final = 3
#: The number of problems outside the family's library that are bet on.
FOUND: Final = 3


@dataclass(frozen=True, eq=False)
class Look:
    """A problem, and a few trials that show how bad it is. `trials` is None if no trials were drawn."""

    problem: Any
    name: str
    trials: Trials | None = None
    score: float = 0.0


@dataclass(eq=False)
class Search:
    """Draws a few runs on each problem to find the worst problems. The bets never use these runs.

    Parameters
    ----------
    task
        The audit.
    sampler
        Draws the runs.
    """

    task: UtilityTask
    sampler: Sampler
    looks: list[Look] = field(default_factory=list)

    def run(self) -> list[Look]:
        """Return the problems to bet on, worst first.

        These are all problems of the library, and the worst others found.
        """
        family, budget = self.task.family, self.task.options.budget
        library = family.library
        no_choice = family.finite and len(library) == 1
        rng = self.task.search_rng()
        most = int(SHARE * budget)
        pairs = max(1, min(LOOK, most // (2 * len(library))))
        for problem in library:
            if no_choice or self._over(budget // 2):
                self.looks.append(Look(problem, problem.name))
            else:
                self._look(problem, pairs)
        found = len(self.looks)
        for _ in range(RANDOM if family.random is not None else 0):
            if self._over(most):
                break
            self._look(proposed(family, "random", rng), pairs)
        if family.vary is not None:
            self._climb(rng, pairs, most)
        worst = sorted(self.looks[found:], key=lambda look: -look.score)[:FOUND]
        return sorted([*self.looks[:found], *worst], key=lambda look: -look.score)

    def _climb(self, rng: np.random.Generator, pairs: int, most: int) -> None:
        """Vary the worst problems. Stop after `PATIENCE` rounds in a row that find nothing worse."""
        idle = 0
        for _ in range(ROUNDS):
            parents = sorted(self.looks, key=lambda look: -look.score)[:PARENTS]
            for parent in parents:
                for _ in range(CHILDREN):
                    if self._over(most):
                        return
                    self._look(proposed(self.task.family, "vary", parent.problem, rng), pairs)
            idle = 0 if max(look.score for look in self.looks) > parents[0].score else idle + 1
            if idle == PATIENCE:
                return

    def _look(self, problem: Any, pairs: int) -> None:
        answered = any(look.trials is not None and not look.trials.silent for look in self.looks)
        pairs = pairs if answered else min(pairs, UNANSWERED)
        look = Look(problem, self._named(problem.name))
        with contextlib.suppress(TimeIsOver):
            trials = draw_trials(self.sampler, problem, pairs, (EXPLORE, len(self.looks)))
            look = replace(look, trials=trials, score=score(trials, self.task.claim.alpha))
        self.looks.append(look)

    def _named(self, name: str) -> str:
        """Return a name that no earlier problem has."""
        taken = {look.name for look in self.looks}
        tries = chain([name], (f"{name} ({k})" for k in count(2)))
        return next(each for each in tries if each not in taken)

    def _over(self, most: int) -> bool:
        return self.task.is_late() or self.sampler.drawn >= most


def proposed(family: Family, way: str, *arguments: Any) -> Any:
    """Return the problem that a function of the family proposes.

    `way` is the name of the function: "random" or "vary".

    Raises
    ------
    SubjectError, InvalidKind
        The function fails, or its proposal is not a problem.
    """
    with blamed(f"`{way}` of the problems failed"):
        problem = getattr(family, way)(*arguments)
    return check_problem(problem)
