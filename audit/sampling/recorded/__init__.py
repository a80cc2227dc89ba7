"""Generators that record what is drawn from them: a run's draws, its numbers and its stream unchanged.

It answers questions about a run. Runs that are bet on are never recorded.
"""

from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import Draw, RecordingGenerator, Tape

__all__ = ["Draw", "RecordingGenerator", "Tape", "recorded_everywhere"]
