"""A mechanism whose outputs never vary is reported everywhere."""

import sys

import numpy as np
import pytest

from audit import ApproximateDP, PureDP, Verdict, audit_privacy
from audit.doors.cli import main
from audit.doors.summary import line, warning
from audit.sampling.tally import Variety
from audit.values.outcomes import Raised, Unfinished
from audit.words.story import unvaried

pytest_plugins = ["pytester"]
SMALL = {"pairs": [([0], [1])], "budget": 1_000}


def forgetful(database, rng):
    sum(database) + rng.laplace()


def constant(database):
    return 5


def nan(database, rng):
    return float("nan") if rng.random() < 0.5 else np.float64("nan")


def refusing(database, rng):
    """Return nothing, or raise now and then, equally often on every database."""
    if rng.random() < 0.2:
        raise ValueError("not now")


class Zeros:
    def __call__(self, database, rng):
        return np.zeros(3)

    def sample(self, database, size, rng):
        return np.zeros((size, 3))


CONSTANT = [(forgetful, "None"), (constant, "5"), (nan, "nan"), (refusing, "None"), (Zeros(), "0")]


@pytest.mark.parametrize(("mechanism", "shown"), CONSTANT)
def test_an_audit_without_varying_outputs_reports_that_first(mechanism, shown):
    result = audit_privacy(mechanism, PureDP(1.0), **SMALL)
    assert result.verdict is Verdict.NOT_REFUTED
    assert shown in result.only_output
    assert str(result).splitlines()[0].endswith("(nothing varies)")
    assert f"Nothing varies: every output, on every database, was {result.only_output}." in " ".join(
        str(result).split()
    )
    assert f"nothing varies (always {result.only_output})" in line(result)
    assert warning(result).endswith(unvaried(result))
    assert ("`return`" in unvaried(result)) == (shown == "None")
    assert type(result).from_json(result.to_json()).only_output == result.only_output


def test_unvaried_outputs_are_reported_even_without_a_verdict():
    result = audit_privacy(forgetful, PureDP(1.0), **{**SMALL, "budget": 200})
    assert result.verdict is Verdict.INCONCLUSIVE
    assert "nothing varies" in str(result).splitlines()[0]


def fixed(database):
    return len(database)  # varies, but not between neighbours


def rare(database, rng):
    return None if rng.random() < 0.98 else 0


@pytest.mark.parametrize(
    ("mechanism", "pairs"),
    [
        (fixed, [([0], [1]), ([0, 0], [0, 1])]),
        (rare, [([0], [1])]),
        (lambda database: database[0], [([0], [1])]),
    ],
)
def test_outputs_that_vary_on_any_database_count_as_varying(mechanism, pairs):
    """A thousand runs are all equal with probability 2e-9.

    98 of 100 outputs are equal.
    """
    result = audit_privacy(mechanism, ApproximateDP(1.0, 0.3), pairs=pairs, budget=1_000)
    assert result.only_output is None
    assert unvaried(result) == ""
    assert "nothing varies" not in (str(result) + line(result) + warning(result)).lower()


@pytest.mark.parametrize(
    ("outputs", "only"),
    [
        ([1, 1.0, np.int64(1)], "1"),
        ([1, True], None),
        ([[0], [0]], "[0]"),
        ([(), []], None),
        ([Raised("E", "m"), Unfinished("late"), 0, Raised("F", "")], "0"),
        ([Raised("E", "m")], None),
        ([], None),
        (np.array([np.nan, np.nan]), "nan"),
        (np.array([[1, 2], [1, 3]]), None),
        (np.array(["a", "a"]), "'a'"),
    ],
)
def test_outputs_count_as_one_if_they_are_the_same(outputs, only):
    variety = Variety()
    for output in outputs:  # one after the other and all at once
        variety.look([output])
    together = Variety()
    together.look(outputs)
    assert (variety.only, together.only) == (only, only)


MECHANISM = """
def forgetful(database, rng):
    sum(database) + rng.laplace()
"""


def test_the_command_warns_on_stderr(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text(MECHANISM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit) as left:
        main(["run", "mine.py:forgetful", "--epsilon", "1", "--pair", "[0]", "[1]", "--budget", "1000"])
    out, err = capsys.readouterr()
    assert left.value.code == 0
    assert "(nothing varies)" in out.splitlines()[0]
    assert err.startswith("warning: forgetful: Nothing varies: every output, on every database, was None.")


TEST = """
from audit import PureDP

def test_privacy(auditor):
    auditor.check(forgetful, PureDP(1.0), pairs=[([0], [1])], budget=1000)
"""


@pytest.mark.parametrize("strict", [False, True])
def test_pytest_warns_of_the_test_and_fails_it_if_warnings_are_errors(pytester, strict):
    pytester.makepyfile(test_it=MECHANISM + TEST)
    ran = pytester.runpytest_subprocess("-p", "no:cacheprovider", *(["-W", "error"] if strict else []))
    ran.assert_outcomes(**({"failed": 1} if strict else {"passed": 1, "warnings": 1}))
    ran.stdout.fnmatch_lines(["*forgetful: Nothing varies: every output, on every database, was None.*"])
    if not strict:
        ran.stdout.fnmatch_lines(["*NothingVaries*", "NOT REFUTED*nothing varies (always None)*"])
    ran.stdout.no_fnmatch_line("*auditor.py*")
