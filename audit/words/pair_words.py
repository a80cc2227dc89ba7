"""The two databases of a witness in words: what changes between them first, each of them then."""

from typing import Any, Literal

from audit.results.result import Witness
from audit.values.canonical import same
from audit.values.wording import shown

MOST_DATABASE = 60
_MOST_RECORD = 30


def change(witness: Witness) -> str:
    """Return which one record changes from the left list (or tuple) to the right one; else empty.

    Examples
    --------
    >>> change(Witness([10] * 10, [0] + [10] * 9, None, 0.5, 0.1))
    'From left to right, record 0: 10 → 0 (9 others unchanged).'
    >>> change(Witness([1, 2], [1, 2, 'x'], None, 0.5, 0.1)), change(Witness([1, 2], [3, 4], None, 0.5, 0.1))
    ("From left to right, record 'x' added at the end.", '')
    """
    left, right = witness.left, witness.right
    found = _one_step(left, right)
    if found is None:
        return ""
    kind, at = found
    if kind == "replaced":
        before, after = _unlike(left[at], right[at], _MOST_RECORD)
        return f"From left to right, record {at}: {before} → {after}{_others(len(left) - 1)}."
    longer, shorter = (right, left) if kind == "added" else (left, right)
    where = "at" if kind == "added" else "from"
    place = "the end" if at == len(shorter) else f"position {at}"
    return f"From left to right, record {shown(longer[at], _MOST_RECORD)} {kind} {where} {place}."


def _others(count: int) -> str:
    if not count:
        return ""
    return " (1 other unchanged)" if count == 1 else f" ({count:,} others unchanged)"


def pair_words(witness: Witness, *, limit: int = MOST_DATABASE) -> tuple[str, str]:
    """Return both databases in words, `p`'s first; a long second one by what `change` says of it.

    Examples
    --------
    >>> pair_words(Witness([0] * 99, [0] * 98 + [1], None, 0.5, 0.1), limit=20)
    ('[0, 0, 0, 0, 0, 0, … (length 99)', 'the same except for that record')
    """
    first, second = witness.on_p, witness.on_q
    if shown(second, limit) == shown(second, 10 * limit):  # nothing is cut
        return shown(first, limit), shown(second, limit)
    if _one_step(first, second) is None:
        return _unlike(first, second, limit)
    return shown(first, limit), "the same except for that record"


def _unlike(first: Any, second: Any, limit: int) -> tuple[str, str]:
    """Return both values in words, long enough to tell them apart where some length does."""
    lengths = [each for each in (limit, 200, 1000) if each >= limit]
    texts = [(shown(first, each), shown(second, each)) for each in lengths]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _one_step(first: Any, second: Any) -> tuple[Literal["replaced", "added", "removed"], int] | None:
    """Return how `second` comes from `first` by one record and at which position, or None."""
    if not isinstance(first, (list, tuple)) or type(first) is not type(second):
        return None
    at = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if not same(a, b)), None)
    at = min(len(first), len(second)) if at is None else at
    if len(first) == len(second) and at < len(first) and same(first[at + 1 :], second[at + 1 :]):
        return "replaced", at
    if len(first) == len(second) + 1 and same(first[at + 1 :], second[at:]):
        return "removed", at
    if len(second) == len(first) + 1 and same(second[at + 1 :], first[at:]):
        return "added", at
    return None
