"""Outputs as the sampler returns them, and counts of runs."""

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
        The outputs on the two databases, in the order of the calls. They are a list. If the subject's own
        sampler returned arrays, they are one array of shape (n,) or (n, d). If the runs were drawn in pairs,
        the i-th outputs form a pair. If each run had its own coin, the sides may differ in length.
    typed
        Whether every output has its own type. Otherwise all have the dtype of an array drawn in one call.
    parts
        The numbers of left and right runs in successive parts of the block. If they are unknown, there are
        none.

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
    """Compares outputs until two differ. Exceptions and unfinished runs do not count.

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
        """Compare the outputs of further runs too."""
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
        """The text of the output that all runs gave, or None.

        None means that outputs vary, or that no run gave one.
        """
        return show(self._first, 40) if len(self._keys) == 1 else None


class Tally:
    """Counts of the runs returned so far, of both sides together.

    Attributes
    ----------
    drawn
        The number of runs.
    unfinished, raised
        The numbers of unfinished runs and of runs that raised.
    printed
        The number of characters that the mechanism printed.
    last_answer
        The number of the last run whose output was an answer: neither None nor an exception.
    weight
        The approximate size of an output in bytes: the largest mean over a block.
    variety
        Whether the outputs vary.
    notes
        Notes for readers of the result.
    """

    def __init__(self) -> None:
        self.drawn = self.unfinished = self.raised = self.printed = self.last_answer = self.weight = 0
        self.variety = Variety()
        self.notes: list[Said] = []

    def account(self, block: Block) -> Runs:
        """Count the outputs of a block and return them."""
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
        """Add a note, unless it is already there."""
        if note not in self.notes:
            self.notes.append(note)


def _distinct(outputs: Sequence[Any] | np.ndarray[Any, Any]) -> Sequence[Any] | np.ndarray[Any, Any]:
    """Return the outputs, or only the first if all rows of an array are equal."""
    plain = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb"
    return outputs[:1] if plain and bool(np.all(outputs == outputs[:1])) else outputs
