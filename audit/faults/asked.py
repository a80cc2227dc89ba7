"""The input of a rule about faults, and the databases that it may use."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from audit.faults.scene import LEFT, RIGHT, Scene
from audit.results.fault import Fault
from audit.sampling.recorded.noise import scale_of, written
from audit.sampling.recorded.runs import Run
from audit.words import fault_words as words

SIDES: Final = (LEFT, RIGHT)
#: Databases made from the pair: without the differing record, and with the differing number times 1000.
MIDDLE, FAR = "middle", "far"
#: Further databases; runs on them only show the scale of the noise. The first two are the pair on which the
#: claim was first refuted. The third is the left database plus the differing record of the right one.
ELSEWHERE: Final = ("elsewhere left", "elsewhere right", "both")
#: Numbers count as equal if their relative difference is at most this. Rounding explains such a difference.
TIGHT: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a rule needs to know about the refutation.

    Parameters
    ----------
    epsilon, delta
        The claim, on this pair.
    bits
        Whether the event that refuted the claim looks at the low bits of floats.
    nan
        Whether the differing record is NaN or contains NaN in exactly one of the two databases.
    """

    epsilon: float
    delta: float
    bits: bool = False
    nan: bool = False

    @property
    def at(self) -> str:
        """The claim in words."""
        return words.claimed(self.epsilon, self.delta)


#: A rule for one kind of fault: returns the fault if the runs show it, else None.
Rule = Callable[[Scene, Asked], Fault | None]


def draw_words(draw: Any) -> str:
    """Return a draw as code would write it, with its scale."""
    scale = scale_of(draw)
    return str(draw.method) if scale is None or np.ndim(scale) else written(draw.method, float(scale))


def draws_of(run: Run) -> str:
    """Return the draws of a run in words. If the run made no draws, the text is empty."""
    return words.listed([draw_words(draw) for draw in run.draws])
