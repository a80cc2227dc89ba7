"""Utility audits: whether a learner keeps its (α, β), on the problems likeliest to break it.

Above `words`; below `privacy`, `studies` and the doors. `audit_utility` is found on first use, so that
results are read without the engine.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audit.utility.front import audit_utility

__all__ = ["audit_utility"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from audit.utility import front

    return getattr(front, name)
