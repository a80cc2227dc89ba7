"""How the least sample size grows over a study's axis: lines through middles, and what brackets allow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.studies.cells import Cell

__all__ = ["Fit", "fit"]


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
    >>> from audit.studies.cells import Cell, Step
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
