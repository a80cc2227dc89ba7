"""Features whose values are atoms, such as the output, its keys and its kind."""

import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from audit.events.features.base import AtomFeature
from audit.events.features.openings import ABSENT, Path, words_of
from audit.events.features.parts import part_at
from audit.events.features.stand_ins import Ends, Frame
from audit.events.features.views import EXACT, View, as_mapping, as_number
from audit.values import canonical
from audit.values.outcomes import Raised, Unfinished


class Whole(AtomFeature):
    """The output itself, as a canonical key."""

    said = "the output"

    def column(self, view: View) -> list[Hashable]:
        """Return the feature's value for every output of a block. Equal rows of an array are read once."""
        rows = view.outputs
        if type(rows) is not np.ndarray or rows.dtype.kind not in "iubf" or not rows.size:
            return super().column(view)
        flat = np.ascontiguousarray(rows).reshape(len(rows), -1)
        texts = flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1])))[:, 0]
        _, first, places = np.unique(texts, return_index=True, return_inverse=True)
        known = [self.read(rows[k]) for k in first]
        return [known[k] for k in places]

    def _of(self, output: Any) -> Hashable:
        if type(output) is np.ndarray and output.dtype.kind in "iub":
            # compare values, not types: NaN in one row of an array turns every row into floats
            exact = output.astype(np.float64)
            return canonical.key(exact if (np.abs(exact) < EXACT).all() else output)
        return output.key if type(output) is Frame else canonical.key(output)

    def say(self, examples: Sequence[object]) -> str:
        """Return words for "the output is one of the examples".

        An exception is named by its type and the first line of its message.
        """
        raised = [_by_message(each) for each in examples if type(each) is Raised]
        answers = [each for each in examples if type(each) is not Raised]
        return " or ".join([*([super().say(answers)] if answers else []), *_raises(raised)])

    def _show(self, output: Any) -> str:
        return canonical.show(output)


class Keys(AtomFeature):
    """The keys of a mapping or of a list of pairs, in order."""

    said = "the tuple of keys of the output"

    def _of(self, output: Any) -> Hashable:
        keys = self._keys(output)
        return None if keys is None else canonical.key(keys)

    def column(self, view: View) -> list[Hashable]:
        """Return the value of the feature for every output of a block."""
        if not view.all_dicts or any(set(map(type, output)) != {str} for output in view.outputs):
            return super().column(view)
        names = [tuple(output) for output in view.outputs]
        # all names are texts, which are equal exactly if their keys are
        known = {each: canonical.key(each) for each in set(names)}
        return [known[each] for each in names]

    def say(self, examples: Sequence[object]) -> str:
        """Return which keys are released, in words."""
        return "; or ".join(map(self.show, examples))

    def _show(self, output: Any) -> str:
        keys = self._keys(output)
        if keys is None:
            return "the output has no keys"
        shown = ", ".join(map(canonical.show, keys))
        if len(keys) < 2:
            return f"only the key {shown} is released" if keys else "no key is released"
        return f"exactly the keys {shown} are released"

    @staticmethod
    def _keys(output: Any) -> tuple[Any, ...] | None:
        if issubclass(type(output), (tuple, list)) and not output:
            return ()  # a list of pairs may be empty
        mapping = as_mapping(output)
        return None if mapping is None else tuple(mapping)


class Kind(AtomFeature):
    """The coarse class of the output.

    Examples are number, str, list, array of a shape, or the type of the exception.
    """

    said = "the kind of the output"

    def column(self, view: View) -> list[Hashable]:
        """Return the value of the feature for every output of a block."""
        return ["dict"] * len(view) if view.all_dicts else super().column(view)

    def say(self, examples: Sequence[object]) -> str:
        """Return the kind of the output in words. For an exception, say which exception was raised."""
        raised = [f"{each.kind}" for each in examples if type(each) is Raised]
        shown = [self.show(each) for each in examples if type(each) is not Raised]
        told = [f"the output is {_KINDS[kind]}" for kind in shown if kind in _KINDS]
        others = [kind for kind in shown if kind not in _KINDS]
        if others:
            told.append(f"the kind of the output is {' or '.join(others)}")
        return " or ".join([*told, *_raises(raised)])

    def _show(self, output: Any) -> str:
        kind = type(output)
        told = _told(output)
        if told is not None:
            return f"{told} raised" if kind is Raised else told
        if issubclass(kind, np.ndarray):
            return f"array of shape {np.asarray(output).shape}"
        if issubclass(kind, (bool, np.bool_)):
            return "bool"
        if issubclass(kind, (int, float, np.number)) and as_number(output) is not None:
            return "NaN" if output != output else "number"  # noqa: PLR0124 - NaN alone differs from itself
        return _name(kind)


#: The words after "the output is" for some kinds. Other kinds need "the kind of the output is".
_KINDS = {"number": "a number", "NaN": "NaN", "NoneType": "None"}


def _by_message(raised: Raised) -> str:
    first = raised.message.strip().partition("\n")[0]
    return f"{raised.kind}: {first}" if first else raised.kind


def _raises(told: Sequence[str]) -> list[str]:
    return [f"the call raises {' or '.join(told)}"] if told else []


def _told(output: Any) -> str | None:
    """Return the kind of an output of one of our own classes.

    These are outcomes and stand-ins. For any other class, return None.
    """
    if type(output) is Unfinished:
        return f"no output ({output.reason})"
    return str(output.kind) if type(output) in (Raised, Frame, Ends) else None


def _name(kind: type) -> str:
    """Return the name of a class. Numpy's text, bytes and complex types get the names of Python's types."""
    twins = (str, bytes, complex) if issubclass(kind, np.generic) else ()
    return next((twin for twin in twins if issubclass(kind, twin)), kind).__name__


@dataclass(frozen=True)
class Type(AtomFeature):
    """The exact types of the output and of its entries, with shapes and dtypes.

    Parameters
    ----------
    path
        Path to a part of the output; the whole output if empty.
    """

    path: Path = ()

    @property
    def words(self) -> str:
        """The name of the feature, as the subject of a sentence."""
        return f"the type of {words_of(self.path)}"

    def _show(self, output: Any) -> str:
        return type_of(part_at(output, self.path))


#: Larger: slower, but rarer types are found. Number of entries whose types are read.
_TYPED = 64
#: Number of nested levels whose entries are read.
_TYPED_DEPTH = 4


def type_of(value: Any, *, depth: int = 0) -> str:
    """Return in words the type of a value and the types of its entries.

    Examples
    --------
    >>> type_of((1, [2.0, 3.0])), type_of(np.zeros(3, dtype=np.float32)), type_of({})
    ('tuple of (int, list of float)', 'ndarray of shape (3,) of float32', 'empty dict')
    """
    kind = type(value)
    told = "absent" if value is ABSENT else _told(value)
    if told is not None:
        return told
    if issubclass(kind, np.ndarray):
        plain = np.asarray(value)
        return f"{kind.__name__} of shape {plain.shape} of {plain.dtype}"
    if issubclass(kind, array.array):
        return f"{kind.__name__} of {value.typecode}"
    if depth == _TYPED_DEPTH or not issubclass(kind, (tuple, list, dict)):
        return _name(kind)
    entries = dict.values(value) if issubclass(kind, dict) else value
    inner = [type_of(entry, depth=depth + 1) for entry in islice(entries, _TYPED)]
    if not inner:
        return f"empty {kind.__name__}"
    return f"{kind.__name__} of {inner[0] if len(set(inner)) == 1 else '(' + ', '.join(inner) + ')'}"
