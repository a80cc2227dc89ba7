"""The two databases of a witness as texts."""

from collections.abc import Sequence
from typing import Any, Literal

from audit.results.result import Witness
from audit.values.brief import show
from audit.values.canonical import same
from audit.values.wording import shown

MOST_DATABASE = 60
#: This text replaces a long record that an earlier sentence has shown.
_THAT = "that record"
#: A difference is looked for in this many characters at the start of a value.
_LONGEST = 20_000
#: A differing record of at most this many characters is shown completely; of a longer one, only the
#: difference.
_MOST_RECORD = 200


def change(witness: Witness) -> str:
    """Return a sentence on the only record in which two databases differ.

    The text is empty if several records differ.

    Examples
    --------
    >>> change(Witness([10] * 10, [0] + [10] * 9, None, 0.5, 0.1))
    'From left to right, record 0: 10 → 0 (9 others unchanged).'
    >>> change(Witness([1, 2], [1, 2, 'x'], None, 0.5, 0.1)), change(Witness([1, 2], [3, 4], None, 0.5, 0.1))
    ("From left to right, record 2 added: 'x'.", '')
    """
    left, right = witness.left, witness.right
    found = one_step(left, right)
    if found is None:
        return ""
    kind, at = found
    if kind == "replaced":
        before, after = unlike(left[at], right[at], _MOST_RECORD)
        return f"From left to right, record {at}: {before} → {after}{_others(len(left) - 1)}."
    record = (right if kind == "added" else left)[at]
    return f"From left to right, record {at} {kind}: {shown(record, _MOST_RECORD)}."


def remembered(pairs: Sequence[tuple[Any, Any]]) -> str:
    """Return a line on the remembered pairs that an audit tried first; empty without such pairs.

    Examples
    --------
    >>> remembered([([0], [1]), ([0, 0], [0, 1])])
    '2 remembered pairs: [0] and [1]; [0, 0] and [0, 1]'
    """
    if not pairs:
        return ""
    told = "; ".join(
        f"{shown(left, MOST_DATABASE)} and {shown(right, MOST_DATABASE)}" for left, right in pairs
    )
    return f"{len(pairs):,} remembered pair{'' if len(pairs) == 1 else 's'}: {told}"


def _others(count: int) -> str:
    if not count:
        return ""
    return " (1 other unchanged)" if count == 1 else f" ({count:,} others unchanged)"


def pair_words(witness: Witness, *, limit: int = MOST_DATABASE) -> tuple[str, str]:
    """Return the databases of p and q as texts.

    If the databases are long, the second text only says what differs.

    Examples
    --------
    >>> pair_words(Witness([0] * 99, [0] * 98 + [1], None, 0.5, 0.1), limit=20)
    ('[…, 0, 0, 0, 0, 0, 0, 0] (length 99)', 'the same except for that record')
    """
    first, second = witness.on_p, witness.on_q
    if shown(second, limit) == shown(second, 10 * limit):  # nothing was cut off
        return shown(first, limit), shown(second, limit)
    step = one_step(first, second)
    if step is None:
        return unlike(first, second, limit)
    return _around(first, step[1], limit), "the same except for that record"


def _around(rows: Any, at: int, limit: int) -> str:
    """Return the part of a list or tuple around one record, as a text of about `limit` characters.

    Examples
    --------
    >>> _around([0] * 50 + [1] + [0] * 48, 50, 15)
    '[…, 0, 0, 1, 0, 0, …] (length 99)'
    """
    first = last = min(at, len(rows) - 1)
    record = show(rows[first], _MOST_RECORD)
    texts = [shown(rows[first]) if len(record) <= limit else _THAT]
    while sum(map(len, texts)) + 2 * len(texts) < limit and last - first + 1 < len(rows):
        if first > 0 and (at - first <= last - at or last == len(rows) - 1):
            first -= 1
            texts.insert(0, shown(rows[first], limit))
        else:
            last += 1
            texts.append(shown(rows[last], limit))
    inside = ", ".join([*(["…"] if first else []), *texts, *(["…"] if last < len(rows) - 1 else [])])
    ends = "()" if isinstance(rows, tuple) else "[]"
    return f"{ends[0]}{inside}{ends[1]} (length {len(rows):,})"


def unlike(first: Any, second: Any, limit: int) -> tuple[str, str]:
    """Return two values as texts that differ.

    The texts are the beginnings of the values if these differ, else the parts around the difference.

    Examples
    --------
    >>> unlike([0] * 99 + [1, 2], [0] * 99 + [3, 4], 20)
    ('…0, 0, 1, 2]', '…0, 0, 3, 4]')
    """
    whole = shown(first, _LONGEST), shown(second, _LONGEST)
    pairs = enumerate(zip(*whole, strict=False))
    same = next((i for i, (a, b) in pairs if a != b), min(map(len, whole)))
    for length in (limit, 2 * limit):
        if max(map(len, whole)) <= length or same <= length // 2:
            return shown(first, length), shown(second, length)
    start = max(0, same - limit // 3)
    start = start and whole[0].rfind(", ", 0, start + 1) + 2
    return tuple(_window(text, start, limit) for text in whole)  # type: ignore[return-value]


def _window(text: str, start: int, limit: int) -> str:
    end = "…" if len(text) > start + limit else ""
    return f"{'…' if start else ''}{text[start : start + limit]}{end}"


def one_step(first: Any, second: Any) -> tuple[Literal["replaced", "added", "removed"], int] | None:
    """Return the one-record change from `first` to `second`, and its index.

    None if several records change.
    """
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
