"""Correct mechanisms, each broken in one way that the audit must name."""

import math
import random
import secrets
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from audit import ApproximateDP, FaultKind, PureDP, audit_privacy
from audit.catalogue import matching_entries
from audit.privacy import make_task
from audit.subject.subject import adapt

K, ADD = FaultKind, "add-or-remove-one"
PAIRS = {
    "laplace": ([0, 1, 0], [0, 1, 1]),
    "geometric": ([0, 1, 0], [0, 1, 1]),
    "laplace-mean": ([0.0, 1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0, 1.0]),
    "exponential": ([("a",), ("b",), ("b",)], [("a",), ("b",), ("a",)]),
    "kary-randomized-response": ([0], [1]),
    "label-response": ([("x", 0), ("y", 0)], [("x", 1), ("y", 0)]),
}


@pytest.fixture(autouse=True)
def _fewer_counted(monkeypatch):
    """Count outputs in 1,000 runs of each side instead of 3,000."""
    monkeypatch.setattr("audit.faults.counted.COUNTED", 1_000)


def mechanism(name):
    [entry] = [each for each in matching_entries(name) if each.name == name]
    made = entry.factory()
    if name == "exponential":
        return replace(made, solutions=("a", "b", "c"), records=tuple((c,) for c in "abc"), size=3)
    return made


class Wide:
    def __init__(self, rng, factor):
        self.rng, self.factor = rng, factor

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def laplace(self, loc, scale, *size):
        return self.rng.laplace(loc, scale * self.factor, *size)

    def geometric(self, p, *size):
        return self.rng.geometric(-math.expm1(math.log1p(-p) / self.factor), *size)


def twice(inner, public):
    def same_noise(database, rng):
        seed = int(rng.integers(2**62))
        return inner(database, np.random.default_rng(seed)), inner(public, np.random.default_rng(seed))

    return same_noise


def raising(inner, one):
    def raises(database, rng):
        if database == one:
            raise ValueError("not supported")
        return inner(database, rng)

    return raises


WAYS = {
    "a third of the noise": (lambda m, pair: replace(m, epsilon=3 * m.epsilon), {K.NOISE_TOO_SMALL}),
    "the same noise twice": (lambda m, pair: twice(m, pair[0]), {K.NOISE_REUSED}),
    "a fixed seed": (lambda m, pair: lambda db, rng: m(db, np.random.default_rng(7)), {K.FIXED_SEED}),
    "an exact part": (lambda m, pair: lambda db, rng: (m(db, rng), repr(db)), {K.UNNOISED_PART}),
    "a scale from data": (
        lambda m, pair: lambda db, rng: m(db, Wide(rng, 1 if db == pair[0] else 8)),
        {K.DATA_DEPENDENT_NOISE},
    ),
    "raising on one side": (lambda m, pair: raising(m, pair[1]), {K.RAISES_OR_MISSING}),
    "keys": (
        lambda m, pair: lambda db, rng: {f"{k}": rng.laplace(0.0, 9.0) for k in (*db, len(db) * db[-1])},
        {K.DATA_DEPENDENT_DOMAIN},
    ),
}
#: Mutations that do not apply: the mechanism draws no noise with a scale, happens to give the same answer
#: with the fixed seed, or would need different keys.
SPARED = {
    ("kary-randomized-response", "a scale from data"),
    ("label-response", "a scale from data"),
    ("exponential", "a scale from data"),
    ("exponential", "a fixed seed"),
    ("laplace", "keys"),
    ("geometric", "keys"),
    ("laplace-mean", "keys"),
}
MUTANTS = [(name, way) for name in PAIRS for way in WAYS if (name, way) not in SPARED]


@pytest.mark.parametrize(("name", "way"), MUTANTS)
def test_a_mutant_is_named_after_what_was_done_to_it(name, way, examined):
    made, pair = mechanism(name), PAIRS[name]
    spoil, kinds = WAYS[way]
    fault = examined(adapt(spoil(made, pair)), pair, made.claim, made.relation)
    assert fault.kind in kinds, fault.words
    if way == "a third of the noise" and fault.factor is not None:
        assert fault.factor == pytest.approx(3.0)


@pytest.mark.parametrize("name", PAIRS)
def test_an_unspoilt_mechanism_has_no_fault(name, examined):
    made = mechanism(name)
    fault = examined(adapt(made), PAIRS[name], made.claim, made.relation)
    assert fault.kind is K.UNKNOWN
    assert fault.factor is None


def rarely_less_noise(database, rng):
    """Return a sum whose noise is too small with probability 0.01, less than delta."""
    return sum(database) + rng.laplace(0.0, 0.01 if rng.random() < 0.01 else 1.0)


def rarely_in_the_clear(database, rng):
    return sum(database) + rng.laplace(0.0, 1.0), database[0] if rng.random() < 0.004 else -1


@pytest.mark.parametrize("correct", [rarely_less_noise, rarely_in_the_clear])
def test_a_loss_that_delta_allows_is_no_fault(correct, examined):
    assert examined(adapt(correct), ([0], [1]), ApproximateDP(1.0, 0.02)).kind is K.UNKNOWN


#: The last of these mechanisms uses a private choice to decide which draw is added to which output.
CONTROLS = (
    *("laplace-histogram", "randomized-response", "noisy-max-laplace"),
    *("sparse-vector", "threshold-release", "point-sanitizer-64"),
)


@pytest.mark.parametrize("name", CONTROLS)
def test_an_examination_of_a_mechanism_that_keeps_its_claim_names_nothing(name, examined):
    [entry] = [each for each in matching_entries(name) if each.name == name]
    task = make_task(entry.factory(), **entry.options_for("privacy"))
    pairs = [path for path in islice(task.databases.proposals(np.random.default_rng(0)), 4) if len(path) == 2]
    for pair in pairs[:2]:
        fault = examined(task.subject, pair, task.claim, task.relation)
        assert fault.kind is K.UNKNOWN, fault.words
    assert pairs


OWN = {
    "numpy.random": lambda db: sum(db) + np.random.laplace(0.0, 0.5),  # noqa: NPY002 - code that is audited
    "RandomState": lambda db: sum(db) + np.random.RandomState().laplace(0.0, 0.5),
    "default_rng": lambda db: sum(db) + np.random.default_rng().laplace(0.0, 0.5),
    "random": lambda db: sum(db) + random.expovariate(2.0) - random.expovariate(2.0),
}


@pytest.mark.parametrize("name", OWN)
def test_code_that_draws_its_own_noise_is_seen_too(name, examined):
    fault = examined(adapt(OWN[name]), ([0], [1]), PureDP(1.0))
    assert (fault.kind, fault.factor) == (K.NOISE_TOO_SMALL, pytest.approx(2.0))


def test_selection_by_secrets_is_counted(examined):
    def coin(database):
        return int(secrets.randbelow(100) < (90 if database == [0] else 10))

    fault = examined(adapt(coin), ([0], [1]), PureDP(1.0))
    assert fault.kind is K.NOISE_TOO_SMALL
    # the substitute for the system's randomness has a seed
    assert fault == examined(adapt(coin), ([0], [1]), PureDP(1.0))


def test_an_output_without_noise_is_shown_as_the_mechanism_returns_it(examined):
    fault = examined(adapt(lambda database: {"ab"[database[0]]}), ([0], [1]), PureDP(1.0))
    assert fault.words.startswith("The output is {'a'} in every run on the left and {'b'} on the right.")


def test_unseen_noise_is_reported(examined):
    def from_bits(database):
        return sum(database) + np.random.PCG64().random_raw() / 2**64

    fault = examined(adapt(from_bits), ([0], [1]), PureDP(1.0))
    assert fault.kind is K.UNKNOWN
    assert "saw no draw" in fault.words


def test_normal_noise_is_too_small_by_the_factor_that_its_exact_delta_needs(examined):
    claim = ApproximateDP(1.0, 1e-5)
    delta = lambda move: norm.cdf(move / 2 - 1 / move) - math.e * norm.cdf(-move / 2 - 1 / move)  # noqa: E731
    enough = 1.0 / brentq(lambda move: delta(move) - 1e-5, 0.01, 1.0)  # Balle and Wang 2018, Theorem 8
    fault = examined(adapt(lambda db, rng: sum(db) + rng.normal(0.0, enough / 4)), ([0], [1]), claim)
    assert fault.kind is K.NOISE_TOO_SMALL
    assert fault.factor == pytest.approx(4.0, rel=1e-3)
    spared = examined(adapt(lambda db, rng: sum(db) + rng.normal(0.0, enough * 1.001)), ([0], [1]), claim)
    assert spared.kind is K.UNKNOWN


def test_a_record_a_thousand_times_as_large_shows_that_nothing_clips():
    def loose(database, rng):
        return sum(database) + rng.laplace(0.0, 1.0)

    result = audit_privacy(loose, PureDP(1.0), records=[0.0, 5.0, 5000.0], size=1)
    assert result.fault.kind is K.NOT_CLIPPED
    assert "by 5,000 if the record is a thousand times as large" in result.fault.words
    bounded = audit_privacy(loose, PureDP(1.0), records=[0.0, 5.0], size=1)
    assert (bounded.fault.kind, bounded.fault.factor) == (K.NOISE_TOO_SMALL, 5.0)


def test_the_same_geometric_noise_in_two_outputs_is_one_draw(examined):
    """Whole numbers may be equal by chance in one run, but not in all 42.

    Each output alone keeps the claim.
    """

    def inner(database, rng):
        return 50 * sum(database) + int(rng.geometric(0.02)) - int(rng.geometric(0.02))

    fault = examined(adapt(twice(inner, [0])), ([0], [1]), PureDP(1.0))
    assert fault.kind is K.NOISE_REUSED, fault.words


def test_budget_spent_on_two_separate_draws(examined):
    def both(database, rng):
        return sum(database) + rng.laplace(0.0, 1.0), max(database) + rng.laplace(0.0, 1.0)

    fault = examined(adapt(both), ([0], [1]), PureDP(1.0))
    assert (fault.kind, fault.factor) == (K.BUDGET_SPENT_TWICE, 2.0)


def test_a_move_is_given_in_units_of_the_draws_if_they_reach_the_output_unevenly(examined):
    """In every run a shift of the draw by 1 hides the move.

    The denominator varies, so the move of the output varies too.
    """

    def share(database, rng):
        return (sum(database) + rng.laplace(0.0, 0.5)) / (0.001 + rng.random())

    def several(database, rng):
        return 2 * sum(database) + rng.laplace(0.0, 1.0), sum(database) + rng.laplace(0.0, 4.0)

    def normal(database, rng):
        return sum(database) + 3.0 * rng.standard_normal()

    said = [examined(adapt(each), ([0], [1]), PureDP(1.0)).words for each in (share, several, normal)]
    assert "has to shift by 1 to hide what moves" in said[0]
    assert "output[0] moves by 2, output[1] by 1." in said[1]
    assert "`standard_normal`, times 3, covers less than that at ε = 1" in said[2]
    assert "Normal noise of any scale breaks a claim without δ" in said[2]


def test_the_cheapest_of_two_draws_in_one_sum_counts(examined):
    def two(database, rng):
        return 3 * sum(database) + rng.laplace(0.0, 0.5) + rng.laplace(0.0, 1.0)

    fault = examined(adapt(two), ([0], [1]), PureDP(1.0))
    assert (fault.kind, fault.factor) == (K.NOISE_TOO_SMALL, pytest.approx(3.0))


def test_a_curved_output_whose_noise_covers_the_move_has_no_fault(examined):
    """The noise covers the move of 0.9.

    The output is the cube of the noisy sum. Judged by its slope near 0, the noise would seem far too
    small.
    """
    fault = examined(
        adapt(lambda db, rng: (0.9 * sum(db) + rng.laplace(0.0, 1.0)) ** 3), ([0], [1]), PureDP(1.0)
    )
    assert fault.kind is K.UNKNOWN


def test_the_scale_of_a_threshold_comes_before_what_it_releases(examined):
    def release(database, rng):
        noise = rng.laplace(0.0, 1.0 if len(database) == 1 else 5.0)
        return "many" if len(database) > 1 and noise > 6.0 else "few"

    fault = examined(adapt(release), ([0], [0, 1]), ApproximateDP(1.0, 1e-2), ADD)
    assert fault.kind is K.DATA_DEPENDENT_NOISE
    assert "scale=1.0 on the left and scale=5.0" in fault.words


def test_values_of_a_subject_are_shown_short_and_visible(examined):
    def hostile(database, rng):
        rng.laplace(0.0, 1.0)
        return {"\x1b[31m" + "k" * 500: 1} if len(database) > 1 else {}

    fault = examined(adapt(hostile), ([0], [0, 1]), PureDP(1.0), ADD)
    assert fault.kind is K.DATA_DEPENDENT_DOMAIN or fault.kind is K.UNNOISED_PART
    assert len(fault.words) < 400
    assert "\x1b" not in fault.words


def test_a_fixed_seed_is_named_even_if_a_bound_hides_its_noise(examined):
    def clamped(database, _):
        noise = np.random.default_rng(7).laplace(0.0, 1e-9)
        return min(sum(database), 1.0), sum(database) + noise

    fault = examined(adapt(clamped), ([0], [1]), PureDP(1.0))
    assert fault.kind is K.FIXED_SEED
