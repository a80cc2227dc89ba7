"""Estimators with `fit`, and functions of frames, as mechanisms."""

import copy
import sys

import numpy as np
import pytest

from audit import PureDP, Relation, Verdict, assert_private, audit_privacy
from audit.adapters import pandas, sklearn
from audit.distributions import Finite
from audit.errors import AuditError, InvalidKind, InvalidValue, SubjectError
from audit.results.fault import FaultKind
from audit.sampling import Sampler


class Mean:
    """A stand-in for a user's estimator: a mean with noise."""

    def __init__(self, scale=1.0, random_state=None):
        self.scale = scale
        self.random_state = random_state

    def get_params(self, **_):
        return {"scale": self.scale, "random_state": self.random_state}

    def set_params(self, **given):
        vars(self).update(given)
        return self

    def fit(self, X, y=None):
        rng = np.random.default_rng(self.random_state)
        target = X if y is None else y
        self.mean_ = float(np.mean(np.clip(target, 0, 1)) + rng.laplace(scale=self.scale / len(X)))
        self.size_ = X.shape
        return self


class Plain:
    """An estimator without parameters, whose `fit` takes a generator."""

    def fit(self, X, rng):
        self.mean_ = float(X.mean() + rng.laplace())


class OwnNoise:
    """An estimator that draws from numpy's global generator."""

    def fit(self, X, y=None):
        self.mean_ = X.clip(0, 1).mean() + np.random.laplace(scale=1 / len(X))  # noqa: NPY002


def call(mechanism, database, seed=0):
    return mechanism.call(database, np.random.default_rng(seed))


def audited(mechanism, epsilon, left, right):
    """Return the audit of one pair with few runs.

    At significance 1e-6, a leak that shows in every run is refuted in about 200 runs.
    """
    return audit_privacy(mechanism, PureDP(epsilon), pairs=[(left, right)], budget=1_000, confirm_budget=200)


def test_a_correct_class_with_fit_keeps_its_claim_and_reports_its_parameters():
    """ε is 1/`scale`.

    Replacing one of four clipped values moves the mean by at most 1/4. The noise has scale `scale`/4.
    """
    result = audited(sklearn(Mean(1.0), attributes="mean_"), 1.0, [0.0] * 4, [0.0, 0.0, 0.0, 9.0])
    assert (result.verdict, result.subject) == (Verdict.NOT_REFUTED, "Mean")
    assert result.parameters == {"scale": 1.0, "random_state": None}


@pytest.mark.parametrize("estimator", [OwnNoise, OwnNoise(), Mean()], ids=["class", "built", "clonable"])
def test_an_adapted_subject_can_be_rebuilt_in_a_fresh_process(estimator):
    mechanism = sklearn(estimator, attributes="mean_")
    assert mechanism.takes_rng == isinstance(estimator, Mean)
    assert Sampler(mechanism, seed=0).recipe is not None


def test_the_generator_goes_to_the_parameters_that_take_one():
    for estimator in (Mean(), Mean, Plain(), Plain):
        mechanism = sklearn(estimator, attributes="mean_")
        assert mechanism.takes_rng
        assert (
            call(mechanism, [0.5, 1.0], 3) == call(mechanism, [0.5, 1.0], 3) != call(mechanism, [0.5, 1.0], 4)
        )


def test_every_run_fits_a_fresh_estimator_and_leaves_the_given_one_unchanged():
    class Memory:
        def fit(self, X):
            self.runs_ = getattr(self, "runs_", 0) + 1

    given = Memory()
    mechanism = sklearn(given, attributes="runs_")
    assert [call(mechanism, [1.0]) for _ in range(3)] == [1, 1, 1]
    assert not hasattr(given, "runs_")


def test_one_name_releases_its_value_and_several_a_dict():
    assert isinstance(call(sklearn(Mean(), attributes="mean_"), [1.0]), float)
    assert call(sklearn(Mean(), attributes=["mean_", "size_"]), [1.0, 2.0])["size_"] == (2, 1)


@pytest.mark.parametrize(
    ("split", "records", "table", "labels"),
    [
        (None, [1.0, 2.0], [[1.0], [2.0]], None),
        (None, [(1, 2), (3, 4)], [[1, 2], [3, 4]], None),
        (None, [], np.empty((0, 1)), None),
        (-1, [(1, 2, 0), (3, 4, 1)], [[1, 2], [3, 4]], [0, 1]),
        (0, [(7, 1), (8, 2)], [[1], [2]], [7, 8]),
        (-1, [((1, 2), 0), ((3, 4), 1)], [[1, 2], [3, 4]], [0, 1]),
        (lambda rows: np.ones(len(rows)), [5, 6], [1.0, 1.0], None),
        (lambda rows: (np.ones(2), np.zeros(2)), [5, 6], [1.0, 1.0], [0.0, 0.0]),
    ],
)
def test_a_split_makes_the_arguments_of_fit(split, records, table, labels):
    class Kept:
        def fit(self, X, y=None):
            self.seen_ = X, y

    X, y = call(sklearn(Kept(), attributes="seen_", split=split), records)
    np.testing.assert_array_equal(X, table)
    assert (y is None) == (labels is None)
    if y is not None:
        np.testing.assert_array_equal(y, labels)


def test_estimators_of_scikit_learn_are_cloned_seeded_and_named_by_their_class():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LinearRegression, SGDRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    fitted = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    slopes = sklearn(fitted, attributes="coef_", split=-1)
    assert call(slopes, [(0, 0), (1, 3)]) == pytest.approx([3.0])
    assert fitted.coef_ == pytest.approx([1.0])
    assert sklearn(SGDRegressor(), attributes="coef_", split=-1).takes_rng
    assert not slopes.takes_rng
    steps = sklearn(make_pipeline(StandardScaler(), SGDRegressor()), attributes="n_features_in_", split=-1)
    assert steps.takes_rng
    assert steps.object.own == ("sgdregressor__random_state",)
    assert call(steps, [(0, 0), (1, 3)]) == 1
    assert slopes.name == "LinearRegression"
    assert Sampler(slopes, seed=0).recipe is not None


def test_without_scikit_learn_a_deep_copy_is_used_and_a_fitted_estimator_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    fresh, used = Mean(), Mean().fit(np.ones((2, 1)))
    assert call(sklearn(fresh, attributes="size_"), [1.0]) == (1, 1)
    assert not hasattr(fresh, "size_")
    with pytest.raises(InvalidValue, match="`mean_` before its fit: give one that is not fitted"):
        sklearn(used, attributes="mean_")
    assert call(sklearn(copy.deepcopy(fresh), attributes="size_"), [1.0, 2.0]) == (2, 1)


class Labelled:
    def fit(self, table, rng, labels):
        raise AssertionError


class NeedsMore:
    def __init__(self, scale):
        raise AssertionError


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: sklearn(len, attributes="x_"), InvalidKind, "must have a method `fit`"),
        (lambda: sklearn(Mean(), attributes=[]), InvalidKind, "`attributes` must be a list of names"),
        (lambda: sklearn(Mean(), attributes=[3]), InvalidKind, r"list of names; got \[3\]"),
        (lambda: sklearn(Mean(), attributes="mean_", split="y"), InvalidKind, "`split` must be a place"),
        (lambda: sklearn(NeedsMore, attributes="x_"), SubjectError, "without arguments, give a built one"),
        (
            lambda: sklearn(Labelled, attributes="x_"),
            InvalidValue,
            "`fit` of `Labelled` needs a `labels` too: give",
        ),
        (lambda: pandas(len, columns="age"), InvalidKind, "`columns` must be a list of names; got 'age'"),
        (lambda: pandas(3, columns=["age"]), SubjectError, r"must be a callable \(database, rng\)"),
    ],
)
def test_what_cannot_be_adapted_is_refused_in_one_line(make, error, words):
    with pytest.raises(error, match=words) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_a_missing_attribute_gets_the_nearest_name_as_a_suggestion():
    found = audit_privacy(sklearn(Mean(), attributes="mean"), PureDP(1.0), records=[0, 1], size=2)
    assert found.verdict.name == "ERROR"
    assert "no `mean` after the fit; did you mean `mean_`?" in found.reason


@pytest.mark.parametrize("given", [Mean(), Mean], ids=["built", "class"])
def test_an_estimator_in_place_of_a_function_is_refused_with_the_adapter_to_use(given):
    with pytest.raises(SubjectError, match=r"`audit\.adapters\.sklearn\(Mean.*, attributes=\[") as caught:
        audit_privacy(given, PureDP(1.0), records=[0, 1], size=2)
    assert "\n" not in str(caught.value)


def totals(frame, rng):
    by_town = frame["salary"].clip(0, 1).groupby(frame["town"]).sum()
    return tuple(float(by_town.get(town, 0)) + rng.laplace(scale=0.05) for town in ("Oslo", "Rome"))


def test_a_function_of_a_frame_gets_one_of_its_columns():
    """A record that moves to the other town changes two sums by 1.

    The noise has scale 1/20.
    """
    mechanism = pandas(totals, columns=["town", "salary"])
    assert mechanism.name == "totals"
    oslo, rome = [("Oslo", 1.0), ("Oslo", 0.0)], [("Rome", 50.0), ("Oslo", 0.0)]
    assert call(mechanism, oslo)[0] == pytest.approx(1.0 + call(mechanism, rome)[0])
    refuted = audited(mechanism, 1.0, oslo, rome)
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.witness.left == oslo  # the witness holds records, not frames


def patients_per_town(frame, rng):
    counts = frame.groupby("town").size()
    return counts + rng.laplace(scale=1.0, size=len(counts))


def test_groups_that_only_one_database_has_are_named_by_their_label(examined):
    mechanism = pandas(patients_per_town, columns=["town"])
    fault = examined(mechanism, (["Oslo"], ["Oslo", "Rome"]), PureDP(1.0), Relation.ADD_OR_REMOVE_ONE)
    assert fault.kind is FaultKind.DATA_DEPENDENT_DOMAIN
    assert "key 'Rome'" in fault.words


def test_dicts_plain_values_and_empty_databases_become_frames():
    def seen(frame):
        return list(frame.columns), len(frame)

    assert call(pandas(seen, columns=["a"]), [1, 2]) == (["a"], 2)
    assert call(pandas(seen, columns=["b", "a"]), [{"a": 1, "b": 2}]) == (["b", "a"], 1)
    assert call(pandas(seen, columns=["a"]), []) == (["a"], 0)


def test_a_law_of_frames_gets_frames():
    class Size:
        claim = PureDP(0.0)

        def __call__(self, frame, rng):
            return frame["a"].size

        def distribution(self, frame):
            return Finite([frame["a"].size], [1.0])

    assert_private(pandas(Size(), columns=["a"]), ([0], [1]))
    with pytest.raises(AssertionError, match=r'"the output is \d" has probability 1 on'):
        assert_private(pandas(Size(), columns=["a"]), ([0], [1, 1]), PureDP(9.0))


def test_missing_pandas_gets_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(AuditError, match=r"`audit\.adapters\.pandas` needs pandas: `pip install pandas`\.$"):
        pandas(len, columns=["a"])


def test_a_broken_pandas_raises_its_own_error(monkeypatch, tmp_path):
    (tmp_path / "pandas.py").write_text("raise ImportError('multiarray failed')")
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="multiarray failed"):
        pandas(len, columns=["a"])


def test_importing_the_adapters_loads_neither_library():
    import subprocess

    code = "import audit.adapters, sys; print({'pandas', 'sklearn'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"


def test_a_saved_refutation_of_an_adapted_class_is_replayed_by_its_target(tmp_path):
    from audit.doors.regressions import replay_file
    from audit.results.saved import save

    release = tmp_path / "release.py"
    release.write_text(
        "from audit.adapters import sklearn\n"
        "class Leak:\n"
        "    def fit(self, X, rng):\n"
        "        self.mean_ = float(X.mean() + rng.laplace(scale=0.01))\n"
        "mechanism = sklearn(Leak, attributes='mean_')\n"
    )
    from audit.subject.targets import resolve_target

    target = f"{release}:mechanism"
    found = audit_privacy(resolve_target(target).subject, PureDP(1.0), records=[0, 1], size=2)
    path = tmp_path / "leak.json"
    save(found, path)
    assert replay_file(path, subject=resolve_target(target).subject).verdict is Verdict.REFUTED
