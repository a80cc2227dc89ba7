"""Which parts of structured outputs are worth a table: those that differ most between the two databases.

Reads past outputs only; decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.features.parts import ABSENT, Part, PartIs, Path, atom, leaves
from audit.features.views import as_entry, as_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from audit.features.base import Feature
    from audit.features.views import View

    Floats = NDArray[np.float64]
    Opened = list[dict[Path, object]]

MOST_NUMBERS = 12
MOST_ATOMS = 6
#: Outputs looked into, a side.
_LOOKED_INTO = 500
#: Where structured outputs recur this often, the whole output is atom enough.
_SHARE_OF_REPEATS = 0.3
_COMPARED = 200


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
    sides = _structured(left), _structured(right)
    a, b = (_open(outputs, known) for outputs in sides)
    paths = dict.fromkeys(chain.from_iterable((*a, *b)))
    if not paths or _recur(*zip(sides, (a, b), strict=True)):
        return
    yield from map(Part, _most_moved(a, b, list(paths)))
    yield from map(PartIs, _most_changed(a, b, list(paths)))


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


def _is_plain(view: View) -> bool:
    """Tell whether numbers and coordinates say all of a block."""
    return view.all_numbers or (
        not view.rest
        and all(isinstance(where, slice) for where, _ in view.vectors.values())
        and bool(view.vectors)
    )


def _may_hold_parts(output: object) -> bool:
    flat = isinstance(output, np.ndarray) and output.dtype.kind in "iufb"
    return not flat and as_number(output) is None


def _open(outputs: list[Any], known: set[Hashable]) -> Opened:
    return [_unsaid(output, leaves(output), known) for output in outputs]


def _unsaid(output: object, found: dict[Path, object], known: set[Hashable]) -> dict[Path, object]:
    """Leave out the numbers that `Coordinate` or `Entry` tell already."""
    if isinstance(output, Mapping):
        return {path: part for path, part in found.items() if not _is_entry(path, part, known)}
    if isinstance(output, (list, tuple)):
        return {path: part for path, part in found.items() if len(path) > 1 or not _is_entry(path, part)}
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
