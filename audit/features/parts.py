"""What lies inside a structured output: entries of arrays, fields, attributes, variables.

A leak may sit in one entry of `(coefficients, intercept)`, beside noise that makes every output another.
"""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.features.base import AtomFeature, NumberFeature
from audit.features.scores import TableScore
from audit.features.views import as_entry, as_number
from audit.outcomes import Raised, Unfinished

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from audit.features.views import View

#: One step inwards: how ("item", "attribute", "sorted", "variable", "array", "text", "number"), and which.
Step = tuple[str, Any]
Path = tuple[Step, ...]

MOST_LEAVES = 512
MOST_ENTRIES = 512
MOST_DEPTH = 6

_LEAVES = (type(None), bool, np.bool_, type, types.ModuleType, Unfinished)
_PLAIN_LEAVES = frozenset({float, int, bool, type(None), np.float64, np.int64, np.bool_})
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
#: What stands for a part that is not there.
ABSENT = object()


def leaves(output: object) -> dict[Path, object]:
    """Give what is inside an output and cannot be opened further, by where it is; nothing for what is a leaf.

    Guarantee: depends on this output alone; at most 512 leaves, 6 steps deep.

    Examples
    --------
    >>> leaves({"mean": (0.5, "high")})
    {(('item', 'mean'), ('item', 0)): 0.5, (('item', 'mean'), ('item', 1)): 'high'}
    >>> leaves(1.5), leaves("text")
    ({}, {})
    """
    return dict(islice(_walk(output, ()), MOST_LEAVES))


def holds_more(output: object) -> bool:
    """Tell whether an output has parts that `leaves` does not open.

    Examples
    --------
    >>> holds_more(["a"] * MOST_ENTRIES), holds_more(["a"] * (MOST_ENTRIES + 1))
    (False, True)
    """
    some = sum(1 for _ in islice(_walk(output, ()), MOST_LEAVES + 1))
    return some > MOST_LEAVES or _is_cut(output, 0)


def _is_cut(value: object, depth: int) -> bool:
    inside = _inside(value, most=MOST_ENTRIES + 1)
    if depth == MOST_DEPTH or len(inside) > MOST_ENTRIES:
        return bool(inside)
    return any(_is_cut(part, depth + 1) for _, part in inside)


def _walk(value: object, path: Path) -> Iterator[tuple[Path, object]]:
    inside = _inside(value) if len(path) < MOST_DEPTH else ()
    if not inside and path:
        yield path, value
    for step, part in inside:
        yield from _walk(part, (*path, step))


def _inside(value: Any, *, most: int = MOST_ENTRIES) -> Sequence[tuple[Step, Any]]:
    """Give the parts of a value, each with the step to it; none of a leaf."""
    kind = type(value)  # what is common is told by its type alone: every part of many outputs is asked
    if kind in _PLAIN_LEAVES:
        return ()
    if kind is tuple or kind is list:
        return [(("item", i), part) for i, part in enumerate(value[:most])]
    try:
        if isinstance(value, _LEAVES) or value is np.ma.masked or as_number(value) is not None:
            return ()
        if isinstance(value, Raised):  # its text may tell what its kind does not
            return [(("attribute", "message"), value.message)] if _NUMBER.search(value.message) else ()
        return list(islice(_of_text(value) if isinstance(value, str) else _opened(value), most))
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return ()


def _opened(value: Any) -> Iterator[tuple[Step, Any]]:
    if isinstance(value, (Mapping, Sequence, np.void, np.ndarray)):
        return _items(value)
    if isinstance(value, (set, frozenset)):
        numbers = all(as_number(part) is not None for part in value)
        return ((("sorted", i), part) for i, part in enumerate(sorted(value) if numbers else ()))
    if isinstance(value, types.FunctionType):
        return ((("variable", name), cell.cell_contents) for name, cell in _cells(value).items())
    if hasattr(type(value), "__array__") and not isinstance(value, np.generic):
        return iter([(("array", None), np.asarray(value))])
    return ((("attribute", name), getattr(value, name)) for name in _attributes(value))


def _of_text(value: str) -> Iterator[tuple[Step, Any]]:
    """Give the text without its numbers, and these; nothing of a text that holds none."""
    numbers = _NUMBER.findall(value)
    if numbers:
        yield ("text", None), _step(value, "text", None)
    for i, number in enumerate(numbers):
        yield ("number", i), float(number)


def _items(value: Any) -> Iterator[tuple[Step, Any]]:
    if isinstance(value, Mapping):
        return ((("item", name), part) for name, part in value.items())
    if isinstance(value, np.void):
        return ((("item", name), value[name]) for name in value.dtype.names or ())
    if isinstance(value, np.ndarray):
        places = np.ndindex(value.shape)
        return ((("item", at if len(at) != 1 else at[0]), value[at]) for at in places)
    return ((("item", i), part) for i, part in enumerate(value))


def _cells(function: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _attributes(value: Any) -> Sequence[str]:
    if isinstance(value, (complex, np.complexfloating)):
        return ("real", "imag")
    if isinstance(value, functools.partial):
        return ("args", "keywords")
    if isinstance(value, types.MethodType):
        return ("__self__",)
    if is_dataclass(value):
        return [field.name for field in fields(value) if hasattr(value, field.name)]
    slots = [name for kind in type(value).__mro__ for name in _slots(kind) if hasattr(value, name)]
    return sorted({*slots, *getattr(value, "__dict__", ())})


def _slots(kind: type) -> tuple[str, ...]:
    named = kind.__dict__.get("__slots__", ())
    names = (named,) if isinstance(named, str) else tuple(named)
    return tuple(name for name in names if not name.startswith("__"))


def _part(value: Any, path: Path) -> Any:
    """Follow a path into an output; what is not there is `ABSENT`."""
    try:
        for how, name in path:
            if isinstance(value, Unfinished) or (isinstance(value, Raised) and name != "message"):
                return ABSENT
            value = _step(value, how, name)
    except Exception:  # noqa: BLE001 - another kind of output, or one whose own code fails
        return ABSENT
    return value


def _step(value: Any, how: str, name: Any) -> Any:
    if how == "item":
        # a defaultdict would make what is not there
        return ABSENT if isinstance(value, Mapping) and name not in value else value[name]
    if how == "attribute":
        return getattr(value, name)
    if how == "text":
        return _NUMBER.sub("#", value)
    if how == "number":
        return float(_NUMBER.findall(value)[name])
    if how == "sorted":
        return sorted(value)[name]
    return np.asarray(value) if how == "array" else _cells(value)[name].cell_contents


def _words(path: Path) -> str:
    said = "output"
    for how, name in path:
        if how == "item":
            index = isinstance(name, tuple) and all(type(i) is int for i in name) and name
            said += f"[{', '.join(map(str, name)) if index else canonical.show(name)}]"
        elif how == "attribute":
            said += f".{name}"
        elif how == "text":
            said = f"{said} without its numbers"
        elif how == "number":
            said = f"number {name + 1} in {said}"
        else:
            said = {"sorted": f"sorted({said})[{name}]", "array": f"asarray({said})"}.get(
                how, f"({said}'s variable {name})"
            )
    return said


@dataclass(frozen=True)
class Part(NumberFeature):
    """A number inside the output; NaN where it is absent or no number."""

    path: Path
    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return _words(self.path)

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        return _column(view, self.path)


def _column(view: View, path: Path) -> NDArray[np.float64]:
    known = view.parts.get(path)
    if known is None:
        parts = (_part(output, path) for output in view.outputs)
        known = view.parts[path] = np.array([_number(part) for part in parts], dtype=np.float64)
    return known


def matrix(view: View, paths: Sequence[Path]) -> NDArray[np.float64]:
    """Give the numbers at some places in every output of a block, shape (runs, places)."""
    return np.column_stack([_column(view, path) for path in paths])


@dataclass(frozen=True)
class PartsDifference(NumberFeature):
    """The difference of two numbers inside the output; NaN where one is absent."""

    first: Path
    second: Path

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"{_words(self.first)} − {_words(self.second)}"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        with np.errstate(all="ignore"):
            return np.asarray(_column(view, self.first) - _column(view, self.second))


@dataclass(frozen=True)
class PartsSum(NumberFeature):
    """The sum of some numbers inside the output, absent ones left out; NaN where all are absent."""

    paths: tuple[Path, ...]

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"the sum of {_listed(self.paths)}"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        total, some = np.zeros(len(view)), np.zeros(len(view), dtype=bool)
        with np.errstate(all="ignore"):
            for path in self.paths:  # one by one: a pairwise sum depends on memory layout
                column = _column(view, path)
                total = total + np.where(np.isnan(column), 0.0, column)
                some |= ~np.isnan(column)
        return np.where(some, total, np.nan)


@dataclass(frozen=True)
class PartsScore(TableScore):
    """The sum of tables over some numbers inside the output; NaN where all are absent."""

    paths: tuple[Path, ...] = ()

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return f"a score fitted to {_listed(self.paths)} (sum of their log-ratios)"

    def column(self, view: View) -> NDArray[np.float64]:
        """Give the feature of every output of a block."""
        rows = matrix(view, self.paths)
        return np.where(np.isnan(rows).all(axis=1), np.nan, self.of_rows(rows))


def _listed(paths: Sequence[Path]) -> str:
    named = [_words(path) for path in paths]
    return (
        ", ".join(named) if len(named) <= 3 else f"{named[0]}, {named[1]} and {len(named) - 2} more numbers"
    )


@dataclass(frozen=True)
class PartIs(AtomFeature):
    """What is at a place inside the output, where that is no number; a number counts as "a number"."""

    path: Path
    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return _words(self.path)

    def of(self, output: object) -> Hashable:
        """Give the feature of one output."""
        return atom(_part(output, self.path))

    def show(self, output: object) -> str:
        """Say in words the value that this output has."""
        part = _part(output, self.path)
        if part is ABSENT:
            return "absent"
        return "a number" if atom(part) == _SOME_NUMBER else canonical.show(part)


_SOME_NUMBER = ("a number",)


def _number(part: object) -> float:
    return float("nan") if part is np.ma.masked else as_entry(part)


def atom(part: object) -> Hashable:
    """Give the key of a part, one for all numbers and one for "absent".

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
