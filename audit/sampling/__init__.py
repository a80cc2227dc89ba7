"""Runs of a mechanism.

The mechanism may keep state, change its input or hang.

The package imports from `databases` and `subject`. `task` and everything that draws runs import from it.
"""

from audit.sampling.sampler import Sampler
from audit.sampling.seeds import BET, CALLS, CONFIRM, EXPLORE, LAW, SHRINK
from audit.sampling.snapshots import MutatedInput
from audit.sampling.stopping import TimeIsOver, stop_asked, why_over
from audit.sampling.tally import Runs

__all__ = [
    "BET",
    "CALLS",
    "CONFIRM",
    "EXPLORE",
    "LAW",
    "SHRINK",
    "MutatedInput",
    "Runs",
    "Sampler",
    "TimeIsOver",
    "stop_asked",
    "why_over",
]
