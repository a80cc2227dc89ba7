"""Choose which parts of structured outputs get a table.

These are the parts that differ most between the two databases. Only past outputs are read, and no verdict
rests on the choice.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, combinations, islice
from typing import Any

import numpy as np

from audit.distributions.law import Floats
from audit.events.features import parts as inside
from audit.events.features.atoms import Type, Whole, type_of
from audit.events.features.base import Feature
from audit.events.features.bits import PATTERNS, LastBits
from audit.events.features.comparison import bound_pairs, gap, is_spread
from audit.events.features.openings import ABSENT, LETTERS, Path, letters_of
from audit.events.features.scores import LEAST_FOR_SCORES, fit_score
from audit.events.features.views import PLAIN_ENTRIES, View, as_entry, as_number
from audit.values import canonical
from audit.values.said import Said, Says

Opened = list[dict[Path, object]]
#: Outputs, each with what is inside it.
Looked = list[tuple[Any, dict[Path, object]]]

MOST_NUMBERS = 12
MOST_ATOMS = 6
#: Larger: more features. Differences are formed between at most this many numbers inside the output.
MOST_TOGETHER = 4
#: Larger: slower. Number of outputs that are opened on a side. Opening ends earlier if the opened outputs
#: have `_LEAVES` parts, but not before `_LEAST_LOOKED_INTO` outputs.
_LOOKED_INTO = 500
_LEAST_LOOKED_INTO = 50
_LEAVES = 8_000
#: If at least this share of structured outputs recurs, whole outputs are counted like single values.
_SHARE_OF_REPEATS = 0.9
#: Texts at a place are read letter by letter if more than this fraction of them are distinct. This is done at
#: `MOST_SPELLED` places at most.
_SHARE_OF_TEXTS = 0.2
MOST_SPELLED = 8
#: Larger: more features. Number of places whose types are read, of places whose digits are read, and of
#: places that are compared two at a time.
MOST_TYPES = 3
MOST_DIGITS = 3
MOST_BOUND = 64
_COMPARED = 200
#: Number of outputs that are searched for unopened parts.
_ASKED = 8


def of_parts(
    left: list[View], right: list[View], *, entries: Sequence[object], floats: bool, typed: bool
) -> Iterator[Feature]:
    """Yield features of the parts of structured outputs, in a fixed order.

    Parameters
    ----------
    left, right
        Past outputs of the two databases, as blocks.
    entries
        Keys whose numbers have a feature already.
    floats
        Whether features may read bit patterns of floats.
    typed
        Whether features may read types.
    """
    known = {canonical.key(key) for key in entries}
    sides = _without_constants(_look_into(left), _look_into(right))
    every = [[parts for _, parts in side] for side in sides]
    a, b = (_unsaid(side, known) for side in sides)
    paths, places = _places(a, b), _together(sides)
    numbers = {path: (_numbers(every[0], path), _numbers(every[1], path)) for path in _places(*every)}
    if typed:
        yield from map(Type, _most_retyped(*every))
    if floats:
        chosen = _most_apart(numbers, *(pattern.read for pattern in PATTERNS))
        yield from (pattern(path=path) for path in chosen for pattern in PATTERNS)
    if not (paths or places) or _recur(sides):
        return
    yield from map(inside.Part, _most_moved(a, b, paths))
    changed = {path: _changed(a, b, path, inside.atom) for path in paths}
    yield from map(inside.PartIs, _first(changed, MOST_ATOMS))
    spread = {path: pair for path, pair in numbers.items() if is_spread(np.concatenate(pair))}
    yield from (LastBits(path=path) for path in _most_apart(spread, LastBits.read))
    if len(places) > 1:
        yield from _joint(places, left, right)
        yield from _bound(numbers, every)


def _without_constants(*sides: Looked) -> list[Looked]:
    """Return both sides without the places where all outputs are alike.

    At such a place every output holds the same text, number or None.
    """
    total = sum(map(len, sides))
    held: dict[Path, list[Any]] = {}
    for _, parts in chain.from_iterable(sides):
        for path, part in parts.items():
            entry = held.setdefault(path, [part, 0])
            entry[1] += _is_alike(part, entry[0])
    fixed = {path for path, (_, count) in held.items() if count == total}
    return [
        [(output, {p: part for p, part in parts.items() if p not in fixed}) for output, parts in side]
        for side in sides
    ]


def _is_alike(part: Any, other: Any) -> bool:
    """Return whether two parts are certainly the same.

    Two float zeros may differ in sign, so they do not count as the same.
    """
    kind = type(part)
    plain = kind in (str, int, float, bool) and kind is type(other)
    return part is other or (plain and part == other and (part != 0 or kind is int))


def _most_retyped(a: Opened, b: Opened) -> list[Path]:
    """Return the places whose types differ most between the sides."""
    kinds: dict[Path, set[type]] = {}
    for parts in chain(a, b):
        for path, part in parts.items():
            kinds.setdefault(path, set()).add(type(part))
    mixed = [path for path, found in kinds.items() if len(found) > 1]
    return _first({path: _changed(a, b, path, type_of) for path in mixed}, MOST_TYPES)


def _most_apart(numbers: dict[Path, tuple[Floats, Floats]], *ways: Callable[[Floats], Floats]) -> list[Path]:
    """Return the places whose digits differ most in distribution.

    Each of `ways` is one way to read the digits.
    """
    sizes = {
        path: max(_moved(*(column[~np.isnan(column)] for column in map(way, pair))) for way in ways)
        for path, pair in numbers.items()
    }
    return _first(sizes, MOST_DIGITS)


def _bound(numbers: dict[Path, tuple[Floats, Floats]], every: Sequence[Opened]) -> Iterator[Feature]:
    """Yield differences and sums of two numbers that `bound_pairs` finds."""
    places = [path for path, (a, b) in numbers.items() if len(a) and len(b)][:MOST_BOUND]
    a, b = (_rows(opened, places) for opened in every)
    for i, j in bound_pairs(a, b):
        yield inside.PartsDifference(places[i], places[j])
        yield inside.PartsSum((places[i], places[j]))


def _rows(opened: Opened, places: list[Path]) -> Floats:
    rows = [[as_entry(parts.get(path)) for path in places] for parts in opened]
    return np.array(rows, dtype=np.float64).reshape(len(opened), len(places))


def _places(*sides: Opened) -> list[Path]:
    return list(dict.fromkeys(chain.from_iterable(chain.from_iterable(sides))))


def _together(sides: list[Looked]) -> list[Path]:
    """Return the places whose numbers get joint features.

    If all places are entries of flat sequences, return none.
    """
    a, b = ([{} if _is_flat(output, parts) else parts for output, parts in side] for side in sides)
    return _most_moved(a, b, _places(a, b))


def _is_flat(output: object, parts: dict[Path, object]) -> bool:
    return issubclass(type(output), (list, tuple)) and all(len(path) == 1 for path in parts)


def _joint(places: list[Path], left: list[View], right: list[View]) -> Iterator[Feature]:
    """Yield features of several numbers.

    Two numbers together may show a difference that the noise of each number hides.
    """
    for first, second in combinations(sorted(places[:MOST_TOGETHER], key=repr), 2):
        yield inside.PartsDifference(first, second)
    yield inside.PartsSum(tuple(places))
    if min(sum(map(len, side)) for side in (left, right)) >= LEAST_FOR_SCORES:
        halves = [np.concatenate([inside.matrix(view, places) for view in side]) for side in (left, right)]
        a, b = (rows[: len(rows) // 2] for rows in halves)
        score = fit_score(a, b)
        yield inside.PartsScore(score.edges, score.scores, tuple(places))


def _structured(side: list[View]) -> list[Any]:
    """Return the first outputs that are more than a number or a flat array of numbers."""
    outputs = chain.from_iterable(view.outputs for view in side if not _is_plain(view))
    return list(islice((output for output in outputs if _may_hold_parts(output)), _LOOKED_INTO))


def _look_into(side: list[View]) -> Looked:
    """Return the first structured outputs, and what is inside each."""
    looked: Looked = []
    seen = 0
    for output in _structured(side):
        looked.append((output, inside.leaves(output)))
        seen += len(looked[-1][1])
        if seen >= _LEAVES and len(looked) >= _LEAST_LOOKED_INTO:
            break
    _spell(looked)
    return looked


def _spell(looked: Looked) -> None:
    """Add to `looked` the letters of the texts at places where texts seldom recur.

    At other places texts are only compared as a whole.
    """
    texts = _texts(looked)
    spelled = [path for path, found in texts.items() if len(set(found)) > _SHARE_OF_TEXTS * len(found)]
    for output, parts in looked:
        for path in spelled[:MOST_SPELLED]:
            text = parts.get(path) if path else output
            if type(text) is str:
                parts.update({(*path, step): letter for step, letter in letters_of(text)})


def _texts(looked: Looked) -> dict[Path, list[str]]:
    """Return the texts at each place. Texts made by removing the numbers from another text are left out."""
    texts: dict[Path, list[str]] = {(): [output for output, _ in looked if type(output) is str]}
    for path, part in chain.from_iterable(parts.items() for _, parts in looked):
        if type(part) is str and path[-1][0] != "text":
            texts.setdefault(path, []).append(part)
    return texts


def _is_plain(view: View) -> bool:
    """Return whether a block is fully described by its numbers and coordinates."""
    everywhere = all(isinstance(where, slice) for where, _ in view.vectors.values())
    return view.all_numbers or (bool(view.vectors) and everywhere and not view.rest)


def unread(sides: Iterable[list[View]]) -> list[Said]:
    """Return what the result says about parts that no feature reads.

    Only parts of the first structured outputs are considered.

    Examples
    --------
    >>> from audit.events.features.views import View
    >>> unread([[View([("a",)] * 9)]])
    []
    >>> unread([[View([("a", [0] * 10_000)])]])
    ['parts of an output beyond the first 512, or more than 16 levels deep']
    """
    asked = chain.from_iterable(_structured(side)[:_ASKED] for side in sides)
    looked = [(output, inside.leaves(output)) for output in asked]
    said = []
    if any(inside.holds_more(output) for output, _ in looked):
        said.append(Says.FAR_PARTS(leaves=inside.MOST_LEAVES, depth=inside.MOST_DEPTH))
    texts = _texts(looked).values()  # a text that recurs is an atom
    if any(len(set(found)) > 1 and max(map(len, found)) > 2 * LETTERS for found in texts):
        said.append(Says.INNER_LETTERS(letters=LETTERS))
    every = chain.from_iterable((output, *parts.values()) for output, parts in looked)
    closed = {type(part).__name__ for part in every if inside.is_closed(part)}
    return said + [Says.CLOSED_PARTS(name=name) for name in sorted(closed)]


def _may_hold_parts(output: Any) -> bool:
    kind = type(output)
    if kind in (list, tuple):
        return not PLAIN_ENTRIES.issuperset(map(type, output))
    flat = kind is np.ndarray and output.dtype.kind in "iufb"
    return not flat and (kind in (Fraction, Decimal) or as_number(output) is None)


def _unsaid(looked: Looked, known: set[Hashable]) -> Opened:
    """Return the parts without the numbers that `Coordinate` or `Entry` already reads."""
    return [
        {path: part for path, part in parts.items() if not _is_entry(output, path, part, known)}
        for output, parts in looked
    ]


def _is_entry(output: object, path: Path, part: object, known: set[Hashable]) -> bool:
    if len(path) > 1 or path[0][0] != "item":
        return False
    if type(part) not in (bool, np.bool_) and as_number(part) is None:
        return False
    if issubclass(type(output), Mapping):
        return canonical.key(path[0][1]) in known
    return issubclass(type(output), (list, tuple))


def _recur(sides: list[Looked]) -> bool:
    """Return whether nearly all outputs with parts recur."""
    having = ([output for output, parts in side if parts] for side in sides)
    keys = Counter(Whole().read(output) for outputs in having for output in outputs[:_COMPARED])
    return sum(count for count in keys.values() if count > 1) >= _SHARE_OF_REPEATS * keys.total()


def _most_moved(a: Opened, b: Opened, paths: list[Path]) -> list[Path]:
    """Return the places whose numbers differ most in distribution.

    Places without a difference are left out.
    """
    return _first({path: _moved(_numbers(a, path), _numbers(b, path)) for path in paths}, MOST_NUMBERS)


def _numbers(side: Opened, path: Path) -> Floats:
    column = np.array([as_entry(each[path]) for each in side if path in each], dtype=np.float64)
    return column[~np.isnan(column)]


def _moved(a: Floats, b: Floats) -> float:
    return gap(a, b) if len(a) and len(b) else float(len(a) + len(b) > 0)


def _changed(a: Opened, b: Opened, path: Path, read: Callable[[Any], Hashable]) -> float:
    """Return how far the values of two sides at a place differ.

    This is the total variation distance between the values. If no value recurs, it is 0.
    """
    counts, others = (Counter(read(parts.get(path, ABSENT)) for parts in side) for side in (a, b))
    if max(chain(counts.values(), others.values())) < 2:
        return 0.0
    m, n = max(len(a), 1), max(len(b), 1)
    return sum(abs(counts[key] / m - others[key] / n) for key in counts | others) / 2


def _first(sizes: dict[Path, float], most: int) -> list[Path]:
    """Return the places of largest size, without those of size 0."""
    differing = [path for path, size in sizes.items() if size]
    return sorted(differing, key=lambda path: (-sizes[path], repr(path)))[:most]
