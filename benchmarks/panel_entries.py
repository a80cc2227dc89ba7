"""The mechanisms of the panel, their claims and their domains."""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from false_alarms import SEARCHED
from hypothesis import strategies as st
from panel_kinds import EXPONENTIAL

from audit import ApproximateDP, PureDP, Relation

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Entry:
    """A mechanism of the panel.

    Parameters
    ----------
    group
        "correct", "kept" or "leaks".
    start
        Returns the subject as it is before its first call.
    claim
        The privacy claim.
    where
        The arguments of `audit_privacy` that say where to look for databases.
    """

    group: str
    start: Callable[[], Any]
    claim: Any
    where: dict[str, Any]


BITS = {"records": [0, 1], "size": (1, 3)}
FEW_BITS = {"records": [0, 1], "size": (1, 2)}
#: A domain of 62 databases: more than any mechanism keeps answers for.
MANY_BITS = {"records": [0, 1], "size": (1, 5)}
CHOICES = {"records": [0, 1, 2, 3, 4], "relation": Relation.LOCAL}


def _found(module: str, name: str) -> Any:
    """Import a module anew, and return its function or class."""
    sys.modules.pop(module, None)
    return getattr(importlib.import_module(module), name)


def _made(module: str, name: str) -> Any:
    return _found(module, name)()


def _without_rng(module: str, name: str) -> Any:
    function = _found(module, name)
    return sys.modules[module].WithoutRng(function)


def _entries(
    names: str,
    module: str,
    *,
    group: str = "correct",
    start: Callable[[str, str], Any] = _found,
    claim: Any = PureDP(1.0),  # noqa: B008 - a frozen value
    where: dict[str, Any] = BITS,
) -> dict[str, Entry]:
    return {name: Entry(group, partial(start, module, name), claim, where) for name in names.split()}


def _searched(name: str) -> Entry:
    """Return an entry for a mechanism of `false_alarms`, with its domain."""
    domain = SEARCHED[name]
    claim = ApproximateDP(domain.epsilon, domain.delta) if domain.delta else PureDP(domain.epsilon)
    records = None if domain.records is None else list(domain.records)
    where = {"records": records, "size": domain.size, "relation": domain.relation}
    return Entry("correct", lambda: domain.mechanism, claim, where)


_MEMORIES = partial(_entries, module="panel_memories", where=FEW_BITS)
_KINDS = partial(_entries, module="panel_kinds")
_KEPT = partial(_entries, module="panel_kept_noise", group="kept", where=MANY_BITS)
_LEAKS = partial(_entries, module="panel_leaks", group="leaks")
_HEADER = ["value"]

PANEL = {
    **_MEMORIES("in_global in_function in_module in_thread in_cache in_environment in_file in_sqlite"),
    **_MEMORIES("in_generator"),
    **_MEMORIES("in_closure InAttribute InClass InCoroutine BesideLock InSocket InPointer", start=_made),
    **_MEMORIES("Counting Drifting Resting Stamped Accountant RaisingAccountant", start=_made),
    **_KINDS("numbers_alike containers odd_numbers answers_or_errors lengths", where=CHOICES),
    **_KINDS("moment number_or_nothing cached_answer cached_bounds clamped by_system by_system_beside_rng"),
    **_KINDS(
        "of_sorted", where={"databases": st.lists(st.integers(0, 3), min_size=2, max_size=3).map(sorted)}
    ),
    **_KINDS(
        "with_header",
        where={"databases": st.lists(st.integers(0, 1), min_size=1, max_size=3).map(_HEADER.__add__)},
    ),
    **_KINDS(
        "of_distinct",
        where={"databases": st.lists(st.integers(0, 4), min_size=2, max_size=3, unique=True)},
    ),
    **_KINDS("exponential", claim=PureDP(EXPONENTIAL)),
    **_KINDS("TableOfWeights", claim=PureDP(EXPONENTIAL), start=_made),
    **_KINDS("seldom_in_clear", claim=ApproximateDP(1.0, 0.05)),
    **_KINDS("refusing", claim=PureDP(math.log(3)), where={"records": [0, 1], "relation": Relation.LOCAL}),
    **_KINDS("sparse_vector", where={"size": (2, 5), "relation": Relation.QUERY_ANSWERS}),
    **{name.replace(" ", "_"): _searched(name) for name in SEARCHED},
    **_KEPT("memoised memoised_without_rng memoised_at_times memoised_with_jitter last_twenty twenty_each"),
    **_KEPT("generator_at_import generator_at_import_without_rng noise_at_import slow_clock budget_each"),
    **_KEPT("on_disk_here on_disk_at_home on_disk_among_temporary"),
    **_KEPT("NoiseAtStart NoiseAtStartWithJitter", start=_made),
}

_BITS = "a_tenth_too_much half_too_much far_too_much rare_tail in_clear in_clear_beside_noise"
_BITS += " one_draw_for_two no_noise_for_nothing careless_when_warm"
for _start, _ending in ((_found, ""), (_without_rng, "_without_rng")):
    _leaks = {
        **_LEAKS(_BITS, start=_start),
        **_LEAKS("length_in_clear", start=_start, where={**CHOICES, "records": [(1,), (1, 0), (0,)]}),
        **_LEAKS("count_in_clear", start=_start, where={"records": [None, 0, 1], "size": 3}),
        **_LEAKS("raising_on_nothing", start=_start),
    }
    PANEL |= {name + _ending: entry for name, entry in _leaks.items()}
