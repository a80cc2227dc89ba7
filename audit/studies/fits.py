"""How the least sample size grows over a study's axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from audit.distributions.law import Floats
from audit.studies.cells import Cell

Form = Literal["line", "power law", "exponential"]
#: The confidence of the interval of a slope. A larger one gives wider intervals.
CONFIDENCE = 0.95
#: A fit is exact if its residuals are below this share of the values. An exact fit has no slope interval and
#: no test.
_EXACT = 1e-9


@dataclass(frozen=True)
class Growth:
    """A curve fitted to the middles of the brackets by least squares.

    Parameters
    ----------
    form
        m = intercept + slope·x for a line; ln m = intercept + slope·ln x for a power law; ln m = intercept +
        slope·x for an exponential.
    intercept, slope
        The coefficients of the curve.
    low, high
        The interval of the slope at `CONFIDENCE`, assuming normal errors of equal variance; None for two
        brackets.
    curvature
        The p-value of Ramsey's RESET test of this form; small if the form does not fit. None for two or three
        brackets, or if the curve passes through every middle.
    missed
        The number of brackets that the curve does not pass through.
    error
        The root mean square of ln(fitted/middle); infinite if a fitted value is not positive.
    """

    form: Form
    intercept: float
    slope: float
    low: float | None
    high: float | None
    curvature: float | None
    missed: int
    error: float


@dataclass(frozen=True)
class Fit:
    """How the least m grows along the axis of a study.

    Parameters
    ----------
    curves
        The fitted curves; the one with the smallest `error` comes first. A power law is fitted only if all
        places on the axis are positive.
    least, most
        Bounds on the mean slope of m between the two ends of the axis. All bounds follow from the brackets.
    ratio_least, ratio_most
        Bounds on the ratio of the least m at the last value to that at the first value.
    rate_least, rate_most
        Bounds on the mean slope of ln m between the two ends of the axis.

    Examples
    --------
    >>> from audit.studies.cells import Cell, Step
    >>> first = Cell(1.0, 1.0, None, (Step(9, "refuted"), Step(10, "met")))
    >>> found = fit([first, Cell(4.0, 4.0, None, (Step(36, "refuted"), Step(40, "met")))])
    >>> round(found.least, 2), round(found.most, 2)
    (9.0, 10.0)
    """

    curves: tuple[Growth, ...]
    least: float
    most: float
    ratio_least: float
    ratio_most: float
    rate_least: float
    rate_most: float


def fit(cells: Sequence[Cell]) -> Fit | None:
    """Return the growth of the least m over the cells.

    None if the claim was met at fewer than two places.

    Guarantee
    ---------
    Suppose that every bracket contains its least m (`StudyResult.statement`). Then three statements hold
    between the first and the last place. The mean slope of the least m lies in [least, most]. The mean slope
    of its logarithm lies in [rate_least, rate_most]. The ratio of the least m at these two places lies in
    [ratio_least, ratio_most].
    """
    known = [cell for cell in cells if cell.middle is not None]
    if len(known) < 2 or known[0].place == known[-1].place:
        return None
    forms: tuple[Form, ...] = ("line", "exponential", "power law")
    if min(cell.place for cell in known) <= 0:
        forms = ("line", "exponential")
    first, last = known[0], known[-1]
    width = last.place - first.place
    ratio_least, ratio_most = (last.low + 1) / _met(first), _met(last) / (first.low + 1)
    return Fit(
        curves=tuple(sorted((_grown(form, known) for form in forms), key=lambda curve: curve.error)),
        least=(last.low + 1 - _met(first)) / width,
        most=(_met(last) - first.low - 1) / width,
        ratio_least=ratio_least,
        ratio_most=ratio_most,
        rate_least=math.log(ratio_least) / width,
        rate_most=math.log(ratio_most) / width,
    )


def _met(cell: Cell) -> int:
    assert cell.met is not None  # only cells where the claim was met are fitted
    return cell.met


def _grown(form: Form, cells: list[Cell]) -> Growth:
    """Return a curve of this form, fitted to the middles of the brackets."""
    from statsmodels.regression.linear_model import OLS  # type: ignore[import-untyped]  # a second to load

    places = np.array([cell.place for cell in cells])
    middles = np.array([cell.middle or 1.0 for cell in cells])
    x = np.log(places) if form == "power law" else places
    y = middles if form == "line" else np.log(middles)
    fitted = OLS(y, np.column_stack([np.ones(len(x)), x])).fit()
    intercept, slope = map(float, fitted.params)
    scale = _EXACT * float(np.abs(y).max())
    exact = bool(np.abs(fitted.resid).max() <= scale)
    if abs(slope) * np.ptp(x) <= scale:
        intercept, slope = float(y.mean()), 0.0
    low = high = None
    if exact and len(x) > 2:
        low = high = slope
    elif len(x) > 2:
        low, high = map(float, fitted.conf_int(1 - CONFIDENCE)[1])
    m = fitted.fittedvalues if form == "line" else np.exp(fitted.fittedvalues)
    error = math.inf if m.min() <= 0 else float(np.sqrt(np.mean(np.log(m / middles) ** 2)))
    missed = sum(not cell.low < value <= _met(cell) for cell, value in zip(cells, m, strict=True))
    return Growth(
        form=form,
        intercept=intercept,
        slope=slope,
        low=low,
        high=high,
        curvature=None if exact or len(x) < 4 else _curvature(x, y),
        missed=missed,
        error=0.0 if exact else error,
    )


def _curvature(x: Floats, y: Floats) -> float:
    """Return the p-value of Ramsey's RESET test. The units are standardised, so that no digits are lost."""
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.diagnostic import linear_reset  # type: ignore[import-untyped]

    x, y = ((each - each.mean()) / each.std() for each in (x, y))
    fitted = OLS(y, np.column_stack([np.ones(len(x)), x])).fit()
    return float(linear_reset(fitted, power=2, use_f=True).pvalue)
