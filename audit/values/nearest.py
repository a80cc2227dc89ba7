"""Suggestions for a mistyped name."""

import difflib
import re
from collections.abc import Iterable

#: The least similarity (the ratio of `difflib`) at which a name counts as a typing error (`SLIP`), or is
#: suggested at all (`ALIKE`). Larger numbers give fewer suggestions.
SLIP = 0.85
ALIKE = 0.6


def near(name: str, known: Iterable[str], *, otherwise: str = ".") -> str:
    """Return the end of a sentence that suggests the most similar name.

    If no name is similar, return `otherwise`.

    Examples
    --------
    >>> near("laplas", ["laplace", "geometric"]), near("x", ["laplace"])
    ('; did you mean `laplace`?', '.')
    """
    likeness, found = max(((_likeness(name, each), each) for each in known), default=(0.0, ""))
    return f"; did you mean `{found}`?" if likeness > 0 else otherwise


def _likeness(asked: str, known: str) -> float:
    """Return how likely the user meant a known name, 0 for very different names.

    Names that begin with the words of `asked` score highest. Typing errors come next. Then come names that
    consist of the first words of `asked`.

    For other names, the words that the two names do not share must be similar.
    """
    ratio = difflib.SequenceMatcher(None, known, asked).ratio()
    left, right = re.split(r"[-_. ]", asked), re.split(r"[-_. ]", known)
    if right[: len(left)] == left:
        return 3.0 + ratio
    if ratio >= SLIP:
        return 2.0 + ratio
    if left[: len(right)] == right:
        return 1.0 + ratio
    ours = "-".join(word for word in left if word not in right)
    theirs = "-".join(word for word in right if word not in left)
    apart = ours and theirs and difflib.SequenceMatcher(None, ours, theirs).ratio() < ALIKE
    return 0.0 if apart or ratio < ALIKE else ratio + 0.5 * (left[0] == right[0])
