"""The two databases of a witness side by side, record by record."""

import itertools
from typing import Any

from audit.results.result import Witness
from audit.values.canonical import same
from audit.values.wording import shown
from audit.words import pair_words

Row = tuple[str, str, str, bool]
"""A place, the records there on the left and on the right, and whether they differ."""

#: How many records are shown on each side of a differing record, and how many differing records at most.
_BESIDE, _MOST_ROWS = 2, 8


def aligned(witness: Witness, *, limit: int = pair_words.MOST_DATABASE) -> tuple[Row, ...]:
    """Return rows of two databases: place, left, right, whether they differ there.

    Equal records far from any difference share one row, which gives their number. If a database is
    neither a list nor a tuple, there are no rows.

    Examples
    --------
    >>> for row in aligned(Witness([7] * 9, [7] * 4 + [8] + [7] * 4, None, 0.5, 0.1)):
    ...     print(row)
    ('0 to 1', '2 alike', '2 alike', False)
    ('2', '7', '7', False)
    ('3', '7', '7', False)
    ('4', '7', '8', True)
    ('5', '7', '7', False)
    ('6', '7', '7', False)
    ('7 to 8', '2 alike', '2 alike', False)
    >>> aligned(Witness([1, 2], [2], None, 0.5, 0.1))
    (('0', '1', '', True), ('1', '2', '2', False))
    """
    left, right = witness.left, witness.right
    if not isinstance(left, (list, tuple)) or type(left) is not type(right):
        return ()
    step = pair_words.one_step(left, right)
    gap = step[1] if step and step[0] != "replaced" else max(len(left), len(right))
    first = [*left[:gap], _NONE, *left[gap:]] if len(left) < len(right) else list(left)
    second = [*right[:gap], _NONE, *right[gap:]] if len(right) < len(left) else list(right)
    pairs = list(itertools.zip_longest(first, second, fillvalue=_NONE))
    unlike = [i for i, (a, b) in enumerate(pairs) if a is _NONE or b is _NONE or not same(a, b)]
    near = {j for i in unlike for j in range(i - _BESIDE, i + _BESIDE + 1)}
    whole = len(pairs) <= _MOST_ROWS
    rows: list[Row] = []
    for kept, group in itertools.groupby(range(len(pairs)), lambda i: whole or i in near):
        places = list(group)
        if kept:
            rows += [_row(i, *pairs[i], i in unlike, limit) for i in places]
        else:
            many, where = f"{len(places):,} alike", f"{places[0]:,}"
            rows.append((where if len(places) == 1 else f"{where} to {places[-1]:,}", many, many, False))
    if len(rows) > 2 * _MOST_ROWS:
        left_out = len(pairs) - 2 * _MOST_ROWS
        return (*rows[: 2 * _MOST_ROWS], ("…", f"{left_out:,} more", f"{left_out:,} more", False))
    return tuple(rows)


_NONE = object()  # where a list has no record


def _row(i: int, a: Any, b: Any, differs: bool, limit: int) -> Row:  # noqa: FBT001
    if differs and a is not _NONE and b is not _NONE:
        left, right = pair_words.unlike(a, b, limit)
    else:
        left, right = ("" if each is _NONE else shown(each, limit) for each in (a, b))
    return f"{i:,}", left, right, differs
