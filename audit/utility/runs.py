"""Trials on problems, drawn by the sampler. A learner's fault is a failure. A problem's fault is an error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.errors import SubjectError
from audit.sampling import CONFIRM, Sampler
from audit.utility.experiment import Ask, Revealed, Trial
from audit.values.outcomes import Raised, Unfinished


@dataclass(frozen=True, eq=False)
class Trials:
    """Trials on one problem, in the order of their runs.

    Attributes
    ----------
    low, high : array
        Bounds on the failure of each trial, shape (trials,). For a finished trial they are equal. For an
        unfinished trial, `high` is 1. `low` is 1 if the trial counts as a failure, else 0.
    finished : tuple of Trial
        The finished trials, in order.
    unfinished : int
        The number of trials that did not finish.
    silent : str
        What happened if no trial gave an answer, else empty.
    """

    low: Floats
    high: Floats
    finished: tuple[Trial, ...] = ()
    unfinished: int = 0
    silent: str = ""


def draw_trials(
    sampler: Sampler, problem: Any, pairs: int, path: tuple[int, ...], *, against: bool = True
) -> Trials:
    """Return `2·pairs` trials on a problem.

    If `against` is true, unfinished trials count for neither side.

    Raises
    ------
    SubjectError
        The problem cannot draw, or cannot measure an output.
    """
    ask = Ask(problem)
    drawn = sampler.draw(ask, ask, pairs, path)
    outcomes = [each for runs in drawn for pair in zip(runs.left, runs.right, strict=True) for each in pair]
    return _read(problem, outcomes, against=against)


def draw_anew(
    sampler: Sampler, problem: Any, sizes: Sequence[int], place: tuple[int, ...], *, against: bool = True
) -> list[Trials]:
    """Return trials of new learners on a problem, one `Trials` for each learner.

    Each learner is made in a fresh process. For each n of `sizes`, a learner makes 2n trials.

    Raises
    ------
    SubjectError
        The problem cannot draw or measure, or the learner cannot be made anew.
    """
    ask = Ask(problem)
    parts = sampler.draw_anew(ask, ask, sizes, (CONFIRM, 1, *place), by_call=False)
    return [_read(problem, [*runs.left, *runs.right], against=against) for runs in parts]


def reveal(sampler: Sampler, problem: Any, seed: int) -> Any:
    """Repeat a trial, and return it as `Revealed`.

    If the trial does not finish, return its outcome.

    Raises
    ------
    SubjectError
        The problem cannot measure the output this time.
    """
    ask = Ask(problem, seed=seed, reveal=True)
    [runs] = sampler.draw(ask, ask, 1, (CONFIRM, 0))
    shown = runs.left[0]
    if isinstance(shown, Revealed) and shown.trial.trouble:
        raise SubjectError(f"The problem `{problem.name}` {shown.trial.trouble}")
    return shown


def _read(problem: Any, outcomes: list[Any], *, against: bool) -> Trials:
    trials = [outcome for outcome in outcomes if isinstance(outcome, Trial)]
    for trial in trials:
        if trial.trouble:
            raise SubjectError(f"The problem `{problem.name}` {trial.trouble}")
    broken = next((outcome for outcome in outcomes if isinstance(outcome, Raised)), None)
    if broken is not None:  # a trial catches all exceptions of learner and problem
        raise SubjectError(f"The problem `{problem.name}` ended its run: {broken}")
    lost = [outcome for outcome in outcomes if isinstance(outcome, Unfinished)]
    answered = any(not trial.raised for trial in trials)
    unfinished = f"no run finished: {lost[0].reason}" if lost else ""
    first = next((f"every run {trial.raised}" for trial in trials), unfinished)
    return Trials(
        low=_bounds(outcomes, 0.0 if against else 1.0),
        high=_bounds(outcomes, 1.0),
        finished=tuple(trials),
        unfinished=len(lost),
        silent="" if answered else first,
    )


def _bounds(outcomes: list[Any], unfinished: float) -> Floats:
    return np.array([each.failure if isinstance(each, Trial) else unfinished for each in outcomes])


def score(trials: Trials, alpha: float) -> float:
    """Return a score for how bad a problem looks.

    It is the share of failures + ½·mean(min(error/alpha, 1)).

    Examples
    --------
    >>> shown = (Trial(1.0, 0.3, seed=1), Trial(0.0, 0.1, seed=2))
    >>> score(Trials(np.array([1.0, 0.0]), np.array([1.0, 0.0]), shown), 0.2)
    0.875
    """
    if not len(trials.low):
        return -math.inf
    errors = np.array([trial.error for trial in trials.finished])
    near = np.minimum(errors / alpha, 1.0).mean() if alpha > 0 and len(errors) else 0.0
    return float(trials.low.mean() + 0.5 * near)
