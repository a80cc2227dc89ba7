"""Generators that record the random draws of a run and leave its random numbers unchanged.

The records serve to explain a run. Runs that are bet on are never recorded.
"""

from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import Draw, RecordingGenerator, Tape

__all__ = ["Draw", "RecordingGenerator", "Tape", "recorded_everywhere"]
