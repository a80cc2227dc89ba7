"""Outputs as they are given out, and what is counted of them: some never vary, some stop being answers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit.sampling.blocks import Block
from audit.values.brief import show
from audit.values.canonical import key
from audit.values.outcomes import Raised, Unfinished
from audit.values.said import Said, Says
from audit.values.weights import weigh_all


@dataclass(frozen=True)
class Runs:
    """Outputs of a block of runs.

    Parameters
    ----------
    left, right
        The outputs on the two databases, each in the order of the calls: a list, or one array of shape (n,)
        or (n, d) when the subject's own sampler returned arrays. Of pairs of runs the i-th of each belong
        together; of runs with a coin each, one side may have more than the other.
    typed
        Whether the type of every output is its own, and not that of many drawn in one call.
    parts
        How many runs of either side there are in successive parts of the block; empty if nobody said.

    Examples
    --------
    >>> Runs([1, 2], [3]).right
    [3]
    """

    left: Any
    right: Any
    typed: bool = True
    parts: Sequence[tuple[int, int]] = ()


class Variety:
    """Looks at outputs until two differ. Exceptions and unfinished runs are no outputs here.

    Examples
    --------
    >>> variety = Variety()
    >>> variety.look([None, None]), variety.only
    (None, 'None')
    >>> variety.look(np.array([0.5, 1.5])), variety.only
    (None, None)
    """

    def __init__(self) -> None:
        self._keys: set[Any] = set()
        self._first: Any = None

    def look(self, outputs: Sequence[Any] | np.ndarray[Any, Any]) -> None:
        """Take outputs of some runs into account."""
        if len(self._keys) > 1:
            return
        for output in _distinct(outputs):
            if type(output) in (Raised, Unfinished) or (self._keys and output is self._first):
                continue
            if not self._keys:
                self._first = output
            self._keys.add(key(output))
            if len(self._keys) > 1:
                return

    @property
    def only(self) -> str | None:
        """The output of every run, as a short text; None if outputs vary, or without any."""
        return show(self._first, 40) if len(self._keys) == 1 else None


class Tally:
    """What is counted of the runs given out so far, both sides.

    Attributes
    ----------
    drawn
        How many there are.
    unfinished, raised
        How many of them have no output, and how many raised.
    printed
        Characters that the mechanism printed in them.
    last_answer
        Which of them was the last to give an answer: neither None nor an exception.
    weight
        Bytes of an output, roughly: the largest mean of a block.
    variety
        Whether their outputs vary.
    notes
        What the reader of a result should know.
    """

    def __init__(self) -> None:
        self.drawn = self.unfinished = self.raised = self.printed = self.last_answer = self.weight = 0
        self.variety = Variety()
        self.notes: list[Said] = []

    def account(self, block: Block) -> Runs:
        """Count a block, and give its outputs out."""
        self.drawn += len(block.left) + len(block.right)
        for side in (block.left, block.right):
            self.variety.look(side)
            self.weight = max(self.weight, weigh_all(side) // max(1, len(side)))
            kinds = Counter(map(type, side)) if isinstance(side, list) else Counter()
            self.unfinished += kinds[Unfinished]
            self.raised += kinds[Raised]
            if kinds[Raised] + kinds[Unfinished] + kinds[type(None)] < len(side):
                self.last_answer = self.drawn
        self.printed += block.printed
        for note in block.notes:
            self.note(note)
        if block.printed:
            self.note(Says.PRINTS())
        return Runs(block.left, block.right)

    def note(self, note: Said) -> None:
        """Keep a note, once."""
        if note not in self.notes:
            self.notes.append(note)


def _distinct(outputs: Sequence[Any] | np.ndarray[Any, Any]) -> Sequence[Any] | np.ndarray[Any, Any]:
    """Return one output of an array whose rows are all equal, as whole arrays tell fastest."""
    plain = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb"
    return outputs[:1] if plain and bool(np.all(outputs == outputs[:1])) else outputs
