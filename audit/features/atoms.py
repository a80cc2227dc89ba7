"""Features that are atoms: the whole output, its keys, its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit import canonical
from audit.features.base import AtomFeature
from audit.features.views import as_mapping
from audit.outcomes import Raised, Unfinished

if TYPE_CHECKING:
    from collections.abc import Hashable

    from audit.features.views import View


@dataclass(frozen=True)
class Whole(AtomFeature):
    """The canonical output itself: text, tuples, sets, predictors, exceptions, NaN, None."""

    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the output"

    def of(self, output: object) -> Hashable:
        """Give the feature of one output."""
        return canonical.key(output)

    def show(self, output: object) -> str:
        """Say in words the value that this output has."""
        return canonical.show(output)


@dataclass(frozen=True)
class Keys(AtomFeature):
    """The keys of a mapping or of a list of pairs, in order."""

    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the tuple of keys of the output"

    def of(self, output: object) -> Hashable:
        """Give the feature of one output."""
        keys = self._keys(output)
        return None if keys is None else canonical.key(keys)

    def column(self, view: View) -> list[Hashable]:
        """Give the feature of every output of a block."""
        if not view.all_dicts or any(set(map(type, output)) != {str} for output in view.outputs):
            return super().column(view)
        names = [tuple(output) for output in view.outputs]
        known = {
            each: canonical.key(each) for each in set(names)
        }  # all are text: equal exactly where the keys are
        return [known[each] for each in names]

    def show(self, output: object) -> str:
        """Say in words the value that this output has."""
        keys = self._keys(output)
        return "absent" if keys is None else canonical.show(keys)

    @staticmethod
    def _keys(output: object) -> tuple[Any, ...] | None:
        if isinstance(output, (tuple, list)) and not output:
            return ()  # a list of pairs may be empty
        mapping = as_mapping(output)
        return None if mapping is None else tuple(mapping)


@dataclass(frozen=True)
class Kind(AtomFeature):
    """The kind of the output: its type and shape, or the type of the exception."""

    cheap = True

    @property
    def words(self) -> str:
        """The subject of a sentence."""
        return "the kind of the output"

    def of(self, output: object) -> Hashable:
        """Give the feature of one output."""
        return self.show(output)

    def column(self, view: View) -> list[Hashable]:
        """Give the feature of every output of a block."""
        return ["dict"] * len(view) if view.all_dicts else super().column(view)

    def show(self, output: object) -> str:
        """Say in words the value that this output has."""
        if isinstance(output, Raised):
            return f"{output.kind} raised"
        if isinstance(output, Unfinished):
            return f"no output ({output.reason})"
        if isinstance(output, np.ndarray):
            return f"array of shape {output.shape}"
        if isinstance(output, (bool, np.bool_)):
            return "bool"
        if isinstance(output, (int, float, np.number)) and not isinstance(output, np.complexfloating):
            return "NaN" if output != output else "number"  # noqa: PLR0124 - NaN alone differs from itself
        # A text is the same in a list and in an array, where numpy has its own class for it.
        plain = output.item() if isinstance(output, (np.str_, np.bytes_, np.complexfloating)) else output
        return type(plain).__name__
