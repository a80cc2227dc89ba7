"""The rows of a self-audit: how they are judged, saved, printed and shown."""

import dataclasses
import json
import math
import re

import numpy as np
import pytest
from scipy import stats

from audit.errors import AuditError
from audit.self_audit.judging import first_failing, judged_share, log_e_value, mean_at_least
from audit.self_audit.row import Row, SelfAudit
from audit.self_audit.saved import from_json, to_json
from audit.self_audit.text import line, small_print, verdict
from reports.html import render

# How rows are judged


@pytest.mark.parametrize(("n", "limit"), [(70, 0.1), (1050, 0.05), (1050, 0.01), (400, 0.001)])
def test_a_row_fails_from_its_stated_count_on_and_states_its_power(n, limit):
    """Both figures follow from the binomial law.

    P[X ≥ k] ≤ level at the limit, and P[X ≥ k] = 0.9 at the rate that the row names.
    """
    level = 3e-6
    fewest = first_failing(n, limit, level)
    assert stats.binom.sf(fewest - 1, n, limit) <= level < stats.binom.sf(fewest - 2, n, limit)
    rows = {
        count: judged_share("a", "b", count=count, n=n, side="at most", limit=limit, level=level)
        for count in (fewest - 1, fewest)
    }
    assert [row.verdict for row in rows.values()] == ["kept", "NOT KEPT"]
    said = re.search(r"fails from (\d+) on, as a true rate of ([\d.]+) does 9 times in 10", rows[fewest].note)
    assert int(said[1]) == fewest
    assert stats.binom.sf(fewest - 1, n, float(said[2])) == pytest.approx(0.9, abs=0.02)


def test_a_row_with_a_lower_limit_fails_at_its_stated_count():
    made = [
        judged_share("a", "b", count=count, n=60, side="at least", limit=0.9, level=3e-6)
        for count in range(61)
    ]
    most = max(count for count, row in enumerate(made) if row.kept is False)
    assert f"fails at {most} or fewer" in made[0].note
    assert stats.binom.cdf(most, 60, 0.9) <= 3e-6 < stats.binom.cdf(most + 1, 60, 0.9)


def test_by_enumeration_the_mean_is_seldom_bounded_above_the_truth():
    """The lower bound on the mean exceeds 1 with probability at most `level`.

    The wealth is 10 with probability 1/10, else 0, so its true mean is 1.
    """
    n, level = 40, 0.05
    wrong = sum(
        stats.binom.pmf(hits, n, 0.1)
        for hits in range(n + 1)
        if mean_at_least(np.repeat([10.0, 0.0], [hits, n - hits]), level) > 1
    )
    assert 0 < wrong <= level
    expected = sum(
        stats.binom.pmf(hits, n, 0.1) * math.exp(log_e_value(np.repeat([10.0, 0.0], [hits, n - hits])))
        for hits in range(n + 1)
    )
    assert expected == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"kind": "odd"}, "`kind` of a `Row` must be one of share, runs"),
        ({"side": "at most"}, "must have a `limit`"),
        ({"measured": 1.5}, "share that is `measured`"),
        ({"n": -1}, "`n` of a `Row`"),
    ],
)
def test_a_malformed_row_is_refused_in_one_line(changed, match):
    with pytest.raises(AuditError, match=match) as refused:
        Row(**{"part": "a", "what": "b", "n": 3, "measured": 0.5, **changed})
    assert "\n" not in str(refused.value)


# What is saved and shown

ROWS = (
    Row(
        "false alarms",
        "<b>laplace</b>",
        50,
        0.3,
        0.2,
        0.45,
        side="at most",
        limit=0.1,
        chance=1e-6,
        note="why",
    ),
    Row("coverage", "a lower bound", 50, 1.5, 0.7, kind="ratio", side="at most", limit=1.0, chance=1e-6),
    Row(
        "runs to refutation",
        "peers",
        3,
        9.0,
        7.0,
        math.inf,
        kind="runs",
        spread="range",
        details=(("svt", "7"),),
    ),
)
RESULT = SelfAudit(ROWS, "quick", 3, planned=4, level=1e-6, cases="cases.py")


def test_the_saved_form_is_read_back_and_a_damaged_one_is_refused():
    text = json.dumps(to_json(RESULT), allow_nan=False)
    assert from_json(json.loads(text)) == RESULT
    for old, new in (('"n": 50', '"n": "50"'), ('"level": 1e-06', '"level": 2'), ("at most", "about")):
        with pytest.raises(AuditError, match="saved self_audit is damaged"):
            from_json(json.loads(text.replace(old, new)))


def test_the_text_says_what_is_judged_and_the_chance_that_a_correct_auditor_fails():
    assert verdict(RESULT) == "1 of 2 limits kept; 2 of 4 planned ones were not judged."
    assert "fails any of these rows with probability at most 2e-06" in small_print(RESULT)
    assert " ".join(line(ROWS[0]).split()) == (
        "NOT KEPT <b>laplace</b>: 15 of 50 (0.3), 0.2 to 0.45; at most 0.1 why"
    )
    assert "9 runs, 7 to never" in line(ROWS[2])


def test_a_part_without_limits_is_not_called_kept():
    measured = SelfAudit(ROWS[2:], "quick", 3, planned=4, level=1e-6)
    assert verdict(measured) == "None of the 4 planned limits was judged."
    assert "fails any of these rows" not in small_print(measured)
    page = render(None, self_audits=[to_json(dataclasses.replace(measured, cases="cases.py"))])
    assert "dp-audit self-audit runs-to-refutation --quick --seed 3 --cases cases.py" in page
    assert {"mark measured", "measured"} <= {*re.findall(r'class="([\w -]+)"', page)}
    assert 'class="mark inconclusive"' not in page


def test_the_page_shows_every_row_beside_its_limit():
    page = render(None, self_audits=[to_json(RESULT)])
    assert "<h1>The auditor audited</h1>" in page
    assert "<b>laplace</b>" not in page
    cells = [
        [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)
    ]
    assert [
        "&lt;b&gt;laplace&lt;/b&gt;",
        "NOT KEPT",
        "50",
        "15 of 50 (0.3)",
        "0.2 to 0.45",
        "at most 0.1",
        "why",
    ] in cells
    assert ["peers", "measured", "3", "9 runs", "7 to never", "", ""] in cells
    assert "<dt><bdi>svt</bdi></dt><dd><bdi>7</bdi></dd>" in page
    assert "dp-audit self-audit --quick --seed 3 --cases cases.py" in page
