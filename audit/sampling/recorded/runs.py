"""A recorded run with its draws, which may be shifted, and its output."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from audit.sampling.recorded.generator import Draw, RecordingGenerator, Taken, Tape, draw_of
from audit.sampling.recorded.leaves import Leaves, TooLargeError, leaves_of


@dataclass(frozen=True, eq=False)
class Run:
    """One recorded run. `leaves` holds the numbers and words of the output."""

    taken: tuple[Taken, ...]
    output: Any
    leaves: Leaves

    @cached_property
    def draws(self) -> tuple[Draw, ...]:
        """The draws."""
        return tuple(draw_of(each) for each in self.taken)

    @property
    def calls(self) -> list[tuple[str, tuple[int, ...]]]:
        """The generator methods that were called, with the shapes of their values."""
        return [(draw.method, draw.shape) for draw in self.draws]


Shift = Mapping[tuple[int, tuple[int, ...]], float]
"""Maps a draw's place on the tape, and an index in the draw, to the number added there."""

Probe = tuple[bool, Shift]
"""A run to record: whether it is on the right database, and the shift of its draws."""


def shifted(values: Any, place: int, shift: Shift) -> Any:
    """Return the shifted values of the draw at a place of the tape.

    Examples
    --------
    >>> shifted(1.0, 0, {(0, ()): 2.0}), shifted(np.array([1.0, 2.0]), 1, {(1, (0,)): 2.0}).tolist()
    (3.0, [3.0, 2.0])
    """
    for index, by in [(index, by) for (at, index), by in shift.items() if at == place]:
        if index or np.shape(values):
            values = np.array(values)
            values[index] += by
        else:
            values = values + by
    return values


def probing(
    call: Callable[[Any, Any], Any], state: Any, probes: Sequence[Probe]
) -> Callable[[Any, Any], Run]:
    """Return a function that makes one recorded run per call.

    All runs start from one generator state.

    Parameters
    ----------
    call
        The mechanism: a function of database and generator that returns an output.
    state
        The generator state, of a `PCG64`.
    probes
        The runs to make.
    """
    shifts = iter([shift for _, shift in probes])

    def run(database: Any, _: Any) -> Run:
        shift = next(shifts)
        tape = Tape((lambda place, draw: shifted(draw.values, place, shift)) if shift else None)
        bits = np.random.PCG64(0)
        bits.state = state
        output = call(database, RecordingGenerator(bits, tape))
        try:
            leaves = leaves_of(output)
        except TooLargeError:
            leaves = {}
        return Run(tuple(tape.taken), output, leaves)

    return run


def outputs_of(runs: Sequence[Any]) -> list[Any]:
    """Return the output of each recorded run. For a run that raised or did not end, return its outcome."""
    return [run.output if isinstance(run, Run) else run for run in runs]
