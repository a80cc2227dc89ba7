"""A value that is saved field by field."""

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from audit.codec import encoding, stored
from audit.values.said import Said

#: Fields that can hold any Python value. The saved form distinguishes a tuple from a list only in these
#: fields.
_ANY = frozenset(
    {"left", "right", "event", "claim", "parameters", "database", "output", "source", "remembered"}
)


def is_saved(name: str) -> bool:
    """Return whether a field is part of the saved form. `environment` is stored beside that form."""
    return name not in {"environment", "_subject", "_ended"}


def _plain(value: Any, name: str) -> Any:
    if name in _ANY:
        return encoding.encode(value)
    if isinstance(value, SavedValue):
        return value._stored()  # noqa: SLF001 - a value of this module
    if isinstance(value, Said):
        return {"kind": value.kind, "text": str(value)} if value.kind else str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(item, name) for item in value]
    return encoding.encode(value)


@dataclass(frozen=True, eq=False)
class SavedValue:
    """A value that is compared by its saved form. So values with arrays and NaN inside can be compared."""

    #: Fields that the saved form leaves out if they are empty.
    _if_any: ClassVar[frozenset[str]] = frozenset()

    def _stored(self) -> dict[str, Any]:
        """Return the saved form."""
        names = [each.name for each in dataclasses.fields(self) if is_saved(each.name)]
        kept = [name for name in names if name not in self._if_any or getattr(self, name)]
        return {name: _plain(getattr(self, name), name) for name in kept}

    @property
    def is_coherent(self) -> bool:
        """Whether the fields fit together. In a file that was changed by hand they may not."""
        return True

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return stored.dumps(self._stored()) == stored.dumps(other._stored())

    def __hash__(self) -> int:
        return hash(stored.dumps(self._stored()))
