"""Statistical queries, oracles that answer them, and algorithms that ask them.

A learner for statistical queries (SQ) uses only the interface `SQOracle`, so it can ask any of the `oracles`.
`runs` has such algorithms and their runs as mechanisms. `simulations` simulates local algorithms by
statistical queries.

Examples
--------
>>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery
>>> ExactOracle(Population([0, 1])).ask(StatisticalQuery.fraction(bool, tau=0.1))
0.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.queries.oracles.adversarial import AdversarialOracle, Greedy, offsets
    from mechanisms.queries.oracles.boolean import BooleanOnly, ThroughBoolean, bits_needed, boolean_queries
    from mechanisms.queries.oracles.chunks import ChunkOracle, SampleOracle, sample_size, sampling_size
    from mechanisms.queries.oracles.classification_noise import (
        NoisyLabelOracle,
        flip_labels,
        noisy_labels,
        noisy_sample_size,
    )
    from mechanisms.queries.oracles.ideal import ExactOracle, RandomOracle
    from mechanisms.queries.oracles.local_answers import (
        Estimator,
        LaplaceEntries,
        LocalOracle,
        SignEntries,
        TranscribedOracle,
        local_sample_size,
    )
    from mechanisms.queries.oracles.oracle import NonAdaptive, Oracle, SQOracle
    from mechanisms.queries.oracles.private import (
        LiteralPrivateOracle,
        PrivateOracle,
        private_chunk_size,
        private_sample_size,
        stated_chunk_size,
    )
    from mechanisms.queries.population import Population
    from mechanisms.queries.runs.algorithms import SQAlgorithm, mean_and_spread
    from mechanisms.queries.runs.noisy_algorithms import SQLearner, direction_and_error, one_variable
    from mechanisms.queries.runs.noisy_runs import BoundedNoiseRun, NoisyProblem, NoisyRun
    from mechanisms.queries.runs.private_answers import LiteralQueryAnswers, PrivateQueryAnswers, QueryProblem
    from mechanisms.queries.runs.sq_runs import CentralRun, LocalRun, SQRun
    from mechanisms.queries.runs.unknown_rate import (
        Candidate,
        candidate_rates,
        learn_from_noisy_labels,
        rate_test_size,
    )
    from mechanisms.queries.simulations.at_once import NonInteractiveSimulation
    from mechanisms.queries.simulations.densities import DensityRandomizer
    from mechanisms.queries.simulations.distances import statistical_distance, worst_distance
    from mechanisms.queries.simulations.interactive import InteractiveSimulation
    from mechanisms.queries.simulations.protocol_simulation import ProtocolSimulation
    from mechanisms.queries.simulations.rejection import Access
    from mechanisms.queries.simulations.simulated_entries import SimulatedEntries
    from mechanisms.queries.simulations.simulated_protocol import SimulatedProtocol
    from mechanisms.queries.simulations.simulation import FixedRoundsSimulation, RandomizerSimulation
    from mechanisms.queries.simulations.tables import binary_response, clamped_geometric, kary_response
    from mechanisms.queries.simulations.transparent import TableRandomizer
    from mechanisms.queries.statistical import StatisticalQuery
    from mechanisms.subjects.plain_queries import Histogram, approvals, total

__all__ = [
    "Access",
    "AdversarialOracle",
    "BooleanOnly",
    "BoundedNoiseRun",
    "Candidate",
    "CentralRun",
    "ChunkOracle",
    "DensityRandomizer",
    "Estimator",
    "ExactOracle",
    "FixedRoundsSimulation",
    "Greedy",
    "Histogram",
    "InteractiveSimulation",
    "LaplaceEntries",
    "LiteralPrivateOracle",
    "LiteralQueryAnswers",
    "LocalOracle",
    "LocalRun",
    "NoisyLabelOracle",
    "NoisyProblem",
    "NoisyRun",
    "NonAdaptive",
    "NonInteractiveSimulation",
    "Oracle",
    "Population",
    "PrivateOracle",
    "PrivateQueryAnswers",
    "ProtocolSimulation",
    "QueryProblem",
    "RandomOracle",
    "RandomizerSimulation",
    "SQAlgorithm",
    "SQLearner",
    "SQOracle",
    "SQRun",
    "SampleOracle",
    "SignEntries",
    "SimulatedEntries",
    "SimulatedProtocol",
    "StatisticalQuery",
    "TableRandomizer",
    "ThroughBoolean",
    "TranscribedOracle",
    "approvals",
    "binary_response",
    "bits_needed",
    "boolean_queries",
    "candidate_rates",
    "clamped_geometric",
    "direction_and_error",
    "flip_labels",
    "kary_response",
    "learn_from_noisy_labels",
    "local_sample_size",
    "mean_and_spread",
    "noisy_labels",
    "noisy_sample_size",
    "offsets",
    "one_variable",
    "private_chunk_size",
    "private_sample_size",
    "rate_test_size",
    "sample_size",
    "sampling_size",
    "stated_chunk_size",
    "statistical_distance",
    "total",
    "worst_distance",
]

_MODULES = {
    "mechanisms.queries.runs.algorithms": ("SQAlgorithm", "mean_and_spread"),
    "mechanisms.queries.oracles.adversarial": ("AdversarialOracle", "Greedy", "offsets"),
    "mechanisms.queries.simulations.at_once": ("NonInteractiveSimulation",),
    "mechanisms.queries.oracles.boolean": ("BooleanOnly", "ThroughBoolean", "bits_needed", "boolean_queries"),
    "mechanisms.queries.oracles.chunks": ("ChunkOracle", "SampleOracle", "sample_size", "sampling_size"),
    "mechanisms.queries.oracles.classification_noise": (
        "NoisyLabelOracle",
        "flip_labels",
        "noisy_labels",
        "noisy_sample_size",
    ),
    "mechanisms.subjects.plain_queries": ("Histogram", "approvals", "total"),
    "mechanisms.queries.simulations.distances": ("statistical_distance", "worst_distance"),
    "mechanisms.queries.oracles.ideal": ("ExactOracle", "RandomOracle"),
    "mechanisms.queries.simulations.interactive": ("InteractiveSimulation",),
    "mechanisms.queries.oracles.local_answers": (
        "Estimator",
        "LaplaceEntries",
        "LocalOracle",
        "SignEntries",
        "TranscribedOracle",
        "local_sample_size",
    ),
    "mechanisms.queries.runs.noisy_algorithms": ("SQLearner", "direction_and_error", "one_variable"),
    "mechanisms.queries.runs.noisy_runs": ("BoundedNoiseRun", "NoisyProblem", "NoisyRun"),
    "mechanisms.queries.oracles.oracle": ("NonAdaptive", "Oracle", "SQOracle"),
    "mechanisms.queries.population": ("Population",),
    "mechanisms.queries.oracles.private": (
        "LiteralPrivateOracle",
        "PrivateOracle",
        "private_chunk_size",
        "private_sample_size",
        "stated_chunk_size",
    ),
    "mechanisms.queries.runs.private_answers": ("LiteralQueryAnswers", "PrivateQueryAnswers", "QueryProblem"),
    "mechanisms.queries.simulations.protocol_simulation": ("ProtocolSimulation",),
    "mechanisms.queries.simulations.rejection": ("Access",),
    "mechanisms.queries.runs.sq_runs": ("CentralRun", "LocalRun", "SQRun"),
    "mechanisms.queries.simulations.simulated_entries": ("SimulatedEntries",),
    "mechanisms.queries.simulations.simulated_protocol": ("SimulatedProtocol",),
    "mechanisms.queries.simulations.simulation": ("FixedRoundsSimulation", "RandomizerSimulation"),
    "mechanisms.queries.statistical": ("StatisticalQuery",),
    "mechanisms.queries.simulations.tables": ("binary_response", "clamped_geometric", "kary_response"),
    "mechanisms.queries.simulations.densities": ("DensityRandomizer",),
    "mechanisms.queries.simulations.transparent": ("TableRandomizer",),
    "mechanisms.queries.runs.unknown_rate": (
        "Candidate",
        "candidate_rates",
        "learn_from_noisy_labels",
        "rate_test_size",
    ),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name`."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
