"""How A* chooses a candidate by mistakes on a test set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from learners.parity.plans import Form
    from learners.parity.systems import BitSystem

__all__ = ["choice_law", "chosen_candidates", "mistakes_of"]


def chosen_candidates(
    candidates: Sequence[Sequence[Any]],
    test: BitSystem,
    *,
    form: Form,
    epsilon: float,
    rng: np.random.Generator,
) -> list[Any]:
    """Return the candidate chosen in each run.

    Parameters
    ----------
    candidates
        The candidates of each run; every run has the same number.
    test
        The test set.
    form, epsilon
        As in `AmplifiedParityLearner`.
    """
    mistakes = mistakes_of(candidates, test)
    runs, count = mistakes.shape
    if form == "held-out":
        noisy = mistakes + rng.laplace(0.0, count / epsilon, (runs, count))
        places = noisy.argmin(axis=1)
    else:  # the exponential mechanism, as the largest of weights with Gumbel noise
        places = (-epsilon / 2.0 * mistakes + rng.gumbel(size=(runs, count))).argmax(axis=1)
    return [row[place] for row, place in zip(candidates, places.tolist(), strict=True)]


def choice_law(candidates: Sequence[Any], test: BitSystem, *, form: Form, epsilon: float) -> list[float]:
    """Return the probability that each candidate is chosen.

    Examples
    --------
    >>> from learners.parity.systems import BitSystem
    >>> test = BitSystem(2, (0b11,), 0b11)
    >>> [round(share, 6) for share in choice_law([(1,), (0,)], test, form="selection", epsilon=1.0)]
    [0.731059, 0.268941]
    """
    mistakes = mistakes_of([candidates], test)[0]
    if form == "held-out":
        from mechanisms.comparison.noisy_max import LaplaceNoisyMax

        noisy_max = LaplaceNoisyMax(epsilon=2.0 * epsilon / len(mistakes), size=len(mistakes))
        return list(np.exp(noisy_max.distribution((-mistakes).tolist()).log_probabilities).tolist())
    weights = np.exp(-epsilon / 2.0 * (mistakes - mistakes.min()))
    return list((weights / weights.sum()).tolist())


def mistakes_of(candidates: Sequence[Sequence[Any]], test: BitSystem) -> NDArray[np.float64]:
    """Return every candidate's mistakes on the test set.

    A candidate that is no parity errs on all of it.
    """
    known: dict[Any, int] = {}
    for answer in {answer for row in candidates for answer in row}:
        if isinstance(answer, tuple):
            known[answer] = test.mistakes(sum(bit << place for place, bit in enumerate(answer)))
    return np.array([[known.get(answer, test.count) for answer in row] for row in candidates], dtype=float)
