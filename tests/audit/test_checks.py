"""`check_subject` names each wrong declaration in one line."""

import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from audit import PAC, PureDP, Verdict, audit_privacy, check_subject, parametrize_with_checks
from audit.catalogue import GROUP, Entry, load_catalogue
from audit.doors.cli import main
from audit.problems import FixedProblem

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CALL = "int(self.sample(database, 1, rng)[0])"


def made_of(text):
    """Return the class that an example defines."""
    space = {"__name__": "example"}
    exec(text, space)
    return space["CoinSurvey"]


def fault_of(subject):
    """Return the error of the failed check, which must be one line."""
    with pytest.raises(AssertionError) as caught:
        check_subject(subject)
    said = str(caught.value)
    assert "\n" not in said
    return said


def test_the_page_for_newcomers_is_short():
    assert len(PAGE.splitlines()) <= 60


def test_the_example_is_listed_audited_as_expected_and_passes_its_checks(thirdparty, tmp_path, capsys):
    thirdparty(GROUP, entry="coin_package", text="")
    (tmp_path / "site/coin_package.py").unlink()
    (tmp_path / "site/coin_package").mkdir()
    (tmp_path / "site/coin_package/__init__.py").touch()
    (tmp_path / "site/coin_package/coin_survey.py").write_text(EXAMPLE, encoding="utf-8")
    entry = {entry.name: entry for entry in load_catalogue()}["coin-survey"]
    assert audit_privacy(entry.factory(), **entry.options).verdict is Verdict.PROVED
    check_subject(entry)
    check_subject(entry.factory(epsilon=0.3))
    with pytest.raises(SystemExit, match="0"):
        main(["list", "coin-survey"])
    assert capsys.readouterr().out.startswith("coin-survey")


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("[self.truth, 1.0 - self.truth]", "[0.5, 0.5]", "law: outputs of calls on [0] do not follow"),
        ("database[0], 1 - database[0]]", "'yes', 'no']", "law: outputs of calls on [0] do not follow"),
        ("rng.random(size)", "rng.random(size + 1)", "sample: `sample(database, size, rng)` must"),
        ("np.where(rng", "database.reverse() or np.where(database.append(1) or rng", "input: "),
        ("return Finite", "database[0] = 1 - database[0]; return Finite", "input: `distribution` changes"),
        (CALL, "str(rng.random())", "sample: on [0] `sample` returns a number"),
        (CALL, "np.random.random()", "seed: the outputs of calls differ"),
        (CALL, "1 // 0", "calls: a call on a database of its domain raised"),
        ('{"epsilon": self.epsilon}', '{"eps": self.epsilon}', "parameters: `parameters` has 'eps'"),
        ('{"epsilon": self.epsilon}', '{"epsilon": 4.0}', "parameters: a subject built from"),
        ("PureDP(self.epsilon)", "self.epsilon", "claim: "),
        ("Relation.LOCAL", "Relation", "relation: "),
        ("(0, 1), 1\n", "(0,), 1\n", "databases: "),
        ('"coin-survey",', '"coin\\nsurvey",', "name: the `name` must be a text of one line"),
        ('"Warner 1965"', "1965", "name: the `reference` must be a text of one line"),
        ("truth =", "suggested_pairs = lambda self: [([0], [0])]\n    truth =", "suggested-pairs: "),
        ("truth =", "__reduce__ = None\n    truth =", "copies: it cannot be pickled"),
    ],
)  # fmt: skip
def test_a_wrong_declaration_gets_one_line(right, wrong, words):
    assert EXAMPLE.count(right) == 1
    survey = made_of(EXAMPLE.replace(right, wrong))(epsilon=1.5)
    assert words in fault_of(survey)


def test_only_what_is_declared_is_checked():
    class Bare:
        records, size = (0, 1), 2

        def __call__(self, database):
            return sum(database)

    check_subject(Bare())


def test_a_subject_without_databases_is_told_to_declare_them():
    assert "it declares no databases; give it `records` and `size`" in fault_of(lambda database, rng: 0)


def test_what_an_entry_gives_its_audit_is_checked_with_its_subject():
    given = {"claim": PureDP(1.0), "records": [0, 1], "size": 2}
    entry = Entry("zero", lambda: lambda database, rng: 0, options=given)
    check_subject(entry)
    apart = replace(entry, options={**given, "pairs": [([0, 1], [1, 0])]})
    assert "zero, databases: These databases are not neighbours" in fault_of(apart)
    assert "zero, claim: " in fault_of(replace(entry, options={**given, "claim": 1.0}))


def test_a_wrapper_that_reports_the_parameters_of_its_part_is_not_built_from_them():
    @dataclass
    class Part:
        epsilon: float = 1.0
        parameters = property(lambda self: {"epsilon": self.epsilon})

    @dataclass
    class Wrapper:
        part: object
        records, size = (0, 1), 1
        parameters = property(lambda self: self.part.parameters)

        def __call__(self, database, rng):
            return 0

    check_subject(Wrapper(Part()))
    check_subject(Entry("wrapper", partial(Wrapper, Part()), options={"claim": PureDP(1.0)}))
    assert "wrapper, claim: " in fault_of(Entry("wrapper", partial(Wrapper, Part())))


class Learner:
    """A learner that returns the share of ones.

    Its declared problem may be wrong.
    """

    name, utility_claim = "learner", PAC(0.5, 0.5)

    def __init__(self, error):
        self._problems = [FixedProblem("ones", [1, 1, 0], error)]

    def problems(self):
        return self._problems

    def __call__(self, database, rng):
        return sum(database) / len(database)


def _error(output, database):
    return abs(output - 1)


def _no_number(output, database):
    return "bad"


def _no_probability(output, database):
    return 7.0


def test_a_utility_claim_is_checked_on_problems_that_can_be_drawn_and_measured():
    check_subject(Learner(_error))
    assert "utility: the problem 'ones' must measure errors as numbers" in fault_of(Learner(_no_number))
    assert "are probabilities" in fault_of(Learner(_no_probability))


def test_checks_are_tests_of_their_own_with_readable_ids():
    @parametrize_with_checks([made_of(EXAMPLE)()])
    def test(subject, check):
        check(subject)

    [mark] = test.pytestmark
    assert [case.id for case in mark.args[1]][:4] == [
        "coin-survey-name",
        "coin-survey-claim",
        "coin-survey-relation",
        "coin-survey-databases",
    ]
    for case in mark.args[1]:
        test(*case.values)


class Budgeted:
    """A mechanism that answers once, then refuses."""

    def __init__(self):
        self.left = 1

    def __call__(self, database, rng):
        if not self.left:
            return "refused"
        self.left -= 1
        return sum(database) + rng.laplace()


class Decays(Budgeted):
    """A mechanism whose pickled copy has no answers left."""

    def __setstate__(self, state):
        self.left = 0


def test_with_fresh_the_pickled_copy_is_renewed_for_every_call_too():
    options = {"claim": PureDP(1.0), "records": [0, 1], "size": 3}
    check_subject(Entry("budgeted", Budgeted, options={**options, "fresh": Budgeted}))
    said = fault_of(Entry("decays", Decays, options={**options, "fresh": Decays}))
    assert said == "decays, copies: a pickled copy gives different outputs"
