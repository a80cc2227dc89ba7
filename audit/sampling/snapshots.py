"""Outputs kept as they were when the run ended, whatever the mechanism does to them later."""

import copy
import decimal
import enum
import fractions
from typing import Any, Final

import numpy as np

from audit.sampling.watch import TimeLimit, in_words
from audit.values.outcomes import Raised, Unfinished

_SCALARS: Final = {
    *(bool, int, float, complex, str, bytes, type(None), type(...), range),
    *(decimal.Decimal, fractions.Fraction, Raised, Unfinished),
}
IMMUTABLE: Final = frozenset(_SCALARS | {kind for kind in np.sctypeDict.values() if kind is not np.void})
#: Of immutable values they are copied by calling their kind. Keys of a dict are hashable, taken as immutable.
_FLAT: Final = frozenset({tuple, frozenset, list, set, dict})


def snapshot(output: Any) -> Any:
    """Return `output` itself when nothing can change it, else a copy.

    What cannot be copied is returned as it is.

    Examples
    --------
    >>> buffer = [1, 2]
    >>> kept = snapshot(buffer)
    >>> buffer.append(3)
    >>> kept
    [1, 2]
    """
    kind = type(output)
    if kind in IMMUTABLE:
        return output
    if kind is np.ndarray and not output.dtype.hasobject:
        return output.copy()
    if kind in _FLAT and IMMUTABLE.issuperset(map(type, output.values() if kind is dict else output)):
        return kind(output)
    if issubclass(kind, enum.Enum | type):  # `isinstance` would ask the output, and it may lie or raise
        return output
    try:
        return _copied(output)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return output


def _copied(output: Any) -> Any:
    if type(output) is memoryview:
        return memory(output.tobytes(), output.format, output.shape)
    return tuple(map(snapshot, output)) if type(output) is tuple else copy.deepcopy(output)


def memory(content: bytes, kind: Any, shape: Any) -> Any:
    """Return a view of a copy of memory.

    Examples
    --------
    >>> memory(bytes(4), "B", (2, 2)).tolist()
    [[0, 0], [0, 0]]
    """
    flat: Any = memoryview(content).cast(kind)
    return flat.cast("B").cast(kind, shape) if len(shape) > 1 and content else flat


def outcome_of(error: BaseException, *, limit: float) -> Raised | Unfinished:
    """Return the outcome of a run that `error` ended, when runs may take `limit` seconds.

    Examples
    --------
    >>> outcome_of(SystemExit(3), limit=10)
    Raised(kind='SystemExit', message='3')
    >>> outcome_of(TimeLimit(), limit=10)
    Unfinished(reason='time limit of 10 s')
    """
    if isinstance(error, TimeLimit):
        return Unfinished(in_words(limit))
    return Unfinished("out of memory") if isinstance(error, MemoryError) else Raised.of(error)
