"""A saved failure is measured anew, by its problem and by laws.

Laws are used if laws refuted the claim.
"""

from dataclasses import dataclass

import pytest

from audit import PAC, Accuracy, audit_utility
from audit.distributions import Finite
from audit.doors.cli import main
from audit.errors import AuditError
from audit.problems import FixedProblem
from audit.results.saved import save
from audit.utility.result import UtilityResult


@dataclass(frozen=True)
class Bias:
    """A problem that can be saved in a file. Only the output 1 is right."""

    name: str
    size: int

    def draw(self, rng):
        return [0] * self.size

    def error(self, output, database):
        return float(output != 1 and database == [0] * self.size)


class Found:
    """A learner that fails only on problems of size 2."""

    utility_claim = PAC(0.25, 0.1)

    def __init__(self, *, repaired=False):
        self.repaired = repaired

    def __call__(self, database, rng):
        return int(self.repaired or len(database) != 2) or int(rng.random() < 0.3)

    def problems(self):
        return [Bias("known", 1)]

    def random(self, rng):
        return Bias("found", 2)


class Differently(Found):
    """A learner that fails where `Found` fails, but with an output that was not saved."""

    def __call__(self, database, rng):
        return 1 if len(database) != 2 else -1


@pytest.mark.parametrize(
    "through", [lambda result: result, lambda r: UtilityResult.from_json(r.to_json())], ids=["live", "file"]
)
def test_the_error_of_a_problem_that_the_search_found_is_measured(through):
    result = audit_utility(Found())
    assert result.refuted
    assert result.witness.problem.startswith("found")
    saved = through(result)
    assert saved.replay(Found()).failure == 1.0
    other = saved.replay(Differently())
    assert (other.failure, other.output, other.repeats) == (1.0, -1, False)
    assert saved.replay(Found(repaired=True)).failure == 0.0


class Lawful:
    """A learner that fails with probability p, and declares this as its law."""

    def __init__(self, p):
        self.p = p

    def __call__(self, database, rng):
        return int(rng.random() < self.p)

    def distribution(self, database):
        return Finite([0, 1], [1 - self.p, self.p])


FIXED = FixedProblem("fixed", [0], lambda output, database: float(output))


def test_a_refutation_by_laws_is_computed_anew():
    """Occasional failures refute nothing, because the claim allows 0.05."""
    result = audit_utility(Lawful(0.5), PAC(0.25, 0.1), problems=[FIXED])
    assert (result.refuted, result.evidence.value) == (True, "exact")
    again = result.replay(Lawful(0.5))
    assert (again.refutes, again.failure) == (True, 0.5)
    again = result.replay(Lawful(0.05))
    assert (again.refutes, again.failure) == (False, pytest.approx(0.05))
    with pytest.raises(AuditError, match="do not give its failure probability"):
        result.replay(lambda database, rng: 0)


def code_of(arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    return left.value.code


MINE = """
from audit import PAC
from audit.distributions import Finite
from audit.problems import FixedProblem

class Lawful:
    utility_claim = PAC(0.25, 0.1)

    def __init__(self, p=0.5):
        self.p = p
        self.parameters = {"p": p}

    def __call__(self, database, rng):
        return int(rng.random() < self.p)

    def distribution(self, database):
        return Finite([0, 1], [1 - self.p, self.p])

    def problems(self):
        return [FixedProblem("fixed", [0], lambda output, database: float(output))]
"""


def test_the_command_line_does_not_refute_a_repaired_learner(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MINE)
    save(audit_utility(Lawful(0.5), PAC(0.25, 0.1), problems=[FIXED]), tmp_path / "w.json")
    assert code_of(["replay", "w.json", "mine.py:Lawful"]) == 1
    assert code_of(["replay", "w.json", "mine.py:Lawful", "--set", "p=0.05"]) == 0
    assert "fails with probability at most beta" in capsys.readouterr().out


class Nameless:
    """An output that no file can keep."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Nameless) and self.value == other.value

    __hash__ = None


def nameless(database, rng):
    return Nameless(float(rng.random()))


def test_an_output_that_no_file_can_keep_is_compared_while_it_is_there():
    problem = FixedProblem("always off", [0], lambda output, database: 1.0)
    result = audit_utility(nameless, Accuracy(alpha=0.5, beta=0.1), problems=[problem])
    assert result.refuted
    live = result.replay(problems=[problem])
    saved = UtilityResult.from_json(result.to_json()).replay(nameless, problems=[problem])
    assert (live.repeats, saved.repeats) == (True, None)
