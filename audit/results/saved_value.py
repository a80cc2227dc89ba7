"""A value that is saved field by field. Two values are equal if their saved forms are equal."""

import dataclasses
from dataclasses import dataclass
from enum import Enum
from typing import Any

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
    """A value that is compared by its saved form. This works even with arrays and NaN inside."""

    def _stored(self) -> dict[str, Any]:
        """Return the saved form."""
        names = [each.name for each in dataclasses.fields(self) if is_saved(each.name)]
        return {name: _plain(getattr(self, name), name) for name in names}

    def _without(self, *names: str) -> dict[str, Any]:
        """Return the saved form; fields among `names` that are empty are left out."""
        empty = {name for name in names if not getattr(self, name, True)}
        return {name: value for name, value in SavedValue._stored(self).items() if name not in empty}

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return stored.dumps(self._stored()) == stored.dumps(other._stored())

    def __hash__(self) -> int:
        return hash(stored.dumps(self._stored()))
