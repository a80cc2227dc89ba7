"""Examples of outputs, as short texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from audit.distributions import Law
from audit.values.outcomes import Raised, Unfinished
from audit.values.wording import short, shown

#: Results show at most this many outputs on each database.
MOST_EXAMPLES = 3
_LENGTH = 60


def output_words(output: Any, digits: int | None = None) -> str:
    """Return one output as a short text.

    Floats have `digits` significant digits. If `digits` is None, they have all digits.

    Examples
    --------
    >>> print(output_words([0] * 100))
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0… (length 100)
    >>> print(output_words(Raised("ValueError", "no data")))
    raised ValueError: no data
    >>> print(output_words({"mean": np.array([0.1 + 0.2, 1e-9]), "of": 3}, digits=4))
    {'mean': [0.3, 1e-09], 'of': 3}
    """
    if type(output) in (Raised, Unfinished):
        return short(str(output), _LENGTH)
    return shown(output, _LENGTH, digits)


def most_probable(law: Law) -> tuple[str, ...]:
    """Return the most probable outputs of a discrete law, in descending order.

    For other laws, the result is empty.

    Examples
    --------
    >>> from audit.distributions import Countable, Density, Finite
    >>> most_probable(Finite(["no", "yes"], [0.25, 0.75])), most_probable(Countable.geometric(7))
    (("'yes'", "'no'"), ('7', '6', '8'))
    >>> most_probable(Density.laplace(0.0, 1.0))
    ()
    """
    from audit.distributions import Countable, Finite

    if isinstance(law, Finite):
        best = _highest(law.log_probabilities)
        return tuple(output_words(law.outcome(i)) for i in best)
    if isinstance(law, Countable):
        near = _near_the_ends(law)
        return tuple(output_words(int(near[i])) for i in _highest(law.logpmf(near)))
    return ()


def _highest(logs: Any) -> Sequence[int]:
    """Return the indices of the largest finite numbers. Of equal numbers, the first come first."""
    order = np.argsort(-np.asarray(logs), kind="stable")[:MOST_EXAMPLES]
    return [int(i) for i in order if np.isfinite(logs[i])]


def _near_the_ends(law: Any) -> Any:
    """Return the integers near the ends of the law's pieces. Inside a piece, probabilities are monotone."""
    ends = {round(end) for piece in law.pieces for end in (piece.left, piece.right) if np.isfinite(end)}
    return np.unique([end + step for end in ends for step in range(-MOST_EXAMPLES, MOST_EXAMPLES + 1)])
