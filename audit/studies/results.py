"""The result of a study."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass

from audit.errors import NoTruth, finite_number, probability
from audit.studies.cells import Cell  # noqa: TC001 - its fields are read from files by their annotations
from audit.studies.fits import Fit, Growth, fit


@dataclass(frozen=True)
class CurveResult:
    """The result for one learner. The fields are as in `audit.studies.Curve`."""

    name: str
    source: str
    expected: str
    cells: tuple[Cell, ...]
    shape: str = ""

    @property
    def fit(self) -> Fit | None:
        """The growth of the least m; None if there are too few cells."""
        return fit(self.cells)

    @property
    def shown(self) -> list[Growth]:
        """The fitted curves to report, the better fit first.

        Each is positive at every cell. If the bound is exponential, an exponential is reported instead of a
        line.
        """
        forms = ("exponential" if self.shape == "exponential" else "line", "power law")
        curves = () if self.fit is None else self.fit.curves
        return [each for each in curves if each.form in forms and math.isfinite(each.error)]

    @property
    def found(self) -> str:
        """What the brackets at both ends of the axis show.

        "grows": some m met the claim at the first value. At the last value the same or a larger m was
        refuted. "no growth shown": this is not so, although some m met the claim at the last value. Empty:
        the ends show nothing.
        """
        if len(self.cells) < 2 or self.cells[0].place == self.cells[-1].place:
            return ""
        first, last = self.cells[0], self.cells[-1]
        if first.met is None:
            return ""
        if last.low >= first.met:
            return "grows"
        return "" if last.met is None else "no growth shown"

    @property
    def unexpected(self) -> bool:
        """Whether the growth that was found contradicts the expected growth.

        Examples
        --------
        >>> from audit.studies.cells import Step
        >>> cells = tuple(Cell(x, x, None, (Step(9 * int(x), "met"),)) for x in (1.0, 4.0))
        >>> CurveResult("flat", "", "grows", cells).found
        'no growth shown'
        >>> CurveResult("flat", "", "grows", cells).unexpected
        True
        """
        return bool(self.expected and self.found) and (self.expected == "grows") != (self.found == "grows")


@dataclass(frozen=True)
class StudyResult(NoTruth):
    """The result of a study.

    Parameters
    ----------
    name, summary, parameter, axis, fixed, source, resolution
        As in `audit.studies.Study`.
    claim
        The claim in words, and the `alpha` and `beta` of the claim.
    significance
        A bound on the probability that any verdict of the study is wrong.
    audits
        The largest number of verdicts, which share the significance.
    seed
        The root of all randomness.
    values
        The requested values of the parameter; empty for the study's own values.
    target
        The study's name on the command line, if it differs from `name`.
    curves
        The results for the learners; after an interruption some have fewer cells.

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

    def __post_init__(self) -> None:
        probability(self.significance, what="The `significance`", zero=False, one=False)
        probability(self.beta, what="The `beta`", one=False)
        finite_number(self.alpha, what="The `alpha`", minimum=0)

    @property
    def finished(self) -> int:
        """The number of finished cells."""
        return sum(len(curve.cells) for curve in self.curves)

    @property
    def statement(self) -> str:
        """A text on what the brackets mean. It bounds the chance that any bracket is wrong."""
        return (
            "A bracket (r, m] says two things. With r records the learner fails with probability above "
            f"{self.beta:g} on at least one problem. With m records it fails with probability at most "
            f"{self.beta:g} on every problem or, if a closed form decided, on that form's problem. "
            "If more records never make failure likelier, the least m lies in the bracket. "
            f"At most {self.audits} verdicts by runs share a significance of {self.significance:g} equally; "
            "exact verdicts use none of it. All statements here are right with probability at least "
            f"{1 - self.significance:g}. A closed form covers one problem. Others were searched at the least "
            "m at which the closed form meets the claim. If none of them refuted the claim there, the "
            "bracket is that of the closed form, and the last column bounds the failure probability on the "
            "others. If one did, the search went on with runs. Problems that were not tried may be harder."
        )
