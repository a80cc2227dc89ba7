"""The page of studies: escaped, self-contained, with the curve, the slope, the numbers and the error."""

import math
import re

import pytest

from audit.saved_studies import to_json
from audit.study_results import Cell, CurveResult, Step, StudyResult
from reports.chart import chart
from reports.html import render


def cell(x, low, high, bound=None):
    return Cell(x, x, bound, (Step(low, "refuted"), Step(high, "met", runs=50)))


def result(*curves, **options):
    told = {"name": "demo", "summary": "All.", "claim": "PAC(0.1, 0.1)", "axis": "d", "parameter": "d"}
    return StudyResult(**{**told, "beta": 0.1, "audits": 12, **options}, curves=curves)


GROWS = CurveResult("line", "Thm 1", "grows", (cell(1.0, 9, 10, 40.0), cell(10.0, 95, 100, 400.0)))
FLAT = CurveResult("flat", "", "does not grow", (cell(1.0, 9, 12), cell(10.0, 10, 11)))


def test_what_is_not_ours_is_escaped():
    foreign = "<script>alert(1)</script>\u202e"
    curve = CurveResult(foreign, foreign, "", GROWS.cells)
    told = dict.fromkeys(("name", "summary", "claim", "axis", "parameter", "fixed", "source"), foreign)
    page = render(None, studies=[to_json(result(curve, **told))])
    assert "<script>alert" not in page
    assert "\u202e" not in page
    assert page.count("<script>") == 1
    assert "http" not in page.replace("http-equiv", "")


def test_the_page_has_slope_numbers_and_error():
    page = render(None, studies=[to_json(result(GROWS, FLAT, planned=5))])
    assert "from 9.56 to 10 records a unit of d" in page  # (96 − 10)/9 is 9.56; (100 − 10)/9 is 10
    assert "no growth shown" in page
    assert "significance of 0.001" in page
    assert "1 of 5 least sizes are missing" in page
    assert "dp-audit study demo --seed 0" in page


def test_places_and_sizes_lie_where_their_logarithms_say():
    drawn = chart(result(GROWS, FLAT))
    first, last = drawn.series[0].marks
    ticks = {tick.label: tick.at for tick in drawn.up}
    decade = (ticks["10"] - ticks["100"]) / 1.0
    assert last.high == pytest.approx(ticks["100"], abs=0.02)
    assert first.high - first.low == pytest.approx(decade * math.log10(9 / 10), abs=0.05)
    ends = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", drawn.series[0].bound)]
    assert ends[0] - ends[1] == pytest.approx(decade, abs=0.05)


def test_a_study_without_a_bracket_has_no_picture():
    assert chart(result(CurveResult("none", "", "", ()))) is None
    assert "Fewer than two" in render(None, studies=[to_json(result(CurveResult("none", "", "", ())))])
