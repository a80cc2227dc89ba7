"""Queries: of whole databases, and statistical ones with the oracles that answer them.

An SQ learner is written once, against `SQOracle`, and run with any of the oracles. Names are resolved on
first use, so that importing the package costs nothing.

Examples
--------
>>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery
>>> ExactOracle(Population([0, 1])).ask(StatisticalQuery.fraction(bool, tau=0.1))
0.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.queries.adversarial import AdversarialOracle, Greedy, offsets
    from mechanisms.queries.algorithms import SQAlgorithm, mean_and_spread
    from mechanisms.queries.at_once import NonInteractiveSimulation
    from mechanisms.queries.boolean import BooleanOnly, ThroughBoolean, bits_needed, boolean_queries
    from mechanisms.queries.chunks import ChunkOracle, SampleOracle, sample_size, sampling_size
    from mechanisms.queries.classification_noise import (
        NoisyLabelOracle,
        flip_labels,
        noisy_labels,
        noisy_sample_size,
    )
    from mechanisms.queries.databases import Histogram, approvals, total
    from mechanisms.queries.distances import statistical_distance, worst_distance
    from mechanisms.queries.ideal import ExactOracle, RandomOracle
    from mechanisms.queries.interactive import InteractiveSimulation
    from mechanisms.queries.local_answers import (
        Estimator,
        LaplaceEntries,
        LocalOracle,
        SignEntries,
        TranscribedOracle,
        local_sample_size,
    )
    from mechanisms.queries.noisy_algorithms import SQLearner, direction_and_error, one_variable
    from mechanisms.queries.noisy_runs import BoundedNoiseRun, NoisyProblem, NoisyRun
    from mechanisms.queries.oracle import NonAdaptive, Oracle, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.private import (
        LiteralPrivateOracle,
        PrivateOracle,
        private_chunk_size,
        private_sample_size,
        stated_chunk_size,
    )
    from mechanisms.queries.private_answers import LiteralQueryAnswers, PrivateQueryAnswers, QueryProblem
    from mechanisms.queries.protocol_simulation import ProtocolSimulation
    from mechanisms.queries.rejection import Access
    from mechanisms.queries.runs import CentralRun, LocalRun, SQRun
    from mechanisms.queries.simulated_entries import SimulatedEntries
    from mechanisms.queries.simulated_protocol import SimulatedProtocol
    from mechanisms.queries.simulation import FixedRoundsSimulation, RandomizerSimulation
    from mechanisms.queries.statistical import StatisticalQuery
    from mechanisms.queries.tables import binary_response, clamped_geometric, kary_response
    from mechanisms.queries.transparent import TableRandomizer
    from mechanisms.queries.unknown_rate import (
        Candidate,
        candidate_rates,
        learn_from_noisy_labels,
        rate_test_size,
    )

__all__ = [
    "Access",
    "AdversarialOracle",
    "BooleanOnly",
    "BoundedNoiseRun",
    "Candidate",
    "CentralRun",
    "ChunkOracle",
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
    "algorithms": ("SQAlgorithm", "mean_and_spread"),
    "adversarial": ("AdversarialOracle", "Greedy", "offsets"),
    "at_once": ("NonInteractiveSimulation",),
    "boolean": ("BooleanOnly", "ThroughBoolean", "bits_needed", "boolean_queries"),
    "chunks": ("ChunkOracle", "SampleOracle", "sample_size", "sampling_size"),
    "classification_noise": ("NoisyLabelOracle", "flip_labels", "noisy_labels", "noisy_sample_size"),
    "databases": ("Histogram", "approvals", "total"),
    "distances": ("statistical_distance", "worst_distance"),
    "ideal": ("ExactOracle", "RandomOracle"),
    "interactive": ("InteractiveSimulation",),
    "local_answers": (
        "Estimator",
        "LaplaceEntries",
        "LocalOracle",
        "SignEntries",
        "TranscribedOracle",
        "local_sample_size",
    ),
    "noisy_algorithms": ("SQLearner", "direction_and_error", "one_variable"),
    "noisy_runs": ("BoundedNoiseRun", "NoisyProblem", "NoisyRun"),
    "oracle": ("NonAdaptive", "Oracle", "SQOracle"),
    "population": ("Population",),
    "private": (
        "LiteralPrivateOracle",
        "PrivateOracle",
        "private_chunk_size",
        "private_sample_size",
        "stated_chunk_size",
    ),
    "private_answers": ("LiteralQueryAnswers", "PrivateQueryAnswers", "QueryProblem"),
    "protocol_simulation": ("ProtocolSimulation",),
    "rejection": ("Access",),
    "runs": ("CentralRun", "LocalRun", "SQRun"),
    "simulated_entries": ("SimulatedEntries",),
    "simulated_protocol": ("SimulatedProtocol",),
    "simulation": ("FixedRoundsSimulation", "RandomizerSimulation"),
    "statistical": ("StatisticalQuery",),
    "tables": ("binary_response", "clamped_geometric", "kary_response"),
    "transparent": ("TableRandomizer",),
    "unknown_rate": ("Candidate", "candidate_rates", "learn_from_noisy_labels", "rate_test_size"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name`."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
