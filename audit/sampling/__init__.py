"""Drawing runs: seed tree, blocks, workers, and what a mechanism may do meanwhile."""

from audit.sampling.faults import MutatedInput
from audit.sampling.sampler import Runs, Sampler
from audit.sampling.seeds import BET, CALLS, CONFIRM, EXPLORE, LAW, RNG_CHECK, SHRINK, generator

__all__ = [
    "BET",
    "CALLS",
    "CONFIRM",
    "EXPLORE",
    "LAW",
    "RNG_CHECK",
    "SHRINK",
    "MutatedInput",
    "Runs",
    "Sampler",
    "generator",
]
