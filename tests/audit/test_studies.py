"""Studies: the bracket of the least m, its error probability, and resuming.

The file is long because all tests use one small learner and its sweep.
"""

import dataclasses
import json
import math
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import linregress, t

from audit.claims import PAC
from audit.doors.cli import studies
from audit.doors.cli.commands import group
from audit.errors import AuditError, InvalidKind, InvalidValue
from audit.problems import SampledProblem
from audit.studies import GROUP, Curve, Study, load_studies
from audit.studies.cells import Cell, Step
from audit.studies.fits import fit
from audit.studies.least_size import next_size
from audit.studies.results import CurveResult, StudyResult
from audit.studies.run import StudyInterrupted
from audit.studies.saved import CellStore, from_json, layout, to_json

ALPHA = 0.1


def run_study(study, *, store=None, **terms):
    return studies.cells_of(study, store=store or CellStore(None), terms=terms, jobs=1)


def of(found, form):
    return next((curve for curve in found.curves if curve.form == form), None)


def misses(alpha, m):
    """Return the problem on which a learner fails if no example is in a set.

    The set has mass alpha, and there are m examples.
    """
    return [SampledProblem("a light set", lambda rng: int(rng.binomial(m, alpha)), lambda output, _: output)]


def sees(database):
    """Return the error 1 if the database holds no example of the set, else 0."""
    return float(database == 0)


def least(beta, alpha=ALPHA):
    """Return the least m with (1 − alpha)^m ≤ beta."""
    return math.ceil(math.log(beta) / math.log1p(-alpha))


def study(*, values=(0.02, 0.1), exact=False, **options):
    curve = Curve(
        "collector",
        lambda value, m: sees,
        misses,
        bound=lambda value: math.log(10.0) / value,
        failure=(lambda value, m: (1.0 - value) ** m) if exact else None,
    )
    return Study("light", "A light set.", PAC(0.5, 0.1), "α", values, (curve,), **options)


def searched(family, **options):
    """Return a study with a closed form for sets of mass 0.2.

    Its family may hold sets of other masses.
    """
    curve = Curve(
        "collector",
        lambda value, m: sees,
        lambda value, m: misses(0.2, m),
        failure=lambda value, m: 0.8**m,
        family=family,
    )
    return Study("searched", "A light set.", PAC(0.5, 0.1), "α", (1.0,), (curve,), **options)


def of_masses(*masses):
    return lambda value, m: [
        SampledProblem(f"mass {mass}", lambda rng, mass=mass: int(rng.binomial(m, mass)), lambda out, _: out)
        for mass in masses
    ]


@pytest.fixture(scope="module")
def exact_cells(tmp_path_factory):
    """Return the folder with the saved cells of a study with a closed form."""
    folder = tmp_path_factory.mktemp("cells")
    run_study(study(exact=True), store=CellStore(folder))
    return folder


def outcomes(thresholds, *, open_from=None, start=1, largest=10**6, most=60):
    """Return the steps of a bisection with an oracle.

    Sizes below `open_from` are refuted, sizes from `thresholds` on are met, and sizes in between stay
    open.
    """
    steps = []
    while (size := next_size(steps, start=start, largest=largest, most=most)) is not None:
        verdict = "met" if size >= thresholds else "open" if size >= (open_from or thresholds) else "refuted"
        steps.append(Step(size, verdict))
    return steps


@pytest.mark.parametrize("start", [1, 7, 1000])
@pytest.mark.parametrize("threshold", [1, 2, 10, 137, 5000])
def test_bisection_finds_a_threshold_within_the_resolution(threshold, start):
    cell = Cell(1.0, 1.0, None, tuple(outcomes(threshold, start=start)))
    assert cell.low < threshold <= cell.met
    assert cell.met <= max(1.1 * cell.low, cell.low + 1)
    assert len({step.size for step in cell.steps}) == len(cell.steps)


def test_open_steps_are_enclosed_from_both_sides():
    cell = Cell(1.0, 1.0, None, tuple(outcomes(1200, open_from=1000)))
    assert 1000 / 1.2 < cell.refuted < 1000
    assert 1200 <= cell.met < 1200 * 1.2


def test_the_search_ends_at_the_largest_size_or_after_most_steps():
    assert outcomes(10**9, largest=1000)[-1].size == 1000
    assert len(outcomes(10**9, largest=10**12, most=5)) == 5


def test_the_least_m_lies_in_the_bracket_of_an_exact_curve():
    found = run_study(study(exact=True, resolution=1.0001)).curves[0].cells
    for cell in found:
        true = least(0.1, cell.value)
        assert (cell.refuted, cell.met) == (true - 1, true)


def test_the_least_m_lies_in_the_bracket_found_by_runs():
    # the probability that any verdict is wrong is at most 1e-7
    [cell] = run_study(study(values=(0.1,), budget=2500, resolution=1.5), significance=1e-7).curves[0].cells
    assert cell.refuted < least(0.1) <= cell.met
    # power: the failure probabilities at m = 16 and 32 are 0.185 and 0.034, and 600 runs tell them from 0.1
    assert cell.met < 2.2 * cell.refuted
    assert cell.runs > 0


def test_a_worse_problem_of_the_family_moves_the_bracket():
    # the probability that any verdict is wrong is at most 1e-7
    wanted = searched(of_masses(0.2, 0.1), search=1500, resolution=2.1)
    [cell] = run_study(wanted, significance=1e-7).curves[0].cells
    assert cell.refuted >= least(0.1, 0.2)
    assert cell.refuted < least(0.1, 0.1) <= cell.met
    assert cell.family == "the 2 given problems; worst: mass 0.1"
    assert all(step.how == "runs" for step in cell.steps if step.size > least(0.1, 0.2))


def test_a_family_that_is_not_worse_leaves_the_bracket_of_the_closed_form():
    [cell] = run_study(searched(of_masses(0.2, 0.5)), significance=1e-7).curves[0].cells
    true = least(0.1, 0.2)
    assert (cell.refuted, cell.met) == (true - 1, true)
    [step] = [step for step in cell.steps if step.size == true]
    assert (step.how, step.low, step.family) == ("exact", 0.8**true, "the 2 given problems")
    assert step.low <= step.high < 0.3
    assert step.runs > 0
    words = f"the problem of the closed form; not refuted (failure ≤ {step.high:.3g}) on the 2 given problems"
    assert cell.family.startswith(words)


def test_without_a_family_the_problem_is_that_of_the_closed_form():
    [cell] = run_study(searched(None)).curves[0].cells
    assert cell.family == "the problem of the closed form"


def test_a_stopped_search_resumes_to_the_same_bytes(tmp_path):
    wanted = searched(of_masses(0.2, 0.1), search=150)
    whole, folder = layout([run_study(wanted)]), tmp_path / "cells"
    for steps in (3, 4, 1, 2):
        with pytest.raises(StudyInterrupted):
            run_study(wanted, store=Counting(folder, steps))
    assert layout([run_study(wanted, store=CellStore(folder))]) == whole


def test_every_step_has_its_share_and_a_separate_seed(monkeypatch):
    import audit.studies.least_size as module

    asked = []
    inner = module.audit_utility
    monkeypatch.setattr(
        module,
        "audit_utility",
        lambda *args, **told: asked.append((told["significance"], told["seed"])) or inner(*args, **told),
    )
    result = run_study(study(budget=100, steps=5), significance=0.01)
    assert {share for share, _ in asked} == {0.01 / 10}
    assert result.audits == 10
    assert len(asked) <= 10
    assert len({seed for _, seed in asked}) == len(asked)


def test_a_closed_form_that_contradicts_the_learner_is_found():
    lying = study(exact=True)
    curve = dataclasses.replace(lying.curves[0], failure=lambda value, m: (1.0 - value) ** (2 * m))
    with pytest.raises(AuditError, match=r"exact failure probability of `collector` at α = 0.02, m = \d+ is"):
        run_study(dataclasses.replace(lying, curves=(curve,)))


def test_a_learner_that_always_raises_gives_no_verdict():
    def broken(database):
        raise RuntimeError("no")

    curve = Curve("broken", lambda value, m: broken, misses)
    with pytest.raises(
        AuditError, match=r"The audit of `broken` at α = 0.02, m = 16 failed: every run raised"
    ):
        run_study(dataclasses.replace(study(), curves=(curve,)))


def test_sizes_that_a_learner_refuses_are_not_run():
    def refusing(database):
        raise AssertionError

    curve = Curve("refusing", lambda value, m: refusing, misses, least=lambda value: 10**9)
    result = run_study(dataclasses.replace(study(), curves=(curve,), largest=100))
    assert {step.how for cell in result.curves[0].cells for step in cell.steps} == {"refused"}


class Counting(CellStore):
    """A store that counts the steps it saves, and stops the study after `most` of them, as Ctrl-C does."""

    def __init__(self, folder, most=None):
        super().__init__(folder)
        self.most, self.steps = most, 0

    def write(self, key, steps):
        super().write(key, steps)
        self.steps += 1
        if self.steps == self.most:
            raise KeyboardInterrupt


def test_a_stopped_study_resumes_to_the_same_bytes(tmp_path):
    wanted = study(budget=60, steps=8)
    whole = layout([run_study(wanted)])
    folder = tmp_path / "cells"
    for steps in (3, 4, 2):
        with pytest.raises(StudyInterrupted) as stopped:
            run_study(wanted, store=Counting(folder, steps))
        assert stopped.value.result.finished <= 2
    store = Counting(folder)
    again = run_study(wanted, store=store)
    assert layout([again]) == whole
    # steps that were kept are not repeated
    assert store.steps == sum(len(cell.steps) for cell in again.curves[0].cells) - 9


def test_other_settings_do_not_use_the_cells_of_these(tmp_path):
    wanted = study(values=(0.1,), budget=100, steps=4)
    store = CellStore(tmp_path)
    first = run_study(wanted, store=store)
    other = run_study(wanted, store=store, seed=1)
    assert other == run_study(wanted, seed=1)
    assert other != first


def damaged(text, **changes):
    """Return the text of a cell after these changes to its first step."""
    document = json.loads(text)
    document["steps"][0] |= changes
    return json.dumps(document)


def without(text, place, name):
    document = json.loads(text)
    (document if place is None else document["steps"][0]).pop(name)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[:20], "not JSON at line .* column"),
        (lambda text: "[]", "must be an object with `key` and `steps`"),
        (lambda text: "3", "must be an object with `key` and `steps`"),
        (lambda text: "[" * 100_000, "nested too deeply"),
        (lambda text: without(text, None, "key"), "must be an object with `key` and `steps`"),
        (lambda text: without(text, None, "steps"), "must be an object with `key` and `steps`"),
        (lambda text: without(text, 0, "size"), "a step has missing or unknown fields"),
        (lambda text: damaged(text, more=1), "a step has missing or unknown fields"),
        (lambda text: json.dumps({**json.loads(text), "steps": [[]]}), "must be a list of objects"),
        (lambda text: json.dumps({**json.loads(text), "steps": 3}), "must be a list of objects"),
        (lambda text: damaged(text, size=-5), "size of a `Step` must be a whole number ≥ 1; got -5"),
        (
            lambda text: damaged(text, size="9"),
            "size of a `Step` must be a whole number ≥ 1; got 9|got '9'",
        ),
        (lambda text: damaged(text, runs=-7), "runs of a `Step` must be a whole number ≥ 0; got -7"),
        (lambda text: damaged(text, low=5.0), r"low of a `Step` must be a number in \[0, 1\]; got 5"),
        (lambda text: damaged(text, low=0.5, high=0.2), "at most its high; got 0.5 and 0.2"),
        (lambda text: damaged(text, verdict="fine"), "`verdict` of a `Step` must be one of .*; got 'fine'"),
        (
            lambda text: damaged(text, size=10**12, verdict="refuted"),
            "must be above its `refuted`",
        ),
        (lambda text: damaged(text, size=10**400), "≤ 9223372036854775807"),
        (lambda text: text.replace('"size": ', '"size": ' + "9" * 5000, 1), "has 5,00. digits"),
        (lambda text: re.sub('"high": [0-9.]+', '"high": 1e999', text), "is larger than any float"),
    ],
)
def test_a_damaged_cell_is_named_in_one_line(tmp_path, exact_cells, damage, said):
    shutil.copytree(exact_cells, tmp_path, dirs_exist_ok=True)
    store = CellStore(tmp_path)
    path = min(tmp_path.glob("*.json"))
    path.write_text(damage(path.read_text()))
    with pytest.raises(AuditError, match=rf"is not a saved cell \(.*(?:{said}).*delete it") as refused:
        run_study(study(exact=True), store=store)
    assert str(refused.value).startswith(f"{path} is not a saved cell")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("failure", [math.nan, 5.0, -0.1])
def test_a_closed_form_that_is_not_a_probability_is_refused(failure):
    lying = study(exact=True)
    curve = dataclasses.replace(lying.curves[0], failure=lambda value, m: failure)
    with pytest.raises(AuditError, match=r"`collector` at α = 0.02, m = \d+ must be a probability; got"):
        run_study(dataclasses.replace(lying, curves=(curve,)))


def test_growth_follows_from_the_brackets_only():
    def cell(x, low, high):
        return Cell(x, x, None, (Step(low, "refuted"), Step(high, "met")))

    grown, flat = fit([cell(1.0, 9, 10), cell(5.0, 29, 31)]), fit([cell(1.0, 9, 12), cell(5.0, 10, 11)])
    assert (grown.least, grown.most) == ((30 - 10) / 4, (31 - 10) / 4)
    assert (grown.ratio_least, grown.ratio_most) == (30 / 10, 31 / 10)
    assert grown.least > 0 >= flat.least
    assert fit([cell(1.0, 9, 10)]) is None
    assert fit([cell(1.0, 9, 10), Cell(2.0, 2.0, None, (Step(3, "refuted"),))]) is None


def test_the_fits_agree_with_numpy_and_scipy():
    x, m = np.array([1.0, 2.0, 4.0, 9.0]), np.array([5, 12, 19, 44])
    cells = [
        Cell(a, a, None, (Step(int(b) - 1, "refuted"), Step(int(b), "met")))
        for a, b in zip(x, m, strict=True)
    ]
    middles = np.sqrt(m * (m - 1.0))
    found = fit(cells)
    forms = {
        "line": (x, middles),
        "power law": (np.log(x), np.log(middles)),
        "exponential": (x, np.log(middles)),
    }
    assert {curve.form for curve in found.curves} == set(forms)
    for form, (places, values) in forms.items():
        known, curve = linregress(places, values), of(found, form)
        assert [curve.slope, curve.intercept] == pytest.approx([known.slope, known.intercept])
        # a t quantile with 4 − 2 degrees of freedom: four points, two coefficients
        reach = t.ppf(0.975, 2) * known.stderr
        assert [curve.low, curve.high] == pytest.approx([known.slope - reach, known.slope + reach])
    off = np.log(np.polyval(np.polyfit(x, middles, 1), x) / middles)
    assert of(found, "line").error == pytest.approx(np.sqrt(np.mean(off**2)))
    assert [curve.error for curve in found.curves] == sorted(curve.error for curve in found.curves)
    assert [found.rate_least, found.rate_most] == pytest.approx([math.log(44 / 5) / 8, math.log(44 / 5) / 8])


def test_a_form_that_does_not_fit_shows_in_residuals_and_missed_brackets():
    around = ((x, int(0.9 * x**3), int(1.1 * x**3)) for x in range(2, 12))
    cells = [Cell(x, x, None, (Step(low, "refuted"), Step(high, "met"))) for x, low, high in around]
    found = fit(cells)
    cubic, line = of(found, "power law"), of(found, "line")
    assert found.curves[0] is cubic
    assert cubic.slope == pytest.approx(3, abs=0.05)  # both ends of the brackets are whole numbers
    assert cubic.low < cubic.slope < cubic.high < cubic.low + 0.1
    assert line.curvature < 1e-6
    assert line.missed >= 5 > cubic.missed


def test_two_cells_give_a_line_and_no_interval():
    first, last = (Cell(x, x, None, (Step(9, "refuted"), Step(10, "met"))) for x in (1.0, 2.0))
    line = of(fit([first, last]), "line")
    assert (line.low, line.high, line.curvature, line.missed) == (None, None, None, 0)


def test_an_exponential_curve_says_by_how_much_a_unit_multiplies():
    # the least m is 2^value, so the brackets are (2^value − 1, 2^value]
    curve = Curve(
        "doubles",
        lambda value, m: None,
        lambda value, m: [],
        failure=lambda value, m: float(m < 2**value),
        compared=0,
        shape="exponential",
    )
    doubled = Study("doubles", "It doubles.", PAC(0.1, 0.1), "d", (2, 4, 8), (curve,), resolution=1.0001)
    [found] = run_study(doubled).curves
    assert [cell.met for cell in found.cells] == [4, 16, 256]
    assert found.shape == "exponential"
    assert found.fit.rate_least == pytest.approx(math.log(2))
    assert from_json(to_json(run_study(doubled))).curves == (found,)


def test_a_saved_study_is_read_back_as_it_was():
    result = run_study(study(exact=True))
    assert from_json(json.loads(json.dumps(to_json(result)))) == result


@pytest.mark.parametrize("significance", [5, 0.0, 1.0, -1e-3])
def test_a_saved_study_with_an_impossible_significance_is_refused(significance):
    document = to_json(StudyResult("demo", "All.", "PAC(0.1, 0.1)", curves=()))
    document["study"]["significance"] = significance
    with pytest.raises(AuditError, match=r"damaged: The `significance` must be"):
        from_json(document)


@pytest.mark.parametrize(
    "document",
    [{}, {"schema": 2, "study": {}}, {"schema": 1, "study": []}, {"schema": 1, "study": {"curves": [{}]}}],
)
def test_a_document_that_is_not_a_study_is_refused(document):
    with pytest.raises(AuditError, match="study"):
        from_json(document)


@pytest.mark.parametrize(
    ("make", "kind", "match"),
    [
        (lambda: study(values=()), InvalidValue, "one or more, ascending and without repeats"),
        (lambda: study(values=(2.0, 1.0)), InvalidValue, "ascending"),
        (lambda: study(values=(1.0, math.nan)), InvalidValue, "finite number"),
        (lambda: study(budget=0), InvalidValue, "`budget` of a `Study`"),
        (lambda: study(resolution=1.0), InvalidValue, "`resolution` of a `Study`"),
        (lambda: dataclasses.replace(study(), curves=()), InvalidKind, "one or more `Curve` values"),
        (lambda: dataclasses.replace(study(), curves=study().curves * 2), InvalidValue, "must differ"),
        (lambda: Curve("x", sees, misses, expected="falls"), InvalidValue, "`expected` of a `Curve`"),
        (lambda: run_study(study(), significance=0.0), InvalidValue, "`significance`"),
        (lambda: run_study(study(), seed=-1), InvalidValue, "`seed`"),
    ],
)
def test_invalid_arguments_of_a_study_are_refused_in_one_line(make, kind, match):
    with pytest.raises(kind, match=match) as refused:
        make()
    assert "\n" not in str(refused.value)


def test_a_study_that_was_saved_without_shapes_is_read():
    document = to_json(run_study(study(exact=True)))
    document["study"]["curves"][0].pop("shape")
    assert from_json(document).curves[0].shape == ""


OFFER = """
from audit.claims import PAC
from audit.problems import SampledProblem
from audit.studies import Curve, Study

def sees(database):
    return float(database == 0)

def problems(alpha, m):
    return [SampledProblem("light", lambda rng: int(rng.binomial(m, alpha)), lambda output, _: output)]

def studies():
    curve = Curve("<b>collector</b>", lambda value, m: sees, problems, bound=lambda value: 3 / value,
                  failure=lambda value, m: (1 - value) ** m, source="<i>ours</i>", expected="grows")
    wrong = Curve("wrong", lambda value, m: sees, problems, failure=lambda value, m: 0.3 ** m)
    words = ("A <script>light</script> set.", PAC(0.5, 0.1), "1/<u>a</u>", (0.02, 0.1))
    return [Study("light", *words, (curve,), fixed="<em>all</em>", at=lambda a: 1 / a, axis="<u>1/a</u>"),
            Study("wrong", *words, (wrong,))]
"""


@pytest.fixture
def offer(thirdparty):
    """Install a distribution that offers studies."""
    thirdparty(GROUP, entry="stranger_studies:studies", text=OFFER)


def run(*arguments):
    return CliRunner().invoke(group, ["study", *map(str, arguments)], standalone_mode=False)


@pytest.mark.usefixtures("offer")
def test_an_installed_distribution_adds_its_studies():
    assert load_studies()["light"].cells == 2
    assert "light" in run("--list").stdout


@pytest.mark.usefixtures("offer")
def test_the_command_prints_saves_and_resumes(tmp_path):
    saved, page = tmp_path / "out" / "found.json", tmp_path / "out" / "page.html"
    done = run("light", "--json", saved, "--html", page)
    assert done.return_value == 0
    assert "refuted at 21, met at 22 (closed form); bound 30\n" in done.stdout
    assert len(list((tmp_path / "out" / "study-cells").glob("light-*.json"))) == 2
    [document] = json.loads(saved.read_text())
    assert [cell["steps"][-1]["how"] for cell in document["study"]["curves"][0]["cells"]] == ["exact"] * 2
    before = saved.read_bytes()
    assert run("light", "--json", saved).return_value == 0
    assert saved.read_bytes() == before


def test_the_command_says_that_a_bound_is_refuted_and_that_growth_was_not_expected(tmp_path):
    """The bound claims m = 1, but light sets of mass 1/v need about m = v·ln 10."""
    text = OFFER[: OFFER.index("def studies")].replace("(m, alpha)", "(m, 1 / alpha)")
    (tmp_path / "own.py").write_text(
        text
        + "study = Study('own', 'A light set.', PAC(0.5, 0.1), 'v', (10, 50), (Curve('c', lambda v, m: sees, "
        "problems, bound=lambda v: 1, failure=lambda v, m: (1 - 1 / v) ** m, expected='does not grow'),))"
    )
    done = run(f"{tmp_path / 'own.py'}:study")
    assert "refuted at 20, met at 22 (closed form); bound 1, REFUTED\n" in done.stdout
    assert "it grows; UNEXPECTED: the texts say it does not grow\n" in done.stdout


@pytest.mark.usefixtures("offer")
def test_a_study_that_fails_is_named_and_loses_no_other(tmp_path):
    saved = tmp_path / "found.json"
    done = run("[lw]*", "--json", saved)
    assert done.return_value == 3
    assert "wrong: could not be carried out: The exact failure probability of `wrong`" in done.stderr
    assert "light" in [each["study"]["name"] for each in json.loads(saved.read_text())]


@pytest.mark.usefixtures("offer")
def test_ctrl_c_writes_what_is_finished(tmp_path, monkeypatch):
    from audit.studies.least_size import CellSearch

    inner = CellSearch.take

    def stopping(search, size, *, number):
        if search.value == 0.1:
            raise KeyboardInterrupt
        return inner(search, size, number=number)

    monkeypatch.setattr(CellSearch, "take", stopping)
    saved = tmp_path / "found.json"
    done = run("light", "--json", saved, "--jobs", "1")
    assert done.return_value == 130
    folder = tmp_path / "study-cells"
    assert done.stderr == f"interrupted; 1 of 2 least sizes saved in {folder}; the same command resumes\n"
    unsaved = run("light", "--jobs", "1").stderr
    assert "1 of 2 least sizes found, none saved; --cells FOLDER saves them" in unsaved
    monkeypatch.undo()
    [document] = json.loads(saved.read_text())
    assert len(document["study"]["curves"][0]["cells"]) == 1
    assert len(list((tmp_path / "study-cells").iterdir())) == 1


@pytest.mark.usefixtures("offer")
def test_the_command_sweeps_the_values_that_it_is_given(tmp_path):
    saved = tmp_path / "found.json"
    assert run("light", "--json", saved, "--values", "0.05,0.2,0.5").return_value == 0
    [document] = json.loads(saved.read_text())
    result = from_json(document)
    assert [cell.value for cell in result.curves[0].cells] == [0.05, 0.2, 0.5]
    assert all(cell.refuted < least(0.1, cell.value) <= cell.met for cell in result.curves[0].cells)
    assert result.values == (0.05, 0.2, 0.5)


@pytest.mark.usefixtures("offer")
@pytest.mark.parametrize(
    ("pattern", "values", "match"),
    [
        ("light", "0.1,x", "must be numbers separated by commas"),
        ("light", "0.2,0.1", "ascending"),
        ("[lw]*", "0.1,0.2", "`--values` needs exactly one study; got 2 studies"),
    ],
)
def test_invalid_values_are_refused_in_one_line(pattern, values, match):
    done = run(pattern, "--values", values)
    assert isinstance(done.exception, AuditError)
    assert re.search(match, str(done.exception))
    assert "\n" not in str(done.exception)


@pytest.mark.usefixtures("offer")
def test_an_unknown_name_is_refused():
    done = run("no-such")
    assert isinstance(done.exception, AuditError)
    assert str(done.exception).startswith("No study is called `no-such`")


def test_the_statement_names_the_significance():
    words = StudyResult(
        "s", "s", "c", beta=0.1, significance=1e-3, audits=7, curves=(CurveResult("a", "", "", ()),)
    ).statement
    assert "0.999" in words
    assert "At most 7 verdicts" in words


PAGE = Path(__file__).parents[2] / "docs" / "studies.md"


def test_the_example_of_a_custom_study_finds_the_least_m(tmp_path):
    # the bracket is wrong with probability at most 1e-7
    from scipy import stats

    def misses_share(m, epsilon):
        """Return Pr[|Bin(m, 1/2)/m − 1/2 + Lap(1/(mε))| > 0.1]."""
        k = np.arange(m + 1)
        noise = stats.laplace(scale=1 / (m * epsilon))
        off = k / m - 0.5
        return stats.binom.pmf(k, m, 0.5) @ (noise.sf(0.1 - off) + noise.cdf(-0.1 - off))

    [text] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (tmp_path / "mean.py").write_text(text, encoding="utf-8")
    saved = tmp_path / "found.json"
    told = ("--values", "10", "--significance", "1e-7")
    done = run(f"{tmp_path / 'mean.py'}:study", "--json", saved, *told)
    assert done.return_value == 0
    found = from_json(json.loads(saved.read_text())[0])
    assert found.target == f"{tmp_path / 'mean.py'}:study"
    [cell] = found.curves[0].cells
    assert misses_share(cell.refuted, 0.1) > 0.1 > misses_share(cell.met, 0.1)


def test_the_page_names_every_preset():
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", page, flags=re.MULTILINE) == list(load_studies())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("math:tau", "must be a `Study`, or a function without arguments that returns one; got float"),
        ("math:gcd", "or a function without arguments that returns one; got int"),
        ("math:sqrt", "`math:sqrt` cannot be called without arguments: TypeError"),
        ("math:nothing", "`math` has no `nothing`"),
        ("no/file.py:study", "There is no file `no/file.py`"),
        ("mean.py", "Name the study in the file: `mean.py:object`"),
    ],
)
def test_a_target_that_is_not_a_study_is_refused_in_one_line(text, said):
    done = run(text)
    assert isinstance(done.exception, AuditError)
    assert said in str(done.exception)
    assert "\n" not in str(done.exception)


@pytest.mark.usefixtures("offer")
@pytest.mark.parametrize("option", [("--jobs", "0"), ("--budget", "0"), ("--seed", "-1")])
def test_invalid_options_are_refused_before_the_first_study(option):
    done = run("[lw]*", *option)
    assert isinstance(done.exception, AuditError)
    assert "must be a whole number ≥" in str(done.exception)
    assert done.stdout == ""


@pytest.mark.usefixtures("offer")
def test_page_and_results_need_separate_files(tmp_path):
    done = run("light", "--json", tmp_path / "a.json", "--html", tmp_path / "a.json")
    assert "is named twice" in str(done.exception)
    assert not (tmp_path / "a.json").exists()


def _cell(place, refuted, met):
    steps = [Step(refuted, "refuted")] if refuted else []
    return Cell(place, place, None, (*steps, *([Step(met, "met")] if met else [])))


@pytest.mark.parametrize(
    ("last", "words"),
    [
        (_cell(3.0, 4_000, None), "grows"),
        (_cell(3.0, 5, None), ""),
        (_cell(3.0, 5, 10), "no growth shown"),
        (_cell(3.0, 10, 11), "grows"),
    ],
)
def test_growth_follows_from_the_brackets_of_both_ends_even_if_the_last_was_never_met(last, words):
    cells = (_cell(1.0, 9, 10), _cell(2.0, 9, 10), last)
    assert CurveResult("a", "", "grows", cells).found == words
    assert CurveResult("a", "", "", (_cell(1.0, 9, None), *cells[1:])).found == ""
    assert CurveResult("a", "", "", ()).found == ""


def test_the_command_prints_growth_as_the_brackets_show_it(monkeypatch, capsys):
    curve = CurveResult("a", "", "", (_cell(1.0, 9, 10), _cell(2.0, 9, 10), _cell(3.0, 4_000, None)))
    result = StudyResult("s", "s", "c", axis="d", curves=(curve,))
    monkeypatch.setattr(studies, "cells_of", lambda *_, **__: result)
    studies._one(SimpleNamespace(name="s", summary="s"), store=None, terms={}, jobs=1)
    assert "it grows; the last value was never met" in capsys.readouterr().out
