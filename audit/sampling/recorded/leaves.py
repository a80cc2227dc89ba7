"""The numbers and words in an output, each with its place. They are its leaves."""

import numbers
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from audit.events.features.stand_ins import frame_of, is_table
from audit.values.canonical import key
from audit.values.wording import shown

Place = tuple[Any, ...]
Leaves = dict[Place, Any]
#: An output with more parts than this is not analysed.
MOST: Final = 400


class TooLargeError(Exception):
    """An output has too many parts to be explained."""


def leaves_of(output: Any) -> Leaves:
    """Return the leaves of an output by their places.

    Examples
    --------
    >>> leaves_of(("a", [1.5, None]))
    {(0,): 'a', (1, 0): 1.5, (1, 1): None}
    """
    found: Leaves = {}
    _gather(output, (), found)
    return found


def _opened(value: Any) -> Any:
    """Return a table as a dict and an array as a list.

    The keys of the dict are the labels. Anything else is returned unchanged.
    """
    if is_table(value):
        frame = frame_of(value)
        value = list(frame.values) if frame.labelled is None else frame.labelled
    return value.tolist() if isinstance(value, np.ndarray) and value.ndim else value


#: Types of leaves that are not opened. Most leaves have these types, so the check makes recording faster.
_PLAIN: Final = frozenset({float, int, bool, str, type(None)})


def _gather(value: Any, place: Place, found: Leaves) -> None:
    """Add to `found` the leaves of the value at a place in the output."""
    if type(value) not in _PLAIN:
        value = _opened(value)
        if isinstance(value, np.ndarray | np.generic):
            value = value.item()
        if isinstance(value, Mapping | list | tuple):
            held = value.items() if isinstance(value, Mapping) else enumerate(value)
            for name, each in held:
                _gather(each, (*place, name), found)
            return
        if not (value is None or isinstance(value, bool | numbers.Real | str)):
            value = key(value)
    found[place] = value
    if len(found) > MOST:
        raise TooLargeError


def is_number(leaf: Any) -> bool:
    """Return whether a leaf is a number. NaN is a number, and a boolean is not."""
    return isinstance(leaf, numbers.Real) and not isinstance(leaf, bool)


def tokens(output: Any) -> dict[Any, str]:
    """Return the words, keys and lengths in an output. Each has the name that reports give it.

    Examples
    --------
    >>> list(tokens({"a": 1.5}).values())
    ["the key 'a'", 'a length of 1']
    """
    return dict(_tokens(output))


def _tokens(value: Any) -> Iterator[tuple[Any, str]]:
    value = _opened(value)
    if isinstance(value, Mapping):
        for name, held in value.items():
            yield ("key", key(name)), f"the key {shown(name, 40)}"
            yield from _tokens(held)
    if isinstance(value, list | tuple | set | frozenset):
        for held in value:
            yield from _tokens(held)
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        yield ("length", len(value)), f"a length of {len(value)}"
    if isinstance(value, str):
        yield ("word", value), shown(value, 40)
