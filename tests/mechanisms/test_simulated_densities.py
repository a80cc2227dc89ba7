"""Local algorithms whose answers have densities, run by statistical queries.

This is K11 Claims 5.9 and 5.10, with erratum N16.
"""

import math

import numpy as np
import pytest

from audit.errors import AuditError, InvalidKind, InvalidValue
from mechanisms.findings.densities import ORACLES, grid, rounds_densities, simulated_densities, value_density
from mechanisms.local import InteractiveProtocol, LocalLaplace, NonInteractiveProtocol
from mechanisms.noise.noises import GeometricNoise
from mechanisms.queries import AdversarialOracle, ExactOracle, Population
from mechanisms.queries.simulations.at_once import NonInteractiveSimulation
from mechanisms.queries.simulations.densities import DensityRandomizer, as_simulated
from mechanisms.queries.simulations.interactive import InteractiveSimulation
from mechanisms.queries.simulations.noisy_protocols import (
    average_bit,
    population,
    simulated_rounds,
    simulated_value,
)
from mechanisms.queries.simulations.protocol_simulation import ProtocolSimulation
from mechanisms.queries.simulations.simulation import RandomizerSimulation

COIN = Population([-1, 1])


def oracle_of(name, people):
    return ExactOracle(people) if name == "exact" else AdversarialOracle(people, name)


def accepted(access, oracle, answers):
    """Return the unnormalised density of accepted answers.

    It is the density of the proposal times the acceptance probability.
    """
    base = np.array([access.randomizer.likelihood([access.base], answer)[0] for answer in answers])
    asked = [[oracle.ask(query) for query in access.queries(answer)] for answer in answers]
    return base * np.array([float(access.acceptance(each)) for each in asked])


@pytest.mark.parametrize("name", ORACLES)
def test_accepted_answers_have_the_density_of_the_claims(name):
    answers = grid(4.0, 2.0) - 0.4  # no mean is 0 here; the sign of a zero would depend on rounding
    told = answers.tolist()
    for subject, densities in ((simulated_value(), value_density), (simulated_rounds(), rounds_densities)):
        people, terms = population(), subject.simulation.terms
        step = subject.simulation._begun()
        first = accepted(step.access, oracle_of(name, people), told)
        _, expected = densities(name, answers, epsilon=1.0, beta=0.3)
        if subject.simulation.accesses == 1:
            assert first / first.sum() == pytest.approx(expected / expected.sum(), rel=1e-9)
            continue
        for place in (len(told) // 2, len(told) // 2 + 1):
            after = step.after(told[place])
            second = accepted(after.access, oracle_of(name, people), told)
            row = expected[place]
            assert second / second.sum() == pytest.approx(row / row.sum(), rel=1e-9)
            assert after.access.epsilon == terms.epsilon
        assert first / first.sum() == pytest.approx(expected.sum(axis=1) / expected.sum(), rel=1e-9)


def test_the_distances_stay_within_beta_and_the_stated_bound():
    value, rounds = simulated_densities(1.0, 0.3)
    assert simulated_value().simulation.distance_bound == pytest.approx(0.1)
    assert max(value.values()) < 0.05 < 0.3
    assert max(rounds.values()) < 0.1 < 0.3
    assert value["exact"] < 1e-5
    # the adversary has a visible effect
    assert min(value[name] for name in ORACLES if name != "exact") > 0.005


def test_runs_follow_the_density_for_every_oracle():
    # 5 cells, 1,500 runs, significance 1e-6: a mass of 0.05 in the wrong cell is detected with probability
    # above 0.99
    subject, edges = simulated_value(), [-3.0, -1.0, 1.0, 3.0]
    answers = grid(2.0, 0.02)
    for name in ("entries", "random", "away-from-zero"):
        true, simulated = value_density(name if name in ORACLES else "exact", answers, epsilon=1.0, beta=0.3)
        density = simulated if name in ORACLES else true
        masses = np.bincount(np.digitize(answers, edges), weights=density * 0.02)
        drawn = [output[0] for output in subject.sample([name], 1500, np.random.default_rng(3))]
        counts = np.bincount(np.digitize(drawn, edges), minlength=5)
        statistic = float(((counts - 1500 * masses) ** 2 / (1500 * masses)).sum())
        assert statistic < 33.4  # the chi-square quantile for 4 degrees of freedom at 1e-6


def test_every_simulation_accepts_r_g():
    noisy, rng = DensityRandomizer(LocalLaplace(epsilon=0.5, records=(-1, 1))), np.random.default_rng(1)
    one = RandomizerSimulation(randomizer=noisy, base=-1, accesses=2, beta=0.2)
    assert isinstance(one.run(ExactOracle(COIN), rng), float)
    assert len(set(one.sample(ExactOracle(COIN), 50, rng).tolist())) == 50
    assert one.distance_bound == pytest.approx(0.2 / 12, rel=1e-3)
    twice = InteractiveSimulation(
        choose=lambda past: noisy if len(past) < 2 else None, base=-1, accesses=2, beta=0.3, epsilon=1.0
    )
    assert len(twice.run(ExactOracle(COIN), rng)) == 2
    assert sum(twice.sample(ExactOracle(COIN), 20, rng).values()) == 20
    protocol = NonInteractiveProtocol(
        queries=[([0, 1], noisy.randomizer), (0, noisy.randomizer)], size=2, records=(-1, 1)
    )
    whole = NonInteractiveSimulation(protocol=protocol, beta=0.3)
    session = ExactOracle(COIN).nonadaptive()
    assert len(whole.run(session, rng)) == 3
    assert whole.distance_bound == 0.3


def test_vectors_and_countable_answers_are_simulated_too():
    rng = np.random.default_rng(2)
    vector = LocalLaplace(epsilon=1.0, dimension=2, query=lambda u: (u, -u), records=(-1, 1))
    found = RandomizerSimulation(randomizer=as_simulated(vector, (-1, 1)), base=-1, accesses=1, beta=0.5).run(
        ExactOracle(COIN), rng
    )
    assert found.shape == (2,)

    class Counted(LocalLaplace):
        densities = None

        def sample(self, database, size, rng):
            return database[0] + GeometricNoise(0.5).sample(size, rng)

        respond = None

        def distribution(self, database):
            return GeometricNoise(0.5).law(database[0])

    law = as_simulated(Counted(epsilon=1.0), (-1, 1))
    assert law.likelihood([-1, 1], 1) == pytest.approx([math.tanh(0.25) * math.exp(-1), math.tanh(0.25)])
    assert isinstance(
        RandomizerSimulation(randomizer=law, base=-1, accesses=1, beta=0.5).run(ExactOracle(COIN), rng), int
    )


def test_a_density_that_breaks_its_claim_is_refused_at_the_first_question():
    class Bold(LocalLaplace):
        @property
        def scale(self):
            return 0.5

    # ratios reach e^4; the claim allows e^1
    simulation = RandomizerSimulation(
        randomizer=as_simulated(Bold(epsilon=1.0, records=(-1, 1)), (-1, 1)), base=-1, accesses=1, beta=0.5
    )
    with pytest.raises(AuditError, match="query"):
        simulation.sample(ExactOracle(COIN), 300, np.random.default_rng(0))


def test_laws_with_infinitely_many_answers_are_refused_and_the_error_names_the_bound():
    simulation = simulated_value().simulation
    for ask in (simulation.law, simulation.worst_distance):
        with pytest.raises(InvalidValue, match="`distance_bound` holds"):
            ask(population())

    class Mute(LocalLaplace):
        distribution = None

    with pytest.raises(InvalidKind, match="must be transparent to be simulated"):
        as_simulated(Mute(), (-1, 1))


def test_questions_with_densities_count_towards_the_budget_of_an_entry():
    def greedy(_size):
        noisy = LocalLaplace(epsilon=0.6, query=average_bit, vectorised=True)
        yield 0, noisy
        return (yield 0, noisy)

    protocol = InteractiveProtocol(algorithm=greedy, epsilon=1.0, size=1, records=range(16))
    simulation = ProtocolSimulation(protocol=protocol, accesses=2, beta=0.3)
    with pytest.raises(AuditError, match=r"bring it to 1\.2"):
        simulation.run(ExactOracle(population()), np.random.default_rng(0))
