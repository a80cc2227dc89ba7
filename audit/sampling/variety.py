"""Whether outputs vary at all: a mechanism that forgot its `return` answers None, whatever it is asked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.values.canonical import key, show
from audit.values.outcomes import Raised, Unfinished

__all__ = ["Variety"]


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
            if output is self._first and self._keys:
                continue
            if type(output) in (Raised, Unfinished):
                continue
            if not self._keys:
                self._first = output
            self._keys.add(key(output))
            if len(self._keys) > 1:
                return

    @property
    def only(self) -> str | None:
        """The output that all runs have in common, as a short text; None where there is none."""
        return show(self._first, 40) if len(self._keys) == 1 else None


def _distinct(outputs: Sequence[Any] | np.ndarray[Any, Any]) -> Sequence[Any] | np.ndarray[Any, Any]:
    """Return one output of an array whose rows are all equal, as whole arrays tell fastest."""
    plain = isinstance(outputs, np.ndarray) and outputs.dtype.kind in "iufb"
    return outputs[:1] if plain and bool(np.all(outputs == outputs[:1])) else outputs
