"""Drawing runs: seed tree, blocks, workers; subjects may keep state, change their input or hang.

Above `databases` and `subject`; below `task` and everything that draws runs.
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
