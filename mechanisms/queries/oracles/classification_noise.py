"""Statistical queries about clean labels, answered from noisy labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.errors import InvalidKind, InvalidValue, finite_number, positive_int, probability
from mechanisms.queries.oracles.chunks import sampling_size
from mechanisms.queries.oracles.oracle import Oracle, check_generator, check_oracle, finite_answers
from mechanisms.queries.population import Population, check_population
from mechanisms.queries.statistical import StatisticalQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mechanisms.queries.oracles.oracle import SQOracle

__all__ = [
    "NoisyLabelOracle",
    "flip_labels",
    "noisy_labels",
    "noisy_sample_size",
    "once_each",
    "rate",
    "split_query",
]


def rate(value: Any, *, what: str) -> float:
    """Return a noise rate in [0, 1/2).

    Raises
    ------
    InvalidValue
        The value is not in [0, 1/2).

    Examples
    --------
    >>> rate(0.5, what="The `eta` of `NoisyLabelOracle`")
    Traceback (most recent call last):
    audit.errors.InvalidValue: The `eta` of `NoisyLabelOracle` must be a finite number ≥ 0 and < 0.5; got 0.5.
    """
    return finite_number(value, what=what, minimum=0, below=0.5)


def noisy_labels(population: Population, eta: float) -> Population:
    """Return the distribution of examples with noisy labels.

    An example is (x, y) with a label y of −1 or 1.

    Examples
    --------
    >>> noisy_labels(Population([("a", 1)]), 0.25).expectation(StatisticalQuery(lambda z: z[1], tau=0.1))
    0.5
    """
    eta = rate(eta, what="The `eta` of `noisy_labels`")
    check_population(population, owner="noisy_labels", has="points")
    points = [_example(point) for point in population.points]
    flipped = [(x, -y) for x, y in points]
    weights = population.weights
    return Population(points + flipped, np.concatenate([(1.0 - eta) * weights, eta * weights]))


def flip_labels(sample: Sequence[Any], eta: float, *, rng: np.random.Generator) -> list[tuple[Any, int]]:
    """Return the examples with each label flipped independently at rate `eta`.

    Labels are −1 or 1.

    Examples
    --------
    >>> flip_labels([("a", 1)], 0.0, rng=np.random.default_rng(0))
    [('a', 1)]
    """
    eta = rate(eta, what="The `eta` of `flip_labels`")
    if not hasattr(sample, "__len__"):
        raise InvalidKind(f"The sample of `flip_labels` must be a list of (x, y); got {sample!r:.60}.")
    flips = (check_generator(rng, owner="flip_labels").random(len(sample)) < eta).tolist()
    return [(x, -y if flip else y) for (x, y), flip in zip(map(_example, sample), flips, strict=True)]


def noisy_sample_size(queries: int, *, tau: float, beta: float, eta: float, width: float = 1.0) -> int:
    """Return how many noisy examples clean queries need.

    The examples are for a `SampleOracle` that allows 2M queries, where M is `queries`.

    Guarantee
    ---------
    Each of the M queries uses two chunks, one for tolerance (1 − 2·eta)·tau/2 and one for tolerance tau/2.
    Each chunk fails with probability at most beta/2M (`sampling_size`). So the number is
    M·(⌈2·width²·ln(4M/beta)/(tau²(1 − 2·eta)²)⌉ + ⌈2·width²·ln(4M/beta)/tau²⌉). This is B Theorem 8's
    O((M/(tau²(1 − 2·eta)²))·log(M/beta)) with its constant.

    Examples
    --------
    >>> noisy_sample_size(10, tau=0.1, beta=0.05, eta=0.25)
    66850
    """
    queries = positive_int(queries, what="The `queries` of `noisy_sample_size`")
    eta = rate(eta, what="The `eta` of `noisy_sample_size`")
    tau = finite_number(tau, what="The `tau` of `noisy_sample_size`", above=0)
    each = probability(beta, what="The `beta` of `noisy_sample_size`", zero=False, one=False) / (
        2.0 * queries
    )
    label = sampling_size(tau=(1.0 - 2.0 * eta) * tau / 2.0, beta=each, width=width)
    return queries * (label + sampling_size(tau=tau / 2.0, beta=each, width=width))


def split_query(
    query: StatisticalQuery, *, eta: float, label_share: float = 0.5
) -> tuple[StatisticalQuery, StatisticalQuery]:
    """Return two queries about noisy examples for one about clean ones.

    The mean of query 1, divided by 1 − 2·eta, is the part of the clean mean that depends on labels. The mean
    of query 2 is the rest.

    Parameters
    ----------
    query
        A query of clean examples.
    eta, label_share
        As in `NoisyLabelOracle`.

    Examples
    --------
    >>> label, plain = split_query(StatisticalQuery.fraction(lambda z: z[1] == 1, tau=0.5), eta=0.25)
    >>> label.tau, label.function((0, -1)), plain.tau, plain.function((0, -1))
    (0.125, -0.5, 0.25, 0.5)
    """
    half, tau = query.width / 2.0, (1.0 - 2.0 * eta) * label_share * query.tau
    if tau < _RESOLUTION * query.width:
        raise InvalidValue(
            f"The noise rate {eta!r} leaves a tolerance of {tau:.3g}, which floats cannot keep."
        )
    label, plain = _LabelTerm(query), _PlainTerm(query)
    return (
        StatisticalQuery(label.one, tau, low=-half, high=half, vectorised=label),
        StatisticalQuery(plain.one, query.tau / 2.0, low=query.low, high=query.high, vectorised=plain),
    )


class NoisyLabelOracle(Oracle):
    """Answers queries about clean examples through an oracle for noisy ones.

    Each query becomes two queries about noisy examples (B Theorem 8).

    Parameters
    ----------
    oracle
        An oracle for the distribution of noisy examples.
    eta
        The known noise rate, in [0, 1/2).
    label_share
        The tolerance of the label term as a share of tau. The other term has tolerance tau/2. A share below
        1/2 leaves room for a slightly wrong rate (`candidate_rates`).

    Raises
    ------
    InvalidValue
        `eta` is 1/2 or more, or an example's label is neither −1 nor 1.

    Guarantee
    ---------
    If `oracle` is valid for the noisy distribution, this oracle is valid for the clean one. Write φ(x, y) =
    s(x)·y + m(x) with s = (φ(x, 1) − φ(x, −1))/2 and m = (φ(x, 1) + φ(x, −1))/2. The mean of m does not
    depend on the labels and has tolerance tau/2. A noisy label has mean (1 − 2·eta)·y, so E[s·y] is the noisy
    mean divided by 1 − 2·eta. The noisy mean is asked with tolerance (1 − 2·eta)·tau/2, so E[s·y] is known
    within tau/2. A wrong rate eta′ scales the answer for E[s·y] by (1 − 2·eta)/(1 − 2·eta′), so the rate must
    be known.

    Examples
    --------
    >>> from mechanisms.queries import ExactOracle
    >>> clean = Population([(0, -1), (1, 1)], [0.25, 0.75])
    >>> oracle = NoisyLabelOracle(ExactOracle(noisy_labels(clean, 0.3)), eta=0.3)
    >>> round(oracle.ask(StatisticalQuery.fraction(lambda z: z[1] == 1, tau=0.1)), 12)
    0.75
    """

    def __init__(self, oracle: SQOracle, *, eta: float, label_share: float = 0.5) -> None:
        super().__init__()
        self.oracle: SQOracle = check_oracle(oracle, owner=type(self).__name__)
        self.eta = rate(eta, what="The `eta` of `NoisyLabelOracle`")
        self.label_share = finite_number(
            label_share, what="The `label_share` of `NoisyLabelOracle`", above=0, maximum=0.5
        )

    def split(self, query: StatisticalQuery) -> tuple[StatisticalQuery, StatisticalQuery]:
        """Return the two queries of `split_query` for this oracle."""
        return split_query(query, eta=self.eta, label_share=self.label_share)

    def _answers(self, queries: Sequence[StatisticalQuery]) -> list[float]:
        parts = [part for query in queries for part in self.split(query)]
        answers = finite_answers(self.oracle.ask_all(parts))
        keep = 1.0 - 2.0 * self.eta
        return [label / keep + plain for label, plain in zip(answers[::2], answers[1::2], strict=True)]

    def _answer(self, query: StatisticalQuery) -> float:
        return self._answers([query])[0]


_RESOLUTION = 1e-13
"""Relative precision of a mean over a distribution."""


def once_each(
    function: Callable[[Sequence[Any]], NDArray[Any]], examples: Sequence[Any]
) -> NDArray[np.float64]:
    """Return the function's value for each example.

    Examples
    --------
    >>> pair = (0, 1)
    >>> once_each(lambda some: np.array([len(some)] * len(some)), [pair] * 3)
    array([1., 1., 1.])
    """
    kept = list(examples)  # an object without references may be freed and its id reused
    ids = np.fromiter(map(id, kept), dtype=np.uintp, count=len(kept))
    _, first, kind = np.unique(ids, return_index=True, return_inverse=True)
    return np.asarray(function([kept[place] for place in first.tolist()]), dtype=np.float64)[kind]


@dataclass(frozen=True)
class _Term:
    """One of two terms that add up to a query φ(x, y)."""

    query: StatisticalQuery

    def one(self, example: Any) -> float:
        """Return the value for one example."""
        return float(self._each([example])[0])

    def __call__(self, examples: Any) -> NDArray[np.float64]:
        """Return the values for many examples."""
        return once_each(self._each, examples)

    def _each(self, examples: Sequence[Any]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _under(self, label: int, examples: Sequence[Any]) -> NDArray[np.float64]:
        return self.query.values([(x, label) for x, _ in examples])


class _LabelTerm(_Term):
    """The label term y·(φ(x, 1) − φ(x, −1))/2 of a query φ."""

    def _each(self, examples: Sequence[Any]) -> NDArray[np.float64]:
        labels = np.array([_example(example)[1] for example in examples])
        return labels * (self._under(1, examples) - self._under(-1, examples)) / 2.0


class _PlainTerm(_Term):
    """The term (φ(x, 1) + φ(x, −1))/2 of a query φ, without the label."""

    def _each(self, examples: Sequence[Any]) -> NDArray[np.float64]:
        return (self._under(1, examples) + self._under(-1, examples)) / 2.0


def _example(record: Any) -> tuple[Any, int]:
    try:
        x, y = record
    except (TypeError, ValueError):
        raise InvalidKind(f"An example must be a pair (x, y); got {record!r:.60}.") from None
    if y not in (-1, 1):
        raise InvalidValue(f"A label must be −1 or 1 for its noise to be undone; got {y!r:.40}.")
    return x, int(y)
