"""Read what is inside a structured output.

One entry of `(coefficients, intercept)` may leak while noise in the other entry makes all outputs differ.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.distributions.law import Floats
from audit.events.features.base import AtomFeature, Feature, NumberFeature
from audit.events.features.numbers import added
from audit.events.features.openings import ABSENT, MOST_ENTRIES, Path, follow, parts_of, words_of
from audit.events.features.scores import TableScore
from audit.events.features.stand_ins import Ends
from audit.events.features.views import View, as_column, as_number
from audit.values import canonical
from audit.values.outcomes import Opaque

MOST_LEAVES = 512
MOST_DEPTH = 16


def leaves(output: object) -> dict[Path, object]:
    """Return the parts inside an output that have no parts of their own, by path.

    Such parts are called leaves. If the output is itself a leaf, the result is empty.

    Guarantee: the leaves depend on this output alone. There are at most 512, at most 16 steps deep. A text or
    a number is always a leaf. If it also has parts, these are listed too.

    Examples
    --------
    >>> leaves({"mean": (0.5, "high")})
    {(('item', 'mean'), ('item', 0)): 0.5, (('item', 'mean'), ('item', 1)): 'high'}
    >>> leaves(1.5), leaves("text")
    ({}, {})
    """
    return dict(islice(_walk(output, ()), MOST_LEAVES))


def holds_more(output: object) -> bool:
    """Return whether an output has parts that `leaves` does not open.

    Examples
    --------
    >>> holds_more(["a"] * MOST_ENTRIES), holds_more(["a"] * (MOST_ENTRIES + 1))
    (False, True)
    """
    some = sum(1 for _ in islice(_walk(output, ()), MOST_LEAVES + 1))
    return some > MOST_LEAVES or _is_cut(output, [2 * MOST_LEAVES], 0)


def _is_cut(value: object, left: list[int], depth: int) -> bool:
    """Return whether a value has more parts than are opened. `left` counts down the parts yet to be read."""
    inside = parts_of(value, most=MOST_ENTRIES + 1)
    left[0] -= len(inside)
    if left[0] < 0 or (inside and depth == MOST_DEPTH) or len(inside) > MOST_ENTRIES:
        return True
    return type(value) is Ends or any(_is_cut(part, left, depth + 1) for _, part in inside)


def is_closed(value: Any) -> bool:
    """Return whether a value has no readable parts and no readable state.

    Examples
    --------
    >>> import threading
    >>> is_closed(threading.Lock()), is_closed("text")
    (True, False)
    """
    kind = type(value)
    if kind is Opaque:
        return True
    if kind in _SHOWN or parts_of(value):
        return False
    told = canonical.key(value)
    return type(told) is tuple and (told[0] == "unreadable" or (told[0] == "object" and _hides(value)))


#: Types whose canonical keys contain everything about a value.
_SHOWN = frozenset({str, int, float, bool, type(None), tuple, list, dict, set, frozenset, bytes, np.ndarray})


def _hides(value: Any) -> bool:
    try:
        value.__reduce_ex__(4)
    except Exception:  # noqa: BLE001 - many objects refuse, each in its own way
        return not getattr(value, "__dict__", None)
    return False


def _walk(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    inside = parts_of(value) if len(path) < MOST_DEPTH else ()
    if path and (not inside or type(value) is str or as_number(value) is not None):
        yield path, value
    for step, part in inside:
        yield from _walk(part, (*path, step))


def part_at(output: object, path: Path) -> object:
    """Return the part of an output at a path. If the output has no such part, return `ABSENT`.

    Examples
    --------
    >>> part_at({"a": (1, 2)}, (("item", "a"), ("item", 1)))
    2
    """
    for step in path:
        output = follow(output, step)
    return output


@dataclass(frozen=True)
class _AtPath(Feature):
    """What the output holds at a path."""

    path: Path
    cheap = True

    @property
    def words(self) -> str:
        return words_of(self.path)


class Part(_AtPath, NumberFeature):
    """A part of the output as a number.

    The value is NaN if the part is absent or not a number. A bool is 0 or 1.
    """

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        return numbers_at(view, self.path)


def numbers_at(view: View, path: Path) -> Floats:
    """Return the number at a path in every output of a block. If there is no number, the entry is NaN."""
    column: Floats = _kept(view, ("numbers", path), lambda: _read(view, path))
    return column


def _read(view: View, path: Path) -> Floats:
    how, name = path[-1] if path else ("", None)
    way = path[:-1]
    arrays = _kept(view, ("stacked", way), lambda: _stacked(view, way)) if how == "item" else None
    if arrays is not None:
        at = name if type(name) is tuple else (name,)
        if set(map(type, at)) <= {int} and len(at) == arrays.ndim - 1:
            inside = all(-size <= i < size for i, size in zip(at, arrays.shape[1:], strict=True))
            column = arrays[(slice(None), *at)] if inside else np.full(len(view), np.nan)
            return column.astype(np.float64)
    return as_column(parts_at(view, path))


def parts_at(view: View, path: Path) -> Any:
    """Return the part at a path in every output."""
    if not path:
        return view.outputs
    way, (how, name) = path[:-1], path[-1]
    values = _kept(view, way, lambda: parts_at(view, way))
    if how == "item" and type(name) is str and set(map(type, values)) == {dict}:  # the same, but faster
        return [value.get(name, ABSENT) for value in values]
    return [follow(value, path[-1]) for value in values]


def _kept(view: View, what: object, work_out: Callable[[], Any]) -> Any:
    if what not in view.inside:
        view.inside[what] = work_out()
    return view.inside[what]


def _stacked(view: View, path: Path) -> NDArray[Any] | None:
    """Return the arrays at a path, stacked, or None.

    None is returned unless all outputs have arrays of numbers of one shape.
    """
    parts = _kept(view, path, lambda: parts_at(view, path)) if path else []
    alike = set(map(type, parts)) == {np.ndarray} and len({(a.shape, a.dtype) for a in parts}) == 1
    return np.stack(parts) if alike and parts[0].dtype.kind in "iufb" else None


def matrix(view: View, paths: Sequence[Path]) -> Floats:
    """Return the numbers at some paths in every output of a block. The result has shape (runs, paths)."""
    return np.column_stack([numbers_at(view, path) for path in paths])


@dataclass(frozen=True)
class PartsDifference(NumberFeature):
    """The difference of two numbers inside the output.

    The value is NaN if a number is absent, or if both numbers are the same infinity.
    """

    first: Path
    second: Path

    @property
    def words(self) -> str:
        """The name of the feature, as the subject of a sentence."""
        return f"{words_of(self.first)} − {words_of(self.second)}"

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        with np.errstate(all="ignore"):
            return np.asarray(numbers_at(view, self.first) - numbers_at(view, self.second))


@dataclass(frozen=True)
class PartsSum(NumberFeature):
    """The sum of several numbers inside the output.

    Absent numbers count as 0. The sum is NaN if all numbers are absent, or if ∞ and −∞ are among them.
    """

    paths: tuple[Path, ...]

    @property
    def words(self) -> str:
        """The name of the feature, as the subject of a sentence."""
        return f"the sum of {_listed(self.paths)}"

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        rows = matrix(view, self.paths)
        with np.errstate(all="ignore"):
            return np.where(np.isnan(rows).all(axis=1), np.nan, added(rows))


@dataclass(frozen=True)
class PartsScore(TableScore):
    """A fitted score of several numbers inside the output.

    Each number has a table of its own. If all numbers are absent, the score is NaN.
    """

    paths: tuple[Path, ...] = ()

    @property
    def words(self) -> str:
        """The name of the feature, as the subject of a sentence."""
        return f"a score fitted to {self.entries} numbers{self._mostly()}"

    def names(self) -> list[str]:
        """Return the names of the numbers, one for each table."""
        return [words_of(path) for path in self.paths]

    def column(self, view: View) -> Floats:
        """Return the value of the feature for every output of a block."""
        rows = matrix(view, self.paths)
        return np.where(np.isnan(rows).all(axis=1), np.nan, self.of_rows(rows))


def _listed(paths: Sequence[Path]) -> str:
    named = [words_of(path) for path in paths]
    return (
        ", ".join(named) if len(named) <= 3 else f"{named[0]}, {named[1]} and {len(named) - 2} more numbers"
    )


class PartIs(_AtPath, AtomFeature):
    """The part at a path inside the output.

    All numbers count as one value, "a number".
    """

    def column(self, view: View) -> list[Hashable]:
        """Return the value of the feature for every output of a block."""
        return [atom(part) for part in parts_at(view, self.path)]

    def say(self, examples: Sequence[Any]) -> str:
        """Return the part in words. For a key of the output, say whether the key has a number."""
        if len(examples) == 1 and len(self.path) == 1 and (named := _key_of(self.path)):
            part = part_at(examples[0], self.path)
            if part is ABSENT:
                return f"the key {named} is not released"
            if atom(part) == _SOME_NUMBER:
                return f"a number is released under the key {named}"
        return super().say(examples)

    def _of(self, output: Any) -> Hashable:
        return atom(part_at(output, self.path))

    def _show(self, output: Any) -> str:
        part = part_at(output, self.path)
        if part is ABSENT:
            return "absent"
        return "a number" if atom(part) == _SOME_NUMBER else canonical.show(part)


_SOME_NUMBER = ("a number",)


def _key_of(path: Path) -> str:
    """Return the key in a path of one step, in words. If the step is not a text key, return an empty text."""
    [(how, name)] = path
    return canonical.show(name) if how == "item" and type(name) is str else ""


def atom(part: object) -> Hashable:
    """Return the canonical key of a part.

    All numbers have the same key. All absent parts have the same key.

    Examples
    --------
    >>> atom(1.5) == atom(2), atom("yes") == atom("no")
    (True, False)
    """
    if part is ABSENT:
        return ("absent",)
    if part is np.ma.masked:
        return ("masked",)
    number = as_number(part)
    return _SOME_NUMBER if number is not None and number == number else canonical.key(part)  # noqa: PLR0124
