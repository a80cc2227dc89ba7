"""Which of the known names somebody may have meant."""

import difflib
import re
from collections.abc import Iterable

#: Likeness (`difflib`'s ratio) of a slip of the pen, and the least at which a name is offered at all.
SLIP = 0.85
ALIKE = 0.6


def near(name: str, known: Iterable[str], *, otherwise: str = ".") -> str:
    """Return the end of a sentence that says what `name` may have meant.

    Examples
    --------
    >>> near("laplas", ["laplace", "geometric"]), near("x", ["laplace"])
    ('; did you mean `laplace`?', '.')
    """
    likeness, found = max(((_likeness(name, each), each) for each in known), default=(0.0, ""))
    return f"; did you mean `{found}`?" if likeness > 0 else otherwise


def _likeness(asked: str, known: str) -> float:
    """Return how likely `known` was meant; 0 if the two share too little.

    First come names that go on as `asked` does, then slips of the pen, then what is the beginning of
    `asked`. Else what is left without the words of both has to be alike too: many a name ends in "-learner".
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
