"""Which parts of structured outputs are worth a table: those that differ most between the two databases.

Reads past outputs only; decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain, combinations, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.features.parts import (
    ABSENT,
    Part,
    PartIs,
    PartsDifference,
    PartsScore,
    PartsSum,
    Path,
    atom,
    holds_more,
    leaves,
    matrix,
)
from audit.features.scores import LEAST_FOR_SCORES, fit_score
from audit.features.views import PLAIN_ENTRIES, as_entry, as_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from audit.features.base import Feature
    from audit.features.views import View

    Floats = NDArray[np.float64]
    Opened = list[dict[Path, object]]

MOST_NUMBERS = 12
MOST_ATOMS = 6
#: Numbers inside that are compared two by two.
MOST_TOGETHER = 4
#: Outputs looked into, a side; fewer where they hold much.
_LOOKED_INTO = 500
_LEAST_LOOKED_INTO = 50
_LEAVES = 20_000
#: Where structured outputs recur this often, the whole output is atom enough.
_SHARE_OF_REPEATS = 0.3
_COMPARED = 200
#: Outputs that are asked whether they hold more than is opened.
_ASKED = 8


def of_parts(left: list[View], right: list[View], *, entries: Sequence[object]) -> Iterator[Feature]:
    """Give features of what lies inside structured outputs, in a fixed order.

    Parameters
    ----------
    left, right
        Past outputs of the two databases, as blocks.
    entries
        Keys whose numbers have a feature already.
    """
    known = {canonical.key(key) for key in entries}
    looked = _look_into(left), _look_into(right)
    sides, every = (looked[0][0], looked[1][0]), (looked[0][1], looked[1][1])
    a, b = (_unsaid(outputs, opened, known) for outputs, opened in zip(sides, every, strict=True))
    paths, places = _places(a, b), _together(sides, every)
    if not (paths or places) or _recur(*zip(sides, every, strict=True)):
        return
    yield from map(Part, _most_moved(a, b, paths))
    yield from map(PartIs, _most_changed(a, b, paths))
    if len(places) > 1:
        yield from _joint(places, left, right)


def _places(*sides: Opened) -> list[Path]:
    return list(dict.fromkeys(chain.from_iterable(chain.from_iterable(sides))))


def _together(sides: Sequence[list[Any]], every: Sequence[Opened]) -> list[Path]:
    """Give the places whose numbers are looked at together; none where all are entries of flat sequences."""
    a, b = (
        [{} if _is_flat(output, parts) else parts for output, parts in zip(outputs, opened, strict=True)]
        for outputs, opened in zip(sides, every, strict=True)
    )
    return _most_moved(a, b, _places(a, b))


def _is_flat(output: object, parts: dict[Path, object]) -> bool:
    return isinstance(output, (list, tuple)) and all(len(path) == 1 for path in parts)


def _joint(places: list[Path], left: list[View], right: list[View]) -> Iterator[Feature]:
    """Give features of several numbers: what one shows with noise, two together may show without."""
    for first, second in combinations(sorted(places[:MOST_TOGETHER], key=repr), 2):
        yield PartsDifference(first, second)
    yield PartsSum(tuple(places))
    if min(sum(map(len, side)) for side in (left, right)) >= LEAST_FOR_SCORES:
        halves = [np.concatenate([matrix(view, places) for view in side]) for side in (left, right)]
        a, b = (rows[: len(rows) // 2] for rows in halves)
        score = fit_score(a, b)
        yield PartsScore(score.edges, score.scores, tuple(places))


def gap(a: Floats, b: Floats) -> float:
    """Give the largest difference of two empirical distribution functions.

    Examples
    --------
    >>> gap(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.5
    """
    both = np.concatenate([a, b])
    order = np.argsort(both, kind="stable")
    steps = np.concatenate([np.full(len(a), 1 / len(a)), np.full(len(b), -1 / len(b))])[order]
    ordered = both[order]
    ends = np.append(ordered[1:] != ordered[:-1], True)  # a difference of infinities would be NaN
    return float(np.abs(np.cumsum(steps)[ends]).max())


def _structured(side: list[View]) -> list[Any]:
    """Give the first outputs that are more than a number or a flat array of numbers."""
    outputs = chain.from_iterable(view.outputs for view in side if not _is_plain(view))
    return list(islice((output for output in outputs if _may_hold_parts(output)), _LOOKED_INTO))


def _look_into(side: list[View]) -> tuple[list[Any], Opened]:
    """Give the first structured outputs, and what is inside each."""
    outputs, opened, seen = [], [], 0
    for output in _structured(side):
        outputs.append(output)
        opened.append(leaves(output))
        seen += len(opened[-1])
        if seen >= _LEAVES and len(opened) >= _LEAST_LOOKED_INTO:
            break
    return outputs, opened


def _is_plain(view: View) -> bool:
    """Tell whether numbers and coordinates say all of a block."""
    return view.all_numbers or (
        not view.rest
        and all(isinstance(where, slice) for where, _ in view.vectors.values())
        and bool(view.vectors)
    )


def unopened(side: list[View]) -> bool:
    """Tell whether one of the first structured outputs has parts that are not opened.

    Examples
    --------
    >>> from audit.features.views import View
    >>> unopened([View([("a",)] * 9)]), unopened([View([("a", [0] * 10_000)])])
    (False, True)
    """
    return any(map(holds_more, _structured(side)[:_ASKED]))


def _may_hold_parts(output: object) -> bool:
    if type(output) in (list, tuple):
        return not PLAIN_ENTRIES.issuperset(map(type, output))  # type: ignore[call-overload]
    flat = isinstance(output, np.ndarray) and output.dtype.kind in "iufb"
    return not flat and as_number(output) is None


def _unsaid(outputs: list[Any], opened: Opened, known: set[Hashable]) -> Opened:
    """Leave out the numbers that `Coordinate` or `Entry` tell already."""
    return [_without_entries(output, parts, known) for output, parts in zip(outputs, opened, strict=True)]


def _without_entries(output: object, found: dict[Path, object], known: set[Hashable]) -> dict[Path, object]:
    if isinstance(output, Mapping):
        return {path: part for path, part in found.items() if not _is_entry(path, part, known)}
    if isinstance(output, (list, tuple)):
        return {path: part for path, part in found.items() if not _is_entry(path, part)}
    return found


def _is_entry(path: Path, part: object, known: set[Hashable] | None = None) -> bool:
    number = type(part) in (bool, np.bool_) or as_number(part) is not None
    return number and len(path) == 1 and (known is None or canonical.key(path[0][1]) in known)


def _recur(*sides: tuple[list[Any], Opened]) -> bool:
    """Tell whether outputs that have parts recur often enough to be atoms."""
    having = ([output for output, parts in zip(*side, strict=True) if parts] for side in sides)
    keys = [canonical.key(output) for outputs in having for output in outputs[:_COMPARED]]
    return len(keys) - len(set(keys)) >= _SHARE_OF_REPEATS * len(keys)


def _most_moved(a: Opened, b: Opened, paths: list[Path]) -> list[Path]:
    """Give the places whose numbers differ most in distribution, constant ones left out."""
    moved = {path: size for path in paths if (size := _moved(_numbers(a, path), _numbers(b, path)))}
    return _first(moved, MOST_NUMBERS)


def _numbers(side: Opened, path: Path) -> Floats:
    column = np.array([as_entry(each[path]) for each in side if path in each], dtype=np.float64)
    return column[~np.isnan(column)]


def _moved(a: Floats, b: Floats) -> float:
    return gap(a, b) if len(a) and len(b) else float(len(a) + len(b) > 0)


def _most_changed(a: Opened, b: Opened, paths: list[Path]) -> list[Path]:
    """Give the places that hold other things than numbers, those that differ most first."""
    changed = {path: size for path in paths if (size := _changed(_atoms(a, path), _atoms(b, path)))}
    return _first(changed, MOST_ATOMS)


def _atoms(side: Opened, path: Path) -> Counter[Hashable]:
    return Counter(atom(each.get(path, ABSENT)) for each in side)


def _changed(a: Counter[Hashable], b: Counter[Hashable]) -> float:
    """Give the total variation of two counts of atoms, 0 where nothing recurs."""
    if max(chain(a.values(), b.values())) < 2:
        return 0.0
    m, n = a.total(), b.total()
    return sum(abs(a[key] / max(m, 1) - b[key] / max(n, 1)) for key in a | b) / 2


def _first(sizes: dict[Path, float], most: int) -> list[Path]:
    return sorted(sizes, key=lambda path: (-sizes[path], repr(path)))[:most]
