"""The distance between two outputs drawn from the same generator state.

With additive noise, this is exactly the distance between the two true answers. The distance guides the search
and proves nothing.
"""

from typing import Any

import numpy as np

from audit.events.features.atoms import Kind
from audit.events.features.parts import leaves
from audit.events.features.views import as_mapping, as_number, as_vector
from audit.values import canonical

#: The distance between outputs that differ in type, length or keys.
SHAPE = 1e300


def distance(left: Any, right: Any) -> float:
    """Return the distance between two outputs.

    It is |a − b| for numbers, L1 for vectors, otherwise 0 or 1. If outputs have several parts, the distances
    of the parts are added. Outputs of different form are `SHAPE` apart.

    Examples
    --------
    >>> distance(1.0, 3.5), distance((1, 2), (2, 0)), distance("a", "b"), distance("a", "a")
    (2.5, 3.0, 1.0, 0.0)
    >>> distance(1.0, "refused") == SHAPE
    True
    """
    kind = Kind()
    if canonical.same(left, right):
        return 0.0
    if kind.of(left) != kind.of(right):
        return SHAPE
    mappings = as_mapping(left), as_mapping(right)
    if mappings[0] is not None and mappings[1] is not None:
        return _of_mappings(mappings[0], mappings[1])
    a, b = _entries(left), _entries(right)
    if a is None or b is None or np.isnan(a).any() or np.isnan(b).any():
        return _of_parts(leaves(left), leaves(right))
    return _size(a, b) if len(a) == len(b) else SHAPE


def _entries(output: Any) -> Any:
    number = as_number(output)
    vector = as_vector(output) if number is None else [number]
    return None if vector is None else np.asarray(vector)


def _of_parts(left: Any, right: Any) -> float:
    """Return the summed distances of the parts of two unequal outputs, at least 1."""
    if left.keys() != right.keys():
        return SHAPE
    return min(max(sum(_of_leaves(left[path], right[path]) for path in left), 1.0), SHAPE)


def _of_leaves(left: Any, right: Any) -> float:
    a, b = as_number(left), as_number(right)
    if a is None or b is None:
        return float(not canonical.same(left, right))
    return _size(np.array([a]), np.array([b]))


def _of_mappings(left: Any, right: Any) -> float:
    if set(map(canonical.key, left)) != set(map(canonical.key, right)):
        return SHAPE
    return sum(min(distance(left[key], right[key]), SHAPE) for key in left if key in right)


def _size(left: Any, right: Any) -> float:
    with np.errstate(all="ignore"):
        gaps = np.abs(left - right)
    if (np.isnan(left) != np.isnan(right)).any():
        return SHAPE
    return float(min(np.nansum(np.where(np.isfinite(gaps) | np.isnan(gaps), gaps, SHAPE)), SHAPE))
