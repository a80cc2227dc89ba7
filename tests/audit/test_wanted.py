"""If a mechanism for arrays or frames gets lists, the audit names the conversion."""

import numpy as np
import pytest

from audit import Accuracy, PureDP, audit_privacy, audit_utility
from audit.errors import InvalidValue
from audit.problems import FixedProblem

CALLS = []


def array_mean(database, rng):
    CALLS.append(type(database))
    return float(database.mean() + rng.laplace())


def array_halves(database, rng):
    return float((database / 2)[0] + rng.laplace())


def answer_to_one(event, rng):
    return event + rng.laplace()


def frame_sum(database, rng):
    return float(database["age"].sum() + rng.laplace())


def frame_groups(database, rng):
    return float(database.groupby("age").size().sum() + rng.laplace())


def audited(mechanism, records=(0.0, 1.0), **options):
    return audit_privacy(mechanism, PureDP(1.0), records=list(records), size=3, budget=400, **options)


@pytest.mark.parametrize(
    ("mechanism", "records", "words"),
    [
        (
            array_mean,
            [0.0, 1.0],
            r"array_mean raised AttributeError: .* an array: pass `convert=numpy\.array`\.$",
        ),
        (array_halves, [0.0, 1.0], r"raised TypeError: .* an array: pass `convert=numpy\.array`\.$"),
        (answer_to_one, [0, 1], r"; if it takes one record at a time, audit a function that returns .*s\.$"),
        (frame_sum, [{"age": 1}, {"age": 2}], r"a frame: pass `convert=pandas\.DataFrame`\.$"),
        (frame_sum, [1, 2], r"`audit\.adapters\.pandas\(frame_sum, columns=\[.*\]\)` in its place\.$"),
        (frame_groups, [(1, "a"), (2, "b")], r"`audit\.adapters\.pandas\(frame_groups, columns=\["),
    ],
)
@pytest.mark.parametrize("isolate", [False, True])
def test_the_first_error_about_a_list_names_what_to_pass(mechanism, records, words, isolate):
    with pytest.raises(InvalidValue, match=words) as caught:
        audited(mechanism, records, isolate=isolate)
    assert "\n" not in str(caught.value)


def test_two_runs_on_each_database_decide():
    CALLS.clear()
    with pytest.raises(InvalidValue):
        audited(array_mean)
    assert [kind.__name__ for kind in CALLS] == ["list"] * 4 + ["ndarray"] * 4 + ["float"] * 2


def test_a_mechanism_that_answers_is_not_run_again():
    runs = []
    result = audited(lambda database: runs.append(0) or 0)
    assert result.samples == len(runs)


def test_the_conversion_that_the_error_names_works():
    assert audited(array_mean, convert=np.array).samples == 400
    assert audited(frame_sum, [{"age": 1}, {"age": 2}], convert=__import__("pandas").DataFrame).samples == 400


def test_a_learner_for_arrays_gets_the_same_hint():
    problem = FixedProblem("ones", [1.0] * 5, lambda output, database: abs(output - 1.0))
    with pytest.raises(InvalidValue, match=r"pass `convert=numpy\.array`"):
        audit_utility(array_mean, Accuracy(0.5, 0.1), problems=[problem])


def raises_on_missing(database, rng):
    return sum(database) + rng.laplace()


def refuses_a_list_with_a_gap(database, rng):
    if type(database) is list and database[0] is None:
        raise TypeError
    return rng.laplace()


def always_raises(database, rng):
    raise TypeError


def raises_elsewhere(database, rng):
    return database.nothing_has_this


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        (raises_on_missing, {"records": [0, 1, None], "size": 3}),  # an error is an output like any other
        # the list on the other side is accepted
        (refuses_a_list_with_a_gap, {"pairs": [([None, 1], [0, 1])]}),
        (always_raises, {"records": [0, 1], "size": 3}),
        (raises_elsewhere, {"records": [0, 1], "size": 3}),
        # a user who gives `convert` knows what the mechanism takes
        (array_mean, {"records": [0, 1], "size": 3, "convert": list}),
        (array_mean, {"pairs": [((0, 1), (1, 1))]}),  # the databases are not lists
    ],
)
def test_other_errors_are_no_reason_to_convert(mechanism, options):
    result = audit_privacy(mechanism, PureDP(1.0), budget=400, **options)
    assert result.samples > 16


def test_the_command_line_spells_it_as_an_option(tmp_path, capsys):
    from audit.doors.cli import main

    (tmp_path / "mine.py").write_text(
        "def mean(database, rng):\n    return database.mean() + rng.laplace()\n"
    )
    target = f"{tmp_path / 'mine.py'}:mean"
    with pytest.raises(SystemExit) as ended:
        main(["run", target, "--epsilon", "1", "--records", "[0, 1]", "--size", "2"])
    assert ended.value.code == 2
    assert "pass `--convert numpy:array`" in capsys.readouterr().err
