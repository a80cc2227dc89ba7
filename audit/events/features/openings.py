"""Find the parts of values of every kind, and the steps that lead to them.

A step never fails. If a value has no such part, the step leads to `ABSENT`.
"""

import array
import collections
import datetime as dt
import functools
import pathlib
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np

from audit.events.features.stand_ins import Frame, frame_of, is_table
from audit.events.features.views import as_number
from audit.values import canonical
from audit.values.brief import slots_of
from audit.values.outcomes import Raised, Unfinished

#: One step inwards: the kind of step (a key of `_WAYS`), and the name or index of the part.
Step = tuple[str, Any]
Path = tuple[Step, ...]

MOST_ENTRIES = 512
#: Larger: more of a text is read. Number of letters from each end.
LETTERS = 8
#: Stands for a missing part.
ABSENT = object()

_LEAVES = (type(None), bool, np.bool_, type, types.ModuleType, Unfinished)
_PLAIN_LEAVES = frozenset({float, int, bool, type(None), np.float64, np.int64, np.bool_})
_NUMBER = re.compile(r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - moments are read as they stand, their zone apart
_TICK = dt.timedelta(microseconds=1)


def parts_of(value: Any, *, most: int = MOST_ENTRIES) -> Sequence[tuple[Step, Any]]:
    """Return the parts of a value, each with the step that leads to it.

    If the value has no parts, the result is empty.

    Examples
    --------
    >>> parts_of((1.5, "a"))
    [(('item', 0), 1.5), (('item', 1), 'a')]
    >>> parts_of(1.5)
    ()
    """
    kind = type(value)  # common types come first: this is called for every part of many outputs
    if kind in _PLAIN_LEAVES:
        return ()
    if kind is tuple or kind is list:
        return [(("item", i), value[i]) for i in _both_ends(len(value), most)]
    try:
        if issubclass(kind, _LEAVES) or value is np.ma.masked:
            return ()
        return list(islice(_opened(value, most), most))
    except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
        return ()


def follow(value: Any, step: Step) -> Any:
    """Return the part that a step leads to, or `ABSENT`.

    Examples
    --------
    >>> follow({"a": 1}, ("item", "a")), follow(1.5, ("item", 0)) is ABSENT
    (1, True)
    """
    how, name = step
    kind = type(value)
    if value is ABSENT or kind is Unfinished or (kind is Raised and name != "message"):
        return ABSENT
    try:
        return _WAYS[how][0](value, name)
    except Exception:  # noqa: BLE001 - another kind of output, or one whose own code fails
        return ABSENT


def words_of(path: Path) -> str:
    """Return where a path leads, in words.

    Examples
    --------
    >>> words_of((("item", "name"), ("letter", -1)))
    "the last letter of output['name']"
    """
    said = "output"
    for how, name in path:
        said = _WAYS[how][1](said, name)
    return said


def _both_ends(length: int, most: int) -> Sequence[int]:
    """Return at most `most` indices of a sequence, half from each end."""
    if length <= most:
        return range(length)
    return [*range(most - most // 2), *range(-(most // 2), 0)]


def _opened(value: Any, most: int) -> Iterator[tuple[Step, Any]]:
    kind = type(value)
    opener = _opener(kind)  # type: ignore[arg-type] # a class is hashable
    if opener is not None:
        return opener(value, most)
    if as_number(value) is not None:
        return iter(())
    if is_table(value):
        return _by(value, ("frame", None))
    if hasattr(kind, "to_numpy"):  # a pandas timestamp holds more than microseconds
        return _by(value, ("numpy", None))
    if hasattr(kind, "__array__") and not issubclass(kind, np.generic):
        return _by(value, ("array", None), ("attribute", "dtype"))
    names = [("attribute", name) for name in _attributes(value)]
    # classes written in C keep state that is not an attribute
    hidden = any("__reduce__" in vars(each) or "__reduce_ex__" in vars(each) for each in kind.__mro__[:-1])
    return _by(value, *names, *([("state", None)] if hidden or not names else []))


@functools.lru_cache(maxsize=1024)
def _opener(kind: Any) -> Callable[[Any, int], Iterator[tuple[Step, Any]]] | None:
    return next((opener for kinds, opener in _OPENERS if issubclass(kind, kinds)), None)


def _by(value: Any, *steps: Step) -> Iterator[tuple[Step, Any]]:
    found = ((step, follow(value, step)) for step in steps)
    return ((step, part) for step, part in found if part is not ABSENT)


def _through(*steps: Step) -> Callable[[Any, int], Iterator[tuple[Step, Any]]]:
    return lambda value, _: _by(value, *steps)


def _of_text(value: str, _most: int) -> Iterator[tuple[Step, Any]]:
    """Yield the text without its numbers, then the numbers. If the text has no numbers, yield nothing."""
    numbers = _NUMBER.findall(value)
    if numbers:
        yield ("text", None), _NUMBER.sub("#", value)
    for i, number in enumerate(numbers):
        yield ("number", i), float(number)


def letters_of(text: str) -> Iterator[tuple[Step, str]]:
    """Yield the first and the last letters of a text, each with its step.

    Examples
    --------
    >>> list(letters_of("ab"))
    [(('letter', 0), 'a'), (('letter', 1), 'b'), (('letter', -1), 'b'), (('letter', -2), 'a')]
    """
    for i in (*range(LETTERS), *range(-1, -LETTERS - 1, -1)):
        if -len(text) <= i < len(text):
            yield ("letter", i), text[i]


def _of_sequence(value: Any, most: int) -> Iterator[tuple[Step, Any]]:
    return ((("item", i), value[i]) for i in _both_ends(len(value), most))


def _of_deque(value: Any, most: int) -> Iterator[tuple[Step, Any]]:
    yield ("attribute", "maxlen"), value.maxlen
    yield from _of_sequence(value, most)


def _of_array(value: Any, most: int) -> Iterator[tuple[Step, Any]]:
    plain = np.asarray(value)
    if plain.dtype.kind in "mM":
        return _by(plain, ("ticks", None))
    if plain.ndim == 1:
        return _of_sequence(plain, most)
    if plain.ndim == 0 and plain.dtype.kind in "iufb":
        return iter(())
    return ((("item", at), plain[at]) for at in np.ndindex(plain.shape))


def _of_frame(value: Frame, _most: int) -> Iterator[tuple[Step, Any]]:
    cells = ("attribute", "values") if value.labelled is None else ("labelled", None)
    return _by(value, cells, *(("attribute", name) for name in _attributes(value) if name != "values"))


def _of_set(value: Any, _most: int) -> Iterator[tuple[Step, Any]]:
    numbers = all(as_number(part) is not None for part in value)
    return ((("sorted", i), part) for i, part in enumerate(sorted(value) if numbers else ()))


def _of_function(value: types.FunctionType, _most: int) -> Iterator[tuple[Step, Any]]:
    return ((("variable", name), cell.cell_contents) for name, cell in _cells(value).items())


def _of_moment(value: Any, _most: int) -> Iterator[tuple[Step, Any]]:
    if hasattr(type(value), "to_numpy"):  # pandas timestamps hold nanoseconds
        return _by(value, ("numpy", None), ("attribute", "tzinfo"))
    return _by(value, ("ticks", None), ("attribute", "tzinfo"), ("attribute", "fold"))


_OPENERS: tuple[tuple[Any, Callable[[Any, int], Iterator[tuple[Step, Any]]]], ...] = (
    (str, _of_text),
    (Raised, lambda value, _: _by(value, ("attribute", "message")) if value.message else iter(())),
    (Frame, _of_frame),
    (np.void, lambda value, _: ((("item", name), value[name]) for name in value.dtype.names or ())),
    ((dt.date, dt.time, dt.timedelta), _of_moment),
    ((np.datetime64, np.timedelta64), _through(("ticks", None))),
    (np.ma.MaskedArray, _through(("attribute", "mask"), ("attribute", "data"))),
    (np.ndarray, _of_array),
    ((complex, np.complexfloating), _through(("attribute", "real"), ("attribute", "imag"))),
    (Decimal, _through(("digits", None))),
    (Fraction, _through(("attribute", "numerator"), ("attribute", "denominator"))),
    (memoryview, _through(("array", None))),
    (array.array, _of_sequence),
    (collections.deque, _of_deque),
    ((range, slice), _through(("attribute", "start"), ("attribute", "stop"), ("attribute", "step"))),
    (pathlib.PurePath, _through(("text of", None))),
    (functools.partial, _through(("attribute", "func"), ("attribute", "args"), ("attribute", "keywords"))),
    (types.MethodType, _through(("attribute", "__self__"))),
    (types.FunctionType, _of_function),
    (Mapping, lambda value, _: ((("item", name), part) for name, part in value.items())),
    ((set, frozenset), _of_set),
    (Sequence, _of_sequence),
)


def _ticks(value: Any, _name: Any) -> Any:
    """Return a date, a time or a span as a whole number of its units.

    The units are days, microseconds, or those of numpy.
    """
    kind = type(value)
    if issubclass(kind, (np.ndarray, np.datetime64, np.timedelta64)):
        if value.dtype.kind not in "mM" or (np.isnat(value) if value.ndim == 0 else False):
            return ABSENT
        whole = value.astype(np.int64)
        return whole if value.ndim else int(whole)
    if issubclass(kind, dt.timedelta):
        return value // _TICK
    if issubclass(kind, dt.datetime):
        return (value.replace(tzinfo=None) - _EPOCH) // _TICK
    if issubclass(kind, dt.date):
        return value.toordinal()
    return ((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond


def _digits(value: Decimal, _name: Any) -> tuple[int, Any]:
    """Return the digits of a decimal number as a whole number, and its exponent."""
    sign, digits, exponent = value.as_tuple()
    whole = int("".join(map(str, digits)) or "0")
    return (-whole if sign else whole, exponent)


def _state(value: Any, _name: Any) -> Any:
    """Return what pickle keeps of an object without attributes. For a plain object, return `ABSENT`."""
    reduced = value.__reduce_ex__(4)
    if type(reduced) is not tuple:
        return ABSENT
    kept = tuple(list(part) if hasattr(type(part), "__next__") else part for part in reduced[1:])
    return tuple(part for part in kept if part is not type(value)) or ABSENT


def _attribute(value: Any, name: str) -> Any:
    if name == "mask" and issubclass(type(value), np.ma.MaskedArray):
        return np.ma.getmaskarray(value)
    return getattr(value, name)


def _item(value: Any, name: Any) -> Any:
    kind = type(value)
    if kind is dict:  # by far the most common: the check of an abstract class takes ten times as long
        return value.get(name, ABSENT)
    if issubclass(kind, Mapping) and name not in value:
        return ABSENT  # a defaultdict would create the key
    return np.asarray(value)[name] if issubclass(kind, np.ndarray) else value[name]


def _cells(function: types.FunctionType) -> dict[str, types.CellType]:
    return dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _attributes(value: Any) -> Sequence[str]:
    if is_dataclass(value):
        return [field.name for field in fields(value) if hasattr(value, field.name)]
    slots = {name for kind in type(value).__mro__ for name in slots_of(kind)}
    held = {name for name in slots if not name.startswith("__") and hasattr(value, name)}
    return sorted({*held, *getattr(value, "__dict__", ())})


def _say_item(said: str, name: Any) -> str:
    index = type(name) is tuple and all(type(i) is int for i in name) and name
    return f"{said}[{', '.join(map(str, name)) if index else canonical.show(name)}]"


def _say_letter(said: str, name: int) -> str:
    if name >= 0:
        return f"letter {name + 1} of {said}"
    return f"the last letter of {said}" if name == -1 else f"letter {-name} from the end of {said}"


#: For each kind of step: the function that follows the step, and the function that puts it in words.
_WAYS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[str, Any], str]]] = {
    "item": (_item, _say_item),
    "attribute": (_attribute, lambda said, name: f"{said}.{name}"),
    "text": (lambda value, _: _NUMBER.sub("#", value), lambda said, _: f"{said} without its numbers"),
    "number": (
        lambda value, name: float(_NUMBER.findall(value)[name]),
        lambda said, name: f"number {name + 1} in {said}",
    ),
    "letter": (lambda value, name: value[name] if issubclass(type(value), str) else ABSENT, _say_letter),
    "sorted": (lambda value, name: sorted(value)[name], lambda said, name: f"sorted({said})[{name}]"),
    "array": (lambda value, _: np.asarray(value), lambda said, _: f"asarray({said})"),
    "numpy": (lambda value, _: value.to_numpy(), lambda said, _: said),
    "frame": (lambda value, _: frame_of(value), lambda said, _: said),
    "labelled": (lambda value, _: value.labelled, lambda said, _: said),
    "ticks": (_ticks, lambda said, _: f"{said} (in ticks)"),
    "digits": (_digits, lambda said, _: f"digits({said})"),
    "state": (_state, lambda said, _: f"state({said})"),
    "text of": (lambda value, _: str(value), lambda said, _: f"str({said})"),
    "variable": (
        lambda value, name: _cells(value)[name].cell_contents,
        lambda said, name: f"({said}'s variable {name})",
    ),
}
