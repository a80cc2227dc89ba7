"""Privacy audits of algorithms that run on noisy labels.

Some audit the output alone, some the whole transcript.
"""

import numpy as np
import pytest

from audit import Verdict, audit_privacy
from audit.catalogue import load_catalogue
from audit.claims import PureDP
from mechanisms.flawed.noisy_labels import ReusedExamples
from mechanisms.local import laplace_size
from mechanisms.queries import BoundedNoiseRun, NoisyRun
from mechanisms.queries.runs.noisy_runs import COARSE

RNG = np.random.default_rng
ENTRIES = {entry.name: entry for entry in load_catalogue()}


@pytest.mark.parametrize(
    "name", ["noisy-labels-sq-algorithm-local-coarse", "bounded-noise-sq-learner-coarse"]
)
def test_a_claim_of_a_quarter_of_epsilon_is_refuted_on_few_examples(name):
    entry = ENTRIES[name]
    run = entry.factory()
    less = audit_privacy(run, PureDP(run.epsilon / 4), **{**entry.options, "recorded": False})
    assert less.verdict is Verdict.REFUTED


def test_the_output_alone_hides_the_reuse_of_examples():
    # The output is one bit, computed from six noisy answers, so it hides the fault. The transcript shows it
    # (`test_catalogue_audit`): the event is that the first answers for both rates are at most their values
    # without noise. It has probability 1/4 on the constant database and e^−2/4 on its neighbour, a loss of 2
    # for a claim of 1.
    assert len(ReusedExamples(epsilon=1.0, **COARSE).rates) == 2
    hidden = ReusedExamples(epsilon=1.0, **COARSE | {"view": "output"})
    result = audit_privacy(hidden, budget=600, significance=1e-7, pairs=hidden.suggested_pairs()[:1])
    assert (result.verdict, result.epsilon_lower < 0.5) == (Verdict.NOT_REFUTED, True)


def test_a_transcript_holds_every_report_or_every_private_answer_and_gives_the_output():
    local = {"model": "local", "epsilon": 4.0, "eta": 0.1, "tau": 1.5, "beta": 0.5}
    reports = NoisyRun(view="transcript", **local)
    said = reports([(1, 1)] * reports.size, RNG(3))
    # Two queries have two parts each, with tolerances (1 − 2η)τ/2 and τ/2, capped at half their width (2,
    # then 1).
    label, plain = (laplace_size(tau=tau, beta=0.125, epsilon=4.0) for tau in (0.6, 0.75))
    narrow = laplace_size(tau=0.5, beta=0.125, epsilon=4.0, bound=0.5)
    assert len(said) == label + plain + 2 * narrow + 4
    mean, middle = said[label + plain : label + plain + 2]
    assert mean == pytest.approx(np.mean(said[:label]))
    output = NoisyRun(**local)([(1, 1)] * reports.size, RNG(3))
    assert output[0] == pytest.approx(mean / (1 - 2 * 0.1) + middle)

    central = NoisyRun(view="transcript")
    said = central([(1, 1)] * central.size, RNG(3))
    output = NoisyRun()([(1, 1)] * central.size, RNG(3))
    assert output == pytest.approx((said[0] / 0.5 + said[1], said[2] / 0.5 + said[3]))

    grid = BoundedNoiseRun(epsilon=1.0, **COARSE)
    said = grid([(0, -1)] * grid.size, RNG(3))
    assert len(said) == 3 * len(grid.rates) == 6
    for run in (reports, central, grid):
        assert run.utility_claim is None


def test_an_entry_too_large_to_audit_names_the_entry_that_audits_its_privacy():
    told = {name: entry for name, entry in ENTRIES.items() if "; privacy: " in entry.summary}
    assert told
    for name, entry in told.items():
        assert (entry.options, entry.utility_expected) == (None, "not refuted")
        where = ENTRIES[entry.summary.rpartition("; privacy: ")[2]]
        assert where.name == f"{name}-coarse"
        assert where.options is not None
        assert type(where.factory()) is type(entry.factory())
