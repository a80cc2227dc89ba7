"""What a rule is told, and the databases that it may run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from audit.faults.scene import LEFT, RIGHT, Scene
from audit.results.fault import Fault
from audit.sampling.recorded.noise import UNSCALED, scale_of
from audit.sampling.recorded.runs import Run
from audit.words import fault_words as words

SIDES: Final = (LEFT, RIGHT)
#: Databases made of the pair: without the record that differs, and with it a thousand times as large.
MIDDLE, FAR = "middle", "far"
#: Other databases, which are asked for the scale of their noise alone: the pair that was refuted first, and
#: the left one with the record of the right one added.
ELSEWHERE: Final = ("elsewhere left", "elsewhere right", "both")
#: Relative slack for rounding.
TIGHT: Final = 1e-6


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was refuted.

    Parameters
    ----------
    epsilon, delta
        The claim, on this pair.
    bits
        Whether the event that refuted it looks at the low bits of floats.
    nan
        Whether the record that differs is NaN, or holds one.
    """

    epsilon: float
    delta: float
    bits: bool = False
    nan: bool = False

    @property
    def at(self) -> str:
        """The claim in words."""
        return words.claimed(self.epsilon, self.delta)


Rule = Callable[[Scene, Asked], Fault | None]
"""What shows one kind of fault: None where it shows nothing."""


def draw_words(draw: Any) -> str:
    """Return a draw as code has it, with its scale."""
    scale = scale_of(draw)
    if draw.method in UNSCALED or scale is None or np.ndim(scale):
        return str(draw.method)
    return f"{draw.method}(scale={float(scale):.4g})"


def draws_of(run: Run) -> str:
    """Return the draws of a run."""
    return words.listed([draw_words(draw) for draw in run.draws]) or "no draw"
