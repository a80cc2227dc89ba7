"""Queries: of whole databases, and statistical ones with the oracles that answer them.

An SQ learner is written once, against `SQOracle`, and run with any of the oracles. Names are resolved on
first use, so that importing the package costs nothing.

Examples
--------
>>> from mechanisms.queries import ExactOracle, Population, StatisticalQuery
>>> ExactOracle(Population([0, 1])).ask(StatisticalQuery.fraction(bool, tau=0.1))
0.5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechanisms.queries.adversarial import AdversarialOracle, Greedy, offsets
    from mechanisms.queries.databases import Histogram, approvals, total
    from mechanisms.queries.ideal import ExactOracle, RandomOracle
    from mechanisms.queries.oracle import NonAdaptive, Oracle, SQOracle
    from mechanisms.queries.population import Population
    from mechanisms.queries.statistical import StatisticalQuery

__all__ = [
    "AdversarialOracle",
    "ExactOracle",
    "Greedy",
    "Histogram",
    "NonAdaptive",
    "Oracle",
    "Population",
    "RandomOracle",
    "SQOracle",
    "StatisticalQuery",
    "approvals",
    "offsets",
    "total",
]

_MODULES = {
    "adversarial": ("AdversarialOracle", "Greedy", "offsets"),
    "databases": ("Histogram", "approvals", "total"),
    "ideal": ("ExactOracle", "RandomOracle"),
    "oracle": ("NonAdaptive", "Oracle", "SQOracle"),
    "population": ("Population",),
    "statistical": ("StatisticalQuery",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import the module that holds `name`."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
