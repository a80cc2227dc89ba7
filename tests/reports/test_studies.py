"""The page of studies."""

import math
import re
from xml.etree import ElementTree as ET

import pytest

from audit.studies.cells import Cell, Step
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import to_json
from reports.html import render
from reports.pictures.study import chart


def cell(x, low, high, bound=None):
    return Cell(x, x, bound, (Step(low, "refuted"), Step(high, "met", runs=50)))


def result(*curves, **options):
    told = {"name": "demo", "summary": "All.", "claim": "PAC(0.1, 0.1)", "axis": "d", "parameter": "d"}
    return StudyResult(**{**told, "beta": 0.1, "audits": 12, **options}, curves=curves)


GROWS = CurveResult("line", "Thm 1", "grows", (cell(1.0, 9, 10, 40.0), cell(10.0, 95, 100, 400.0)))
FLAT = CurveResult("flat", "", "does not grow", (cell(1.0, 9, 12), cell(10.0, 10, 11)))


def test_foreign_text_is_escaped():
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
    assert "of 9.56 to 10 records per unit of d" in page  # (96 − 10)/9 is 9.56; (100 − 10)/9 is 10
    assert "no growth shown" in page
    assert "significance of 0.001" in page
    assert "1 of 5 least sizes are missing" in page
    assert "dp-audit study demo --seed 0" in page
    own = render(None, studies=[to_json(result(GROWS, target="my mean.py:study"))])
    assert "dp-audit study &#39;my mean.py:study&#39; --seed 0" in own


def test_an_exponential_bound_has_a_line_through_the_logarithms():
    """The line goes through (1, ln √90) and (10, ln √9500).

    Its slope is (ln 9500 − ln 90)/18 = 0.259, its intercept 2.25 − 0.259.
    """
    curve = CurveResult("one round", "Thm 1", "grows", GROWS.cells, "exponential")
    page = render(None, studies=[to_json(result(curve))])
    fitted = "ln m ≈ 1.99 + 0.259·d (passes through 2 of 2 brackets); m ≈ 9.49·d<sup>1.01</sup>"
    assert f"the better fit first: {fitted}" in page
    assert "The bound is exponential in d, so a line is fitted to ln m" in page
    # (96/10)^(1/9) is 1.2857, (100/10)^(1/9) is 1.2915
    assert "multiply m by 1.29 to 1.29, as a geometric mean between the ends" in page
    assert "0.251 to 0.256 of ln m" in page  # ln 9.6/9 and ln 10/9
    assert "exponential" not in render(None, studies=[to_json(result(GROWS))])


def drawn(*curves, **options):
    return ET.fromstring(f"<svg>{chart(result(*curves, **options)).drawn}</svg>")


def paths(tree, kind):
    return [path.get("d") for path in tree.iter("path") if path.get("class") == kind]


def ticks(tree, anchor):
    return {t.text: float(t.get("y")) for t in tree.iter("text") if t.get("text-anchor") == anchor}


def test_both_axes_are_logarithmic():
    tree = drawn(GROWS, FLAT)
    up = {text: y - 4 for text, y in ticks(tree, "end").items()}
    decade = up["10"] - up["100"]
    whiskers = [re.match(r"M[\d.]+ ([\d.]+)V([\d.]+)", d) for d in paths(tree, "series refuted")]
    first, last = ([float(end) for end in w.groups()] for w in whiskers if w)
    assert last[1] == pytest.approx(up["100"], abs=0.11)
    assert first[0] - first[1] == pytest.approx(decade * math.log10(10 / 9), abs=0.11)
    (bound,) = paths(tree, "series refuted bound")
    ends = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", bound)]
    assert ends[0] - ends[1] == pytest.approx(decade, abs=0.11)


def test_brackets_at_the_same_value_do_not_overlap():
    tree = drawn(GROWS, CurveResult("twin", "", "", GROWS.cells))
    xs = [
        re.match(r"M([\d.]+) ", d)[1]
        for kind in ("refuted", "not-refuted")
        for d in paths(tree, f"series {kind} point")[:2]
    ]
    assert len({*xs}) == len(xs) == 4


def test_marks_from_a_closed_form_are_hollow():
    told = Cell(10.0, 10.0, None, (Step(95, "refuted", how="exact"), Step(100, "met", how="exact")))
    tree = drawn(CurveResult("mixed", "", "", (cell(1.0, 9, 10), told)))
    assert len(paths(tree, "series refuted point closed")) == 1
    assert "hollow: from a closed form" in "".join(tree.itertext())
    assert "hollow" not in "".join(drawn(GROWS).itertext())


def test_a_power_law_comes_first_and_a_negative_line_is_omitted():
    """The fitted line to m = 10·d^3.2 is negative at the first value of d."""
    sizes = ((d, round(10 * d**3.2)) for d in (4, 8, 16, 32))
    cells = tuple(cell(float(d), round(0.95 * m), m) for d, m in sizes)
    curve = CurveResult("two rounds", "", "grows", cells)
    assert [each.form for each in curve.shown] == ["power law"]
    page = render(None, studies=[to_json(result(curve))])
    assert re.search(r"m ≈ 9\.\d+·d<sup>3\.2</sup></bdi>", page)
    assert "m ≈ −" not in page


def test_the_table_has_the_fitted_line_and_the_slope_of_every_curve():
    """The line goes through (1, √90) and (10, √9500): slope 9.776, intercept −0.289.

    The exponent of the power law is log10 of the ratio of the two values.
    """
    page = render(None, studies=[to_json(result(GROWS, FLAT))])
    assert "m ≈ −0.289 + 9.78·d</bdi>" in page
    assert "m ≈ −0.289 + 9.78·d (passes through 2 of 2 brackets); m ≈ 9.49·d<sup>1.01</sup> (passes" in page
    assert "9.56 to 10</bdi>" in page
    assert "−0.111 to 0.111</bdi>" in page  # (11 − 12)/9 and (11 − 10)/9


def test_a_constant_curve_has_no_slope_and_a_single_ratio_is_shown_once():
    same = CurveResult("same", "", "does not grow", (cell(1.0, 239, 240, 480.0), cell(10.0, 239, 240, 480.0)))
    page = render(None, studies=[to_json(result(same))])
    assert "m ≈ 239</bdi>" in page  # √(239·240) = 239.4995
    assert "The bound is 2 times the least m that was met." in page


def test_large_sizes_are_labelled_with_powers_of_ten_and_stay_inside_the_axis():
    grown = CurveResult("large", "", "grows", (cell(1.0, 90, 100, 1e10), cell(10.0, 90_000_000, 10**8, 1e12)))
    labels = ticks(drawn(grown), "end")
    assert {"100", "10,000", "10⁶", "10⁸", "10¹⁰", "10¹²"} <= {*labels}
    page = render(None, studies=[to_json(result(grown))])
    assert "10,000,000 to 11,100,000</bdi>" in page  # (90,000,001 − 100)/9 and (100,000,000 − 91)/9


def test_the_legend_explains_dashed_lines_if_there_are_any():
    bounded, free = (render(None, studies=[to_json(result(curve))]) for curve in (GROWS, FLAT))
    assert "bound, in the colour of its curve" in bounded
    assert "bound, in" not in free


def test_missing_parts_of_a_study_are_not_mentioned():
    bare = render(None, studies=[to_json(result(FLAT))])
    full = render(None, studies=[to_json(result(FLAT, GROWS, source="Text Thm 1"))])
    for said in ("Dashed: the bounds", "Dashed: the sample size", "the theorem requires"):
        assert said not in bare
        assert said in full
    assert "PAC(0.1, 0.1)</bdi></p>" in bare
    assert "PAC(0.1, 0.1)</bdi>, <bdi>Text Thm 1</bdi></p>" in full


def test_a_study_without_a_bracket_has_no_picture():
    assert chart(result(CurveResult("none", "", "", ()))) is None
    assert "fewer than two" in render(None, studies=[to_json(result(CurveResult("none", "", "", ())))])


def test_a_refuted_bound_is_stated_in_words_and_numbers():
    """A refuted size of 128 refutes a bound of 50, a size of 12 a bound of 12.

    A bound is refuted if a size at least as large as the bound is refuted.
    """
    cells = (cell(1.0, 128, 197, 50.0), cell(2.0, 12, 13, 12.0), cell(10.0, 95, 100, 400.0))
    page = render(None, studies=[to_json(result(CurveResult("line", "Thm 1", "grows", cells)))])
    assert (
        "At d = 1 the bound of 50 is too small: with 128 records, at least as many as the bound, the claim "
        "was refuted."
    ) in page
    assert "At d = 2 the bound of 12 is too small" in page
    assert "At d = 10 the bound" not in page
    assert "50, refuted</td>" in page
    assert "bound refuted</span>" in page
    assert "bound refuted" not in render(None, studies=[to_json(result(GROWS))])


def test_a_size_that_the_learner_refuses_is_not_called_refuted():
    refused = Cell(1.0, 1.0, 5.0, (Step(7, "refuted", how="refused"), Step(8, "met")))
    page = render(None, studies=[to_json(result(CurveResult("line", "", "", (refused,))))])
    assert "with 7 records, at least as many as the bound, the learner refuses to run." in page


def test_growth_that_the_texts_do_not_expect_is_called_unexpected():
    wrong = (
        CurveResult("wrong", "", "does not grow", GROWS.cells),
        CurveResult("flat", "", "grows", FLAT.cells),
    )
    for curve in wrong:
        assert render(None, studies=[to_json(result(curve))]).count('unexpected">unexpected<') == 1
    assert "unexpected<" not in render(None, studies=[to_json(result(GROWS, FLAT))])
