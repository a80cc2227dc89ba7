"""A and A*: the accuracy they claim, on problems that are hard for them."""

import pytest

from audit import PAC, Verdict
from audit.utility.front import audit_utility
from learners import AmplifiedParityLearner, ParityLearner
from learners.parity import Plan

#: The problems on which the learners fail most often. The others are variants of these: other targets and
#: points.
HARD = {"rarely uniform", "uniform, target 0", "a point just below alpha", "a point just above alpha"}


@pytest.mark.parametrize(
    "learner",
    [
        AmplifiedParityLearner(6, 1.0, form="retry", alpha=0.2),
        AmplifiedParityLearner(8, 1.0, form="selection", tight=True, alpha=0.2),
        AmplifiedParityLearner(4, 0.5, form="held-out", tight=True, alpha=0.2, beta=0.2),
        ParityLearner(16, 1.0, alpha=0.1),
        ParityLearner(2, 3.0, tight=True, beta=0.4),
    ],
    ids=lambda learner: getattr(learner, "form", f"A-{learner.dimension}"),
)
def test_the_claimed_accuracy_is_met_on_hard_problems(learner):
    problems = [problem for problem in learner.problems() if problem.name in HARD]
    assert len(problems) == len(HARD)
    result = audit_utility(learner, problems=problems, exact=False, budget=12_000)
    assert result.claim == learner.utility_claim == PAC(learner.alpha, learner.beta)
    assert result.verdict is Verdict.NOT_REFUTED


def test_a_plan_with_too_few_examples_is_refuted():
    derived = AmplifiedParityLearner(8, 1.0, form="retry", tight=True).plan
    learner = AmplifiedParityLearner(
        8, 1.0, form="retry", tight=True, made=Plan(derived.candidates, derived.training // 2)
    )
    assert learner.failure_bound > 0.1
    assert learner.utility_claim is None
    assert audit_utility(learner, PAC(0.1, 0.1), exact=False).verdict is Verdict.REFUTED
