"""The e-value against a declared law is valid and detects wrong samplers."""

import itertools
import math

import numpy as np
import pytest

from audit.distributions import Countable, Density, Finite, Mixture, Product
from audit.laws.law_check import _log_factors, law_log_e_value
from audit.values.outcomes import Raised, Unfinished

LIMIT = math.log(1e6)
SIXTEEN = Finite([f"outcome {i}" for i in range(16)], np.full(16, 1 / 16))
LAWS = {
    "finite": SIXTEEN,
    "skewed": Finite(range(50), np.arange(1, 51) / 1275),
    "laplace": Density.laplace(2.0, 3.0),
    "normal": Density.normal(),
    "geometric": Countable.geometric(5, 2.0),
    "clamped": Mixture.from_clamped(Density.laplace(), -1.0, 1.0),
    "refusing": Mixture(["refused"], Density.uniform(), probabilities=[0.25]),
    "vector": Product([Density.laplace(), Density.normal(), Countable.geometric()]),
    "raising": Finite([0, 1, Raised("ValueError", "no")], [0.5, 0.25, 0.25]),
}


def multisets(probabilities, outcomes, *, size):
    """Yield every multiset of `size` outcomes, and its probability."""
    for outputs in itertools.combinations_with_replacement(outcomes, size):
        counts = [outputs.count(outcome) for outcome in outcomes]
        orders = math.factorial(size) / math.prod(map(math.factorial, counts))
        yield outputs, orders * math.prod(map(pow, probabilities, counts))


@pytest.mark.parametrize("probabilities", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.3, 0.5], [0.1, 0.2, 0.3, 0.4]])
def test_by_enumeration_the_expectation_under_the_law_is_one(probabilities):
    outcomes = "abcd"[: len(probabilities)]
    law = Finite(outcomes, probabilities)
    drawn = multisets(probabilities, outcomes, size=6)
    total = sum(weight * math.exp(law_log_e_value(law, outputs)) for outputs, weight in drawn)
    assert total == pytest.approx(1.0, abs=1e-12)


def test_by_enumeration_unfinished_runs_only_lower_the_expectation():
    law = Finite("abc", [0.2, 0.3, 0.5])
    total = 0.0
    for outputs, weight in multisets([0.2, 0.3, 0.5], "abc", size=6):
        # the worst censoring: the rarest outcome is never observed
        seen = [Unfinished("time limit") if outcome == "a" else outcome for outcome in outputs]
        total += weight * math.exp(law_log_e_value(law, seen))
    assert total <= 1.0 + 1e-12


@pytest.mark.parametrize("name", LAWS)
def test_a_right_sampler_is_not_accused(name):
    """A false alarm has probability at most 2e-8.

    There are 20 checks of 2,000 draws. Each e-value passes 1e9 with probability at most 1e-9.
    """
    law, rng = LAWS[name], np.random.default_rng(11)
    assert max(law_log_e_value(law, law.sample(2000, rng)) for _ in range(20)) < math.log(1e9)


@pytest.mark.parametrize("name", LAWS)
def test_the_e_value_is_a_mean_over_partitions_of_e_values_with_expectation_one(name):
    """The mean and the expectation are exact, given the probabilities of the cells."""
    law = LAWS[name]
    outputs, found = law.sample(30, np.random.default_rng(12)), []
    for partition in law.partitions():
        logs = partition.log_probabilities
        probabilities, cells = np.exp(logs), len(logs)
        assert probabilities.sum() == pytest.approx(1.0, abs=1e-12)
        total = 0.0
        for drawn, weight in multisets(probabilities, range(cells), size=2 if cells <= 8 else 1):
            counts = np.bincount(drawn, minlength=cells)
            total += weight * math.exp(_log_factors(counts, logs, missing=0))
        assert total == pytest.approx(1.0, abs=1e-9)
        found.append(_log_factors(np.bincount(partition.locate(outputs), minlength=cells), logs, missing=0))
    assert math.exp(law_log_e_value(law, outputs)) == pytest.approx(np.exp(found).mean(), rel=1e-9)


WRONG = {
    "a scale off by 10 %": (
        Density.laplace(),
        lambda rng: 1.1 * Density.laplace().sample(20_000, rng),
        0.0044,
    ),
    "a shift": (Density.laplace(), lambda rng: 0.1 + Density.laplace().sample(20_000, rng), 0.00484),
    "another shape": (Density.normal(), lambda rng: rng.logistic(0.0, math.sqrt(3) / math.pi, 20_000), 0.01),
    "one outcome's probability off": (
        SIXTEEN,
        lambda rng: [f"outcome {i}" for i in rng.choice(17, 20_000) % 16],
        0.0209,
    ),
    "a missing atom": (
        Mixture.from_clamped(Density.laplace(), -3.0, 3.0),
        lambda rng: np.clip(Density.laplace().sample(20_000, rng), -3.0, 2.9999),
        math.inf,
    ),
    "coordinates that share their noise": (
        Product([Density.laplace()] * 3),
        lambda rng: np.repeat(Density.laplace().sample(20_000, rng)[:, None], 3, axis=1),
        math.inf,
    ),
    "one coordinate too noisy": (
        Product([Density.laplace()] * 3),
        lambda rng: Density.laplace().sample(60_000, rng).reshape(-1, 3) * [1.0, 1.2, 1.0],
        0.0177,
    ),
    "a one-sided geometric law": (
        Countable.geometric(0, 2.0),
        lambda rng: np.abs(Countable.geometric(0, 2.0).sample(20_000, rng)),
        math.inf,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_sampler_is_seen_within_20_000_draws(name):
    """20,000 draws have a divergence of more than six times `LIMIT` nats."""
    law, wrong, nats = WRONG[name]
    assert nats * 20_000 > 6 * LIMIT
    assert law_log_e_value(law, wrong(np.random.default_rng(13))) > LIMIT


@pytest.mark.parametrize(
    ("law", "output"),
    [
        (SIXTEEN, "outcome 16"),
        (SIXTEEN, Raised("ValueError", "no")),
        (Density.uniform(), 1.5),
        (Density.laplace(), "text"),
        (Density.laplace(), math.nan),
        (Density.laplace(), True),
        (Density.laplace(), None),
        (Countable.geometric(), 0.5),
        (Finite(range(3), [0.5, 0.5, 0.0]), 2),
        (LAWS["clamped"], 1.5),
        (LAWS["vector"], (0.0, 0.0)),
        (LAWS["vector"], 0.0),
        (LAWS["vector"], (0.0, 0.0, 0.5)),
    ],
)
def test_an_output_outside_the_support_refutes_the_law(law, output):
    assert law_log_e_value(law, [*law.sample(5, np.random.default_rng(0)), output]) == math.inf


def test_outputs_rounded_across_the_edge_of_the_support_are_inside():
    law = Density.uniform(0.1 + 0.2, 1.0)
    assert math.isfinite(law_log_e_value(law, [0.3, 1.0]))


def test_lists_tuples_and_arrays_of_vectors_are_the_same():
    law = LAWS["vector"]
    matrix = law.sample(200, np.random.default_rng(1))
    values = {
        law_log_e_value(law, form)
        for form in (matrix, matrix.tolist(), list(map(tuple, matrix)), list(matrix))
    }
    assert len(values) == 1


def test_the_order_of_outputs_does_not_matter():
    law, rng = LAWS["vector"], np.random.default_rng(2)
    matrix = law.sample(300, rng)
    assert law_log_e_value(law, matrix) == pytest.approx(
        law_log_e_value(law, rng.permutation(matrix)), abs=1e-9
    )


def test_without_draws_the_e_value_is_one():
    assert law_log_e_value(Density.laplace(), []) == 0.0
    assert law_log_e_value(Density.laplace(), [Unfinished("time limit")] * 3) == 0.0
