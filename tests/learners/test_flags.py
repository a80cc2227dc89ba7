"""Flags must be True or False, not a string such as "false"."""

import pytest

from audit.doors.cli import main
from audit.doors.cli.reading import read_parameters
from audit.errors import InvalidKind
from learners.approximate.point import PointLearner
from learners.approximate.sources import NumberSource
from learners.masked.algorithms import WeakLearner
from learners.parity.amplified import AmplifiedParityLearner
from learners.parity.flawed import OverspentParityRetry
from learners.parity.learner import ParityLearner
from learners.parity.multisets import ParityLearnerMultisets
from learners.sanitizers.points import PointSanitizer
from mechanisms.local.averaging.averages import LaplaceAverage
from mechanisms.local.laplace import LocalLaplace
from mechanisms.local.protocols import InteractiveProtocol
from mechanisms.local.sign import SignResponse
from mechanisms.noise.mean import LaplaceMean
from mechanisms.queries import StatisticalQuery
from mechanisms.selection.choosing import ChoosingMechanism
from mechanisms.selection.exponential import ExponentialMechanism
from mechanisms.selection.stability import StableSelection

FLAGS = [
    (ParityLearner, "tight", {}),
    (AmplifiedParityLearner, "tight", {}),
    (OverspentParityRetry, "tight", {}),
    (ParityLearnerMultisets, "tight", {}),
    (PointLearner, "tight", {}),
    (PointSanitizer, "proper", {}),
    (WeakLearner, "constant", {"dimension": 4}),
    (NumberSource, "spread", {"dimension": 2, "atoms": ((0, 1.0),)}),
    (StableSelection, "vectorised", {}),
    (ExponentialMechanism, "vectorised", {}),
    (ChoosingMechanism, "vectorised", {}),
    (LaplaceMean, "clamp", {}),
    (LocalLaplace, "vectorised", {}),
    (LaplaceAverage, "vectorised", {}),
    (SignResponse, "vectorised", {}),
    (InteractiveProtocol, "coins", {"epsilon": 1.0, "size": 1, "algorithm": abs}),
    (StatisticalQuery, "boolean", {"function": abs, "tau": 0.1}),
]


@pytest.mark.parametrize(("kind", "name", "settings"), FLAGS, ids=[kind.__name__ for kind, _, _ in FLAGS])
def test_anything_but_a_boolean_is_refused(kind, name, settings):
    for value in ("false", "nonsense", 1, None):
        with pytest.raises(InvalidKind, match=f"`{name}` of .* must be True or False; got"):
            kind(**settings, **{name: value})


@pytest.mark.parametrize(
    ("text", "tight"), [("false", False), ("False", False), ("true", True), ("True", True)]
)
def test_the_command_line_reads_true_and_false(text, tight):
    assert ParityLearner(**read_parameters([f"tight={text}"])).tight is tight


def test_the_command_line_refuses_nonsense_in_one_line(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "learners:ParityLearner", "--set", "tight=nonsense"])
    words = capsys.readouterr().err
    assert words.endswith("The `tight` of `ParityLearner` must be True or False; got 'nonsense'.\n")
    assert words.count("\n") == 1
