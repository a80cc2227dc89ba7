"""The result of a search for the least m at one value of a study's parameter.

It holds the steps of the search and the bracket found.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from audit.errors import InvalidValue, check_word, finite_number, positive_int, probability

StepVerdict = Literal["refuted", "met", "open"]
How = Literal["runs", "exact", "refused"]
_FARTHEST = 1e100  # the largest place or bound on an axis, as fitting a line squares the places
_CLOSED = "the problem of the closed form"


@dataclass(frozen=True)
class Step:
    """One audit of a cell, with its verdict at this m.

    Parameters
    ----------
    size
        The number m of records.
    verdict
        ``"refuted"``: the failure probability on some problem is above beta. ``"met"``: it is at most beta on
        every problem. If a closed form decides, this is shown for the problem of that form only. ``"open"``:
        neither was shown.
    low, high
        Bounds on the failure probability on the worst problem.
    runs
        The number of runs drawn.
    how
        How this was found. ``"runs"``: by an audit at its share of the significance; ``"exact"``: by a law or
        closed form; ``"refused"``: the learner takes no database of so few records.
    family
        A text that names the problems searched. It is empty if a closed form decided and no other problem was
        searched. If an exact step has a family, the claim is met on the closed form's problem. An audit of
        the family then refuted it on no other problem. `high` is the bound of that audit.
    worst
        The problem of the family on which the learner failed most.

    Raises
    ------
    InvalidValue, InvalidKind
        `size` is below 1, or `runs` is below 0. A number needs more than 63 bits. Or 0 ≤ low ≤ high ≤ 1 does
        not hold.

    Examples
    --------
    >>> Step(10, "refuted", low=0.3, high=0.5, runs=40).how
    'runs'
    """

    size: int
    verdict: StepVerdict
    _: KW_ONLY
    low: float = 0.0
    high: float = 1.0
    runs: int = 0
    how: How = "runs"
    family: str = ""
    worst: str = ""

    def __post_init__(self) -> None:
        check_word(self.verdict, StepVerdict, what="The `verdict` of a `Step`")
        check_word(self.how, How, what="The `how` of a `Step`")
        positive_int(self.size, what="The size of a `Step`")
        positive_int(self.runs, what="The runs of a `Step`", minimum=0)
        low = probability(self.low, what="The low of a `Step`")
        high = probability(self.high, what="The high of a `Step`")
        if low > high:
            raise InvalidValue(f"The low of a `Step` must be at most its high; got {low:g} and {high:g}.")


@dataclass(frozen=True)
class Cell:
    """The bracket of the least m for one learner at one value of the parameter.

    Parameters
    ----------
    value
        The value of the parameter.
    place
        The place of that value on the axis.
    bound
        The sample size that a theorem states, or None.
    steps
        The audits, in order.

    Raises
    ------
    InvalidValue, InvalidKind
        `value` or `place` is not finite. Or `bound` is negative or not finite. Or the claim is met at some m
        and refuted at the same or a larger m.

    Examples
    --------
    >>> cell = Cell(4.0, 4.0, 100.0, (Step(8, "refuted"), Step(32, "met"), Step(16, "open")))
    >>> cell.refuted, cell.met, cell.middle
    (8, 32, 16.0)
    """

    value: float
    place: float
    bound: float | None
    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        finite_number(self.value, what="The value of a `Cell`")
        finite_number(self.place, what="The place of a `Cell`", minimum=-_FARTHEST, maximum=_FARTHEST)
        if isinstance(self.bound, float | int):
            finite_number(self.bound, what="The bound of a `Cell`", minimum=0.0, maximum=_FARTHEST)
        if self.met is not None and self.met <= self.low:
            raise InvalidValue(
                f"The `met` of a `Cell` must be above its `refuted`; got {self.met} and {self.low}."
            )

    @property
    def refuted(self) -> int | None:
        """The largest m at which the claim was refuted, or None."""
        return max((step.size for step in self.steps if step.verdict == "refuted"), default=None)

    @property
    def met(self) -> int | None:
        """The least m at which the claim was met, or None."""
        return min((step.size for step in self.steps if step.verdict == "met"), default=None)

    @property
    def _met_by(self) -> Step | None:
        """The step at size `met`."""
        return next((step for step in self.steps if step.verdict == "met" and step.size == self.met), None)

    @property
    def low(self) -> int:
        """The largest m at which the claim was refuted; 0 if it was never refuted."""
        return self.refuted or 0

    @property
    def refutes_bound(self) -> bool:
        """Whether the claim was refuted at an m that is at least the bound.

        Examples
        --------
        >>> steps = (Step(128, "refuted"), Step(197, "met"))
        >>> [Cell(4.0, 4.0, bound, steps).refutes_bound for bound in (50.0, 128.0, 129.0, None)]
        [True, True, False, False]
        """
        return self.bound is not None and self.low >= max(1.0, self.bound)

    @property
    def how_met(self) -> str:
        """A text in brackets if a closed form decided at `met`.

        The text is empty if audits or laws decided on all problems.

        Examples
        --------
        >>> step = Step(8, "met", how="exact", low=0.1, high=0.2, family="the 3 given problems")
        >>> Cell(4.0, 4.0, None, (step,)).how_met
        '(closed form; others not refuted)'
        """
        step = self._met_by
        if step is None or step.how != "exact":
            return ""
        if not step.family:
            return "(closed form)"
        return "" if step.low == step.high else "(closed form; others not refuted)"

    @property
    def middle(self) -> float | None:
        """The geometric mean of the bracket's ends; None if no size met the claim.

        An end of 0 counts as 1.
        """
        return None if self.met is None else math.sqrt(max(1, self.low) * self.met)

    @property
    def family(self) -> str:
        """A text that names the problems on which the claim is met at `met`.

        If the claim was never met, these are the problems of the last step that names any. A closed form
        decides only on its own problem. The text then says that the claim was not refuted on the other
        problems. It states an upper bound on their failure probability.

        Examples
        --------
        >>> step = Step(8, "met", family="the 3 given problems", worst="all equal")
        >>> Cell(4.0, 4.0, None, (step,)).family
        'the 3 given problems; worst: all equal'
        >>> step = Step(8, "met", how="exact", low=0.1, high=0.2, family="the 3 given problems")
        >>> Cell(4.0, 4.0, None, (step,)).family
        'the problem of the closed form; not refuted (failure ≤ 0.2) on the 3 given problems'
        """
        step = self._met_by or next((each for each in reversed(self.steps) if each.family), None)
        if step is not None and step.family:
            return _searched(step) + (f"; worst: {step.worst}" if step.worst else "")
        return _CLOSED if any(step.how == "exact" for step in self.steps) else ""

    @property
    def runs(self) -> int:
        """The number of runs drawn in all steps."""
        return sum(step.runs for step in self.steps)


def _searched(step: Step) -> str:
    """Return a text on what a step showed on the problems of its family."""
    decided = step.low == step.high  # laws decided every problem of the family
    if step.how != "exact" or step.verdict != "met" or decided:
        return step.family
    return f"{_CLOSED}; not refuted (failure ≤ {step.high:.3g}) on {step.family}"
