"""What a feature is: a named total function of one output."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from audit.codec.decoding import decode
from audit.codec.encoding import encode
from audit.distributions.law import Floats
from audit.errors import InvalidValue
from audit.events.features.stand_ins import stand_in
from audit.events.features.views import View

_REGISTRY: dict[str, type["Feature"]] = {}


@dataclass(frozen=True)
class Feature(ABC):
    """A named total function of one output, equal to another of its class by its fields."""

    #: Cheap features share half of the first stake, fitted or numerous ones the other half.
    cheap: ClassVar[bool] = False
    #: What `words` says, with {0} for the feature itself.
    said: ClassVar[str]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):  # a shared base is not a feature
            _REGISTRY[cls.__name__] = cls

    @property
    def words(self) -> str:
        """What the feature is of an output, as the subject of a sentence."""
        return self.said.format(self)

    def of(self, output: object) -> Any:
        """Give the feature of one output."""
        return self.column(View([output]))[0]

    @abstractmethod
    def column(self, view: View) -> Any:
        """Give the feature of every output of a block."""

    def to_json(self) -> dict[str, Any]:
        """Give the feature's name and its fields as tagged JSON: a key may be a tuple, an edge infinite."""
        values = {item.name: encode(getattr(self, item.name)) for item in fields(self)}
        return {"feature": type(self).__name__, **values}


class NumberFeature(Feature):
    """A feature whose value is a number; NaN for an output that it cannot score."""

    #: The words for "the output has this number" and for "it has not"; {0} as in `said`.
    present: ClassVar[str] = "{0.words} is a number"
    absent: ClassVar[str] = "{0.words} is not a number (or is absent)"

    def special(self, intervals: tuple[tuple[float, float], ...], *, unscored: bool) -> str | None:
        """Say that the value lies in these intervals [low, high) in words of its own; None if it has none."""
        if unscored:
            return None if intervals else self.absent.format(self)
        return self.present.format(self) if intervals == ((-np.inf, np.inf),) else None


class AtomFeature(Feature):
    """A feature whose value is a canonical key."""

    def column(self, view: View) -> list[Hashable]:
        """Give the feature of every output of a block."""
        return [self.read(output) for output in view.outputs]

    def read(self, output: object) -> Hashable:
        """Give the feature of an output as a block keeps it, one value for all that cannot be looked at."""
        try:
            return self._of(output)
        except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
            return UNREADABLE

    def say(self, examples: Sequence[object]) -> str:
        """Say that the value is that of one of these outputs."""
        shown = [self.show(example) for example in examples]
        if len(shown) == 1:
            return f"{self.words} is {shown[0]}"
        return f"{self.words} is one of " + "; ".join(shown)

    def show(self, output: object) -> str:
        """Say in words the value that this output has."""
        try:
            return self._show(stand_in(output))
        except Exception:  # noqa: BLE001 - see `read`
            return UNREADABLE[0]

    def _of(self, output: Any) -> Hashable:
        """Give the feature of one output: what is said of it, unless a class knows better; it may raise."""
        return self._show(output)

    @abstractmethod
    def _show(self, output: Any) -> str:
        """Say the value in words; it may raise."""


#: The value of every atom feature where an output's own code fails.
UNREADABLE = ("unreadable",)


def feature_from_json(document: Mapping[str, Any]) -> Feature:
    """Rebuild a feature from `to_json`.

    Examples
    --------
    >>> from audit.events.features.numbers import Difference
    >>> feature_from_json(Difference(first=0, second=1).to_json())
    Difference(first=0, second=1)
    """
    values = {name: decode(value) for name, value in document.items()}
    kind = _REGISTRY.get(str(values.pop("feature", None)))
    if kind is None:
        raise InvalidValue(f"There is no feature called {document.get('feature')!r}.")
    try:
        return kind(**values)
    except (TypeError, ValueError) as error:
        raise InvalidValue(f"The feature {document.get('feature')!r} cannot be rebuilt: {error}.") from None


def scored(view: View, groups: Iterable[tuple[Any, Any]]) -> Floats:
    """Give the column of a block, NaN but for some groups: where their outputs are, and what these score.

    Examples
    --------
    >>> scored(View([1.5, "no", 2.5]), [(0, 3.0), ([2], [5.0])]).tolist()
    [3.0, nan, 5.0]
    """
    column = np.full(len(view), np.nan)
    for where, scores in groups:
        column[where] = scores
    return column
