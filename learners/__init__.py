"""Learners and sanitizers of the source texts as subjects.

Names are resolved on first use, so that importing the package costs nothing.

Examples
--------
>>> from learners import ParityLearner
>>> print(ParityLearner(dimension=2, epsilon=0.5).claim)
PureDP(epsilon=0.5)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from learners.parity import AmplifiedParityLearner, ParityLearner

__all__ = [
    "AmplifiedParityLearner",
    "ParityLearner",
]

_HOMES = {
    "AmplifiedParityLearner": "learners.parity",
    "ParityLearner": "learners.parity",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
