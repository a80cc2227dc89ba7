"""Generators that record what is drawn from them: a run's draws, its numbers and its stream unchanged.

For questions about a run, never for a run that is bet on.
"""

from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import Draw, RecordingGenerator, Tape

__all__ = ["Draw", "RecordingGenerator", "Tape", "recorded_everywhere"]
