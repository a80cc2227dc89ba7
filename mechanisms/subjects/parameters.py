"""The parameters of a mechanism, for reports and for building it again."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from mechanisms.subjects.draws import ChecksDraws

__all__ = ["PlainParameters"]

_LONGEST = 20


class PlainParameters(ChecksDraws):
    """Gives a dataclass the mapping `parameters` from keywords to values.

    Queries, relations and long lists are left out, because text cannot replace them.

    Examples
    --------
    >>> from mechanisms.noise.laplace import LaplaceMechanism
    >>> LaplaceMechanism(epsilon=0.5).parameters
    {'epsilon': 0.5, 'sensitivity': 1.0, 'dimension': None, 'records': (0, 1), 'size': 3}
    """

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that can be saved as text, by keyword."""
        named: Any = self
        values = {field.name: getattr(self, field.name) for field in fields(named) if field.init}
        return {name: value for name, value in values.items() if _is_plain(value)}


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return len(value) <= _LONGEST and all(map(_is_plain, value))
    return value is None or isinstance(value, (bool, int, float, str))
