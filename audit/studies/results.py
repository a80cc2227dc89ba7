"""What a study found: brackets of the least m, and how they grow."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal, get_args

from audit.errors import InvalidValue, NoTruth, finite_number, positive_int, probability

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cell", "CurveResult", "Fit", "Step", "StudyResult", "fit"]

StepVerdict = Literal["refuted", "met", "open"]
How = Literal["runs", "exact", "refused"]
_FARTHEST = 1e100  # on an axis: a line is fitted by the squares of places
_CLOSED = "the problem of the closed form"


@dataclass(frozen=True)
class Step:
    """One audit of a cell: at this m the claim is refuted, or met, or that is open.

    Parameters
    ----------
    size
        m.
    verdict
        ``"refuted"``: the failure probability on some problem is above beta; ``"met"``: it is at most beta on
        every one, or, where a closed form decides, on its own; ``"open"``: neither was shown.
    low, high
        Bounds on the failure probability of the worst problem.
    runs
        Runs drawn.
    how
        ``"runs"``: an audit at its share of the significance; ``"exact"``; or ``"refused"``: the learner
        takes no database of so few records.
    family
        The problems that were looked at, in words; empty where a closed form told the failure probability on
        its own problem and no other was looked at. An exact step with a family is met on the closed form's
        problem, and an audit of the family refuted the claim on none; `high` is then the audit's bound.
    worst
        The problem of the family that failed most.

    Raises
    ------
    InvalidValue, InvalidKind
        `size` is below 1, `runs` below 0, either beyond 63 bits, or not 0 ≤ low ≤ high ≤ 1; one line.

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
        if self.verdict not in get_args(StepVerdict) or self.how not in get_args(How):
            raise InvalidValue(f"A `Step` is no {self.verdict!r:.40} by {self.how!r:.40}.")
        positive_int(self.size, what="The size of a `Step`")
        positive_int(self.runs, what="The runs of a `Step`", minimum=0)
        if max(self.size, self.runs) >= 2**63:
            raise InvalidValue("The size and the runs of a `Step` must be below 2^63.")
        low = probability(self.low, what="The low of a `Step`")
        high = probability(self.high, what="The high of a `Step`")
        if low > high:
            raise InvalidValue(f"The low of a `Step` must be at most its high; got {low:g} and {high:g}.")


@dataclass(frozen=True)
class Cell:
    """The least m of one learner at one value of the parameter.

    Parameters
    ----------
    value
        The parameter.
    place
        Where that lies on the axis.
    bound
        The theorem's sample size; None where there is none.
    steps
        The audits, in their order.

    Raises
    ------
    InvalidValue, InvalidKind
        `value` or `place` is not finite, `bound` is NaN, or an m is met at or below one refuted; one line.

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
        if isinstance(self.bound, float) and math.isnan(self.bound):
            raise InvalidValue("The bound of a `Cell` must be a number; got nan.")
        if self.met is not None and self.met <= self.low:
            raise InvalidValue(
                f"A `Cell` must be met above where it is refuted; got {self.met} and {self.low}."
            )

    @property
    def refuted(self) -> int | None:
        """The largest m at which the claim is refuted; None if it was at none."""
        return max((step.size for step in self.steps if step.verdict == "refuted"), default=None)

    @property
    def met(self) -> int | None:
        """The least m at which it is met; None if it was at none."""
        return min((step.size for step in self.steps if step.verdict == "met"), default=None)

    @property
    def low(self) -> int:
        """The largest m refuted, 0 if none."""
        return self.refuted or 0

    @property
    def refutes_bound(self) -> bool:
        """Whether the claim is refuted at an m that the bound allows.

        Examples
        --------
        >>> steps = (Step(128, "refuted"), Step(197, "met"))
        >>> [Cell(4.0, 4.0, bound, steps).refutes_bound for bound in (50.0, 128.0, 129.0, None)]
        [True, True, False, False]
        """
        return self.bound is not None and self.low >= max(1.0, self.bound)

    @property
    def how_met(self) -> str:
        """What a closed form alone says of `met`, in brackets; empty where every problem was met.

        Examples
        --------
        >>> step = Step(8, "met", how="exact", low=0.1, high=0.2, family="the 3 given problems")
        >>> Cell(4.0, 4.0, None, (step,)).how_met
        '(closed form; others not refuted)'
        """
        told = [each for each in self.steps if each.verdict == "met" and each.size == self.met]
        step = next((each for each in told if each.family), told[0] if told else None)
        if step is None or step.how != "exact":
            return ""
        if not step.family:
            return "(closed form)"
        return "" if step.low == step.high else "(closed form; others not refuted)"

    @property
    def middle(self) -> float | None:
        """The geometric middle of the bracket, of m ≥ 1; None where the claim was never met."""
        return None if self.met is None else math.sqrt(max(1, self.low) * self.met)

    @property
    def family(self) -> str:
        """The problems on which the claim is met at `met`, or on which it was tried last, in words.

        Where a closed form decides it is met on that one's problem. Of the others that were searched there
        it is said that none refuted it, and what the failure probability is at most: not that it is met.

        Examples
        --------
        >>> step = Step(8, "met", family="the 3 given problems", worst="all equal")
        >>> Cell(4.0, 4.0, None, (step,)).family
        'the 3 given problems; worst: all equal'
        >>> step = Step(8, "met", how="exact", low=0.1, high=0.2, family="the 3 given problems")
        >>> Cell(4.0, 4.0, None, (step,)).family
        'the problem of the closed form; not refuted (failure ≤ 0.2) on the 3 given problems'
        """
        at_met = [step for step in self.steps if step.verdict == "met" and step.size == self.met]
        for step in [*at_met, *reversed(self.steps)][: 1 if at_met else None]:
            if step.family:
                return _searched(step) + (f"; worst: {step.worst}" if step.worst else "")
        return _CLOSED if any(step.how == "exact" for step in self.steps) else ""

    @property
    def runs(self) -> int:
        """All runs drawn."""
        return sum(step.runs for step in self.steps)


def _searched(step: Step) -> str:
    """Say of the problems of a step's family what was shown on them."""
    decided = step.low == step.high  # by laws, on every problem of the family
    if step.how != "exact" or step.verdict != "met" or decided:
        return step.family
    return f"{_CLOSED}; not refuted (failure ≤ {step.high:.3g}) on {step.family}"


@dataclass(frozen=True)
class Fit:
    """How the least m grows over the axis.

    Parameters
    ----------
    intercept, slope
        Of the least-squares line through the middles.
    exponent
        Of the least-squares power law through them; None where a place is not positive.
    least, most
        What the mean slope between the two ends is at least and at most, by the brackets alone.
    ratio_least, ratio_most
        The same of the least m at the last value divided by that at the first.
    log_intercept, rate
        Of the least-squares line through the middles' natural logarithms, for what is exponential.
    rate_least, rate_most
        What the mean slope of ln m between the two ends is at least and at most, by the brackets alone.

    Examples
    --------
    >>> first = Cell(1.0, 1.0, None, (Step(9, "refuted"), Step(10, "met")))
    >>> found = fit([first, Cell(4.0, 4.0, None, (Step(36, "refuted"), Step(40, "met")))])
    >>> round(found.slope, 2), round(found.least, 2), round(found.most, 2), found.grows
    (9.49, 9.0, 10.0, True)
    """

    intercept: float
    slope: float
    exponent: float | None
    least: float
    most: float
    ratio_least: float
    ratio_most: float
    log_intercept: float
    rate: float
    rate_least: float
    rate_most: float

    @property
    def grows(self) -> bool:
        """Whether the least m at the last value is above that at the first, by the brackets alone."""
        return self.least > 0


def fit(cells: Sequence[Cell]) -> Fit | None:
    """Return how the least m grows over the cells; None unless two or more were met, at places that differ.

    Guarantee
    ---------
    If every bracket holds its least m (`StudyResult.statement`), the mean slope between the first and the
    last place lies in [least, most], the ratio of the two in [ratio_least, ratio_most], and the mean slope of
    ln m in [rate_least, rate_most].
    """
    known = [cell for cell in cells if cell.middle is not None]
    if len(known) < 2 or known[0].place == known[-1].place:
        return None
    places = [cell.place for cell in known]
    middles = [cell.middle or 1.0 for cell in known]
    intercept, slope = _line(places, middles)
    logs, exponent = [math.log(m) for m in middles], None
    if min(places) > 0:
        exponent = _line([math.log(x) for x in places], logs)[1]
    log_intercept, rate = _line(places, logs)
    first, last = known[0], known[-1]
    width = last.place - first.place
    ratio_least, ratio_most = (last.low + 1) / _met(first), _met(last) / (first.low + 1)
    return Fit(
        intercept,
        slope,
        exponent,
        least=(last.low + 1 - _met(first)) / width,
        most=(_met(last) - first.low - 1) / width,
        ratio_least=ratio_least,
        ratio_most=ratio_most,
        log_intercept=log_intercept,
        rate=rate,
        rate_least=math.log(ratio_least) / width,
        rate_most=math.log(ratio_most) / width,
    )


def _met(cell: Cell) -> int:
    assert cell.met is not None  # only such cells are fitted
    return cell.met


def _line(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Return intercept and slope of the least-squares line."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - mean_x) ** 2 for a in x)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / spread
    return mean_y - slope * mean_x, slope


@dataclass(frozen=True)
class CurveResult:
    """What was found of one learner; fields as in `audit.studies.Curve`."""

    name: str
    source: str
    expected: str
    cells: tuple[Cell, ...]
    shape: str = ""

    @property
    def fit(self) -> Fit | None:
        """How it grows."""
        return fit(self.cells)

    @property
    def found(self) -> str:
        """What the brackets at the two ends show; empty where they show nothing."""
        growth = self.fit
        if growth is None or any(cell.met is None for cell in (self.cells[0], self.cells[-1])):
            return ""
        return "grows" if growth.grows else "no growth shown"

    @property
    def unexpected(self) -> bool:
        """Whether that is not what the texts say.

        Examples
        --------
        >>> cells = tuple(Cell(x, x, None, (Step(9 * int(x), "met"),)) for x in (1.0, 4.0))
        >>> CurveResult("flat", "", "grows", cells).found
        'no growth shown'
        >>> CurveResult("flat", "", "grows", cells).unexpected
        True
        """
        return bool(self.expected and self.found) and (self.expected == "grows") != (self.found == "grows")


@dataclass(frozen=True)
class StudyResult(NoTruth):
    """What a study found: its own words and numbers, and its curves.

    Parameters
    ----------
    name, summary, parameter, axis, fixed, source, resolution
        As in `audit.studies.Study`.
    claim
        The claim in words, and its `alpha` and `beta`.
    significance
        Bounds the probability that any verdict of the study is wrong.
    audits
        How many verdicts share it at most.
    seed
        Root of everything random.
    values
        The values that were asked for in place of the study's own; empty for its own.
    target
        What the command line calls it, if not its name.
    curves
        The learners; those whose cells were interrupted have fewer.

    Examples
    --------
    >>> StudyResult("demo", "All.", "PAC(0.1, 0.1)", curves=()).planned
    0
    """

    _instead = "the cells and `unexpected` of each of `study.curves`"

    name: str
    summary: str
    claim: str
    _: KW_ONLY
    alpha: float = 0.0
    beta: float = 0.0
    parameter: str = ""
    axis: str = ""
    fixed: str = ""
    source: str = ""
    resolution: float = 1.1
    significance: float = 1e-3
    audits: int = 0
    seed: int = 0
    planned: int = 0
    values: tuple[float, ...] = ()
    target: str = ""
    curves: tuple[CurveResult, ...]

    @property
    def finished(self) -> int:
        """How many cells are here; `planned` are to be."""
        return sum(len(curve.cells) for curve in self.curves)

    @property
    def statement(self) -> str:
        """What the brackets say, and with what probability one of them is wrong."""
        return (
            f"Each bracket (r, m] says: at r records the learner fails with probability above {self.beta:g} "
            f"on one of the problems, at m with probability at most {self.beta:g} on every one of them, or, "
            "where a closed form decides, on its own problem (not refuted on the others: the last column "
            "bounds how often it fails there). If failing gets no likelier with more records, the least m "
            "lies in it. Verdicts by runs share a "
            f"significance of {self.significance:g} equally, {self.audits} at most: all that is said here "
            f"is right with probability at least {1 - self.significance:g}. What is exact takes none of it. "
            "Where a closed form tells the failure probability on one problem, others were searched at the "
            "least m that it allows: the bracket is its own where no other problem refuted the claim there, "
            "and goes on by runs where one did. Problems that were not looked at may be harder."
        )
