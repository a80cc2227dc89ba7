"""What a feature is."""

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
    """A named function of one output, defined for every output.

    Two features are equal if their classes and fields are equal.
    """

    #: Whether the feature is one of the few that share half of the wealth. Fitted or numerous features share
    #: the other half.
    cheap: ClassVar[bool] = False
    #: Format string of `words`, with {0} for the feature itself.
    said: ClassVar[str]

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):  # a shared base is not a feature
            _REGISTRY[cls.__name__] = cls

    @property
    def words(self) -> str:
        """Name of the feature, as the subject of a sentence."""
        return self.said.format(self)

    def of(self, output: object) -> Any:
        """Return the value of the feature for one output."""
        return self.column(View([output]))[0]

    @abstractmethod
    def column(self, view: View) -> Any:
        """Return the value of the feature for every output of a block."""

    def values(self, view: View) -> Any:
        """Return the same as `column`, but compute the value of equal outputs only once."""
        if view.grouped is None:
            return self.column(view)
        distinct, places = view.grouped
        column = self.column(distinct)
        return column[places] if isinstance(column, np.ndarray) else [column[k] for k in places.tolist()]

    def to_json(self) -> dict[str, Any]:
        """Return the feature's name and fields as tagged JSON.

        Keys may be tuples, and edges may be infinite.
        """
        values = {item.name: encode(getattr(self, item.name)) for item in fields(self)}
        return {"feature": type(self).__name__, **values}


class NumberFeature(Feature):
    """A feature whose value is a number. The value is NaN for an output that the feature cannot score."""

    #: The words for "the output has this number" and "the output does not have this number"; {0} as in
    #: `said`.
    present: ClassVar[str] = "{0.words} is a number"
    absent: ClassVar[str] = "{0.words} is not a number (or is absent)"

    def special(self, intervals: tuple[tuple[float, float], ...], *, unscored: bool) -> str | None:
        """Return a shorter phrase for "the value lies in these intervals", or None.

        The intervals [low, high) are half-open.
        """
        if unscored:
            return None if intervals else self.absent.format(self)
        if intervals == ((-np.inf, np.inf),):
            return self.present.format(self)
        return self._special_interval(*intervals[0]) if len(intervals) == 1 else None

    def _special_interval(self, low: float, high: float) -> str | None:  # noqa: ARG002 - most have none
        """Return special words for "the value lies in this interval", or None.

        One end may be infinite.
        """
        return None


class AtomFeature(Feature):
    """A feature whose value is a canonical key."""

    cheap = True

    def column(self, view: View) -> list[Hashable]:
        """Return the value of the feature for every output of a block."""
        return [self.read(output) for output in view.outputs]

    def read(self, output: object) -> Hashable:
        """Return the feature's value for an output of a block.

        If the output's own code fails, the value is `UNREADABLE`.
        """
        try:
            return self._of(output)
        except Exception:  # noqa: BLE001 - an object of the user's may raise anything when it is looked at
            return UNREADABLE

    def say(self, examples: Sequence[object]) -> str:
        """Return words for "the value equals that of one of these outputs"."""
        shown = [self.show(example) for example in examples]
        if len(shown) == 1:
            return f"{self.words} is {shown[0]}"
        return f"{self.words} is one of " + "; ".join(shown)

    def show(self, output: object) -> str:
        """Return the feature's value for this output in words."""
        try:
            return self._show(stand_in(output))
        except Exception:  # noqa: BLE001 - see `read`
            return UNREADABLE[0]

    def _of(self, output: Any) -> Hashable:
        """Return the value of the feature for one output.

        By default, this is the value in words. The method may raise.
        """
        return self._show(output)

    @abstractmethod
    def _show(self, output: Any) -> str:
        """Return the value in words. The method may raise."""


#: The value of every atom feature for an output whose own code fails.
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
    """Return a column with each group's scores at the group's positions.

    At all other positions the column is NaN.

    Examples
    --------
    >>> scored(View([1.5, "no", 2.5]), [(0, 3.0), ([2], [5.0])]).tolist()
    [3.0, nan, 5.0]
    """
    groups = list(groups)
    if len(groups) == 1 and isinstance(groups[0][0], slice) and np.shape(groups[0][1]) == (len(view),):
        return np.asarray(groups[0][1], dtype=np.float64)
    column = np.full(len(view), np.nan)
    for where, scores in groups:
        column[where] = scores
    return column
