"""Algorithm A, a private learner of parities that often refuses."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from audit.catalogue import Entry
from audit.errors import finite_number, flag, positive_int, probability
from audit.relations import Relation
from learners.finite.listed import check_database
from learners.formulas import parities as formulas
from learners.parity.examples import examples_of
from learners.parity.large import telling_pairs
from learners.parity.of_parities import OfParities
from learners.parity.rates import Rates
from learners.parity.spaces import law_is_feasible, member_law, parities, space_law
from learners.parity.systems import WORD, BitSystem, as_numbers, as_tuple
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from audit.distributions import Finite

__all__ = ["REFUSED", "ParityLearner"]

REFUSED: Final = "⊥"
"""The answer if A refuses, or if no parity agrees with the examples it took."""

_LISTED = 8
"""Up to this dimension every record is listed."""
_DRAWS = 2**21


@dataclass(frozen=True)
class ParityLearner(OfParities, ClaimsItsEpsilon):
    """Learn a parity privately from some examples (algorithm A).

    A refuses with probability q. Otherwise it takes each example with probability p and returns a uniform r
    among all r whose parity c_r(x) = ⟨r, x⟩ agrees with every example taken. r is a tuple of bits. If no
    parity agrees or A refuses, the answer is "⊥". A database is a list of (x, y), x a tuple of `dimension`
    bits and y a bit. Any labels are legal.

    Parameters
    ----------
    dimension
        d, the length of x.
    epsilon
        The privacy claimed, > 0, and at most 2 unless `tight`.
    tight
        False: p = epsilon/4 and q = 1/2, as printed. True: p = tanh(epsilon/2) and q = (1 − p)/(3 − p).
    alpha, beta
        The accuracy claimed if a parity labels the `sample_size` examples. With probability at most beta the
        error is above alpha or the answer is "⊥". K11 Lemma 4.1 has beta = 3/4.
    size
        Length (or least and greatest) of audited databases.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds (also `epsilon` > 2 if not `tight`, or `beta` ≤ q), or an example is not
        a pair (x, y) over bits.

    Guarantee
    ---------
    epsilon-differential privacy (K08 Lemma 3.2, K11 Lemma 4.2). Without `tight` this holds only for epsilon ≤
    2. The texts print no range for epsilon. Their proof uses epsilon ≤ 1/2 and needs 2p/(1 − p) ≤ epsilon.
    For p = epsilon/4 the claim is false from 3.83 on. If q ≥ (1 − p)/(3 − p), the exact worst loss is ln((1 +
    p)/(1 − p)) for every d and n ≥ 1.

    *Proof for an answer r.* Condition on whether the example i that differs is taken. If it is not, the laws
    agree. An equation that r satisfies halves the space of solutions or leaves it as it is. So taking i
    multiplies the probability of r by a number from 0 to 2 (Claim 4.3). Let a be the probability of r if i is
    not taken. The probabilities of r on neighbours are (1 − p)a + pb and (1 − p)a + pb′ with b, b′ in [0,
    2a]. So their ratio is at most (1 + p)/(1 − p). The ratio is attained if x_i is linearly independent of
    the other x, and r satisfies example i on one database only.

    *Proof for "⊥".* Let B ≥ q be its probability if i is not taken. If i is taken, it is between B and 1. So
    the ratio is at most 1 − p + p/B ≤ 1 − p + p/q. This is 1 + p for q = 1/2, and (1 + p)/(1 − p) for q = (1
    − p)/(3 − p). With p = tanh(epsilon/2) this is e^epsilon.

    Accuracy: see `Rates.sample_size`.

    Examples
    --------
    >>> learner = ParityLearner(dimension=2, epsilon=1.0)
    >>> law = learner.distribution([((1, 0), 1), ((0, 1), 1), ((1, 1), 1)])
    >>> round(law.pmf((1, 1)), 6), round(law.pmf("⊥"), 6), round(learner.worst_loss, 6)
    (0.146484, 0.507812, 0.510826)
    >>> ParityLearner(2, 1.0, tight=True).sample_size(), learner.sample_size()
    (15, 33)
    """

    dimension: int = 2
    epsilon: float = 1.0
    _: KW_ONLY
    tight: bool = False
    alpha: float = 0.25
    beta: float = 0.75
    size: int | tuple[int, int] = 3

    name: ClassVar[str] = "parity"
    reference: ClassVar[str] = "K08 §3.2, Lemmas 3.1 and 3.2; K11 §4, Lemmas 4.1 and 4.2"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.tight, what=f"The `tight` of `{owner}`")
        positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.alpha, what=f"The `alpha` of `{owner}`", above=0, below=0.5)
        probability(self.beta, what=f"The `beta` of `{owner}`", zero=False, one=False)
        _ = self.sample_size()

    @property
    def rates(self) -> Rates:
        """The probabilities p of taking an example and q of refusing."""
        if self.tight:
            return Rates.tight(self.epsilon)
        return Rates.printed(self.epsilon, owner=type(self).__name__)

    @property
    def worst_loss(self) -> float:
        """The exact privacy loss over all databases of every size."""
        return self.rates.loss

    @property
    def records(self) -> Any:
        """Every (x, y), or a Hypothesis strategy for more than 8 variables."""
        if self.dimension <= _LISTED:
            return list(product(product((0, 1), repeat=self.dimension), (0, 1)))
        from hypothesis import strategies

        bit = strategies.integers(0, 1)
        return strategies.tuples(strategies.tuples(*[bit] * self.dimension), bit)

    @property
    def _needed(self) -> int:
        return self.rates.sample_size(self.beta, dimension=self.dimension, alpha=self.alpha)

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a parity as bits, or "⊥"."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the answers of `size` runs."""
        system = BitSystem.of(self._examples(database))
        outputs: list[Any] = [REFUSED] * size
        block = max(1, _DRAWS // (system.count + self.dimension))
        for start in range(0, size, block):
            count = min(block, size - start)
            running = start + np.flatnonzero(rng.random(count) >= self.rates.refusal)
            chosen = rng.random((len(running), system.count)) < self.rates.inclusion
            coins = rng.random((len(running), self.dimension)) < 0.5
            for place, answer in zip(running.tolist(), self._answers(system, chosen, coins), strict=True):
                outputs[place] = answer
        return outputs

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it takes too long."""
        check_database(database)
        if not law_is_feasible(self.dimension, len(database)):
            return None
        from audit.distributions import Finite  # loaded here only: a run does not need it

        examples, rates = self._examples(database), self.rates
        law = space_law(examples, inclusion=rates.inclusion)
        none = rates.refusal + (1.0 - rates.refusal) * law.get(0, 0.0)
        members = (1.0 - rates.refusal) * member_law(law, self.dimension)
        return Finite([REFUSED, *parities(self.dimension)], np.concatenate([[none], members]))

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return pairs that attain the worst loss."""
        most = self.size if isinstance(self.size, int) else self.size[1]
        if most < 1:
            return []
        zero, unit = (0,) * self.dimension, (1,) + (0,) * (self.dimension - 1)
        rest = [(zero, 0)] * (most - 1)
        broken = [*rest[1:], (zero, 1)] if rest else []
        return [([(unit, 1), *others], [(unit, 0), *others]) for others in (rest, broken)]

    def _examples(self, database: Any) -> Any:
        return examples_of(database, dimension=self.dimension, owner=type(self).__name__)

    def _answers(self, system: BitSystem, chosen: NDArray[np.bool_], coins: NDArray[np.bool_]) -> list[Any]:
        """Return the answers of runs that have not refused."""
        if system.count <= WORD and self.dimension < WORD:
            taken = np.array(as_numbers(chosen), dtype=np.uint64)
            solutions, solvable = system.solve_words(taken, coins)
            places = np.arange(self.dimension, dtype=np.uint64)
            bits = (solutions[:, None] >> places & np.uint64(1)).astype(int).tolist()
            return [
                tuple(row) if solved else REFUSED for row, solved in zip(bits, solvable.tolist(), strict=True)
            ]
        return [
            REFUSED if space is None else as_tuple(space.member(tossed), self.dimension)
            for space, tossed in zip(map(system.solve, as_numbers(chosen)), as_numbers(coins), strict=True)
        ]


_ALONE = {"budget": 20_000}
"""The number of runs of a utility audit of A alone, with β = 3/4, on 33 or 15 examples."""

entries = (
    Entry(
        "parity",
        ParityLearner,
        utility=_ALONE,
        reference=ParityLearner.reference,
        summary="A, p = ε/4, d = 2, all samples of 3: loss ln((4 + ε)/(4 − ε))",
        formulas=formulas.parity,
    ),
    Entry(
        "parity-tight",
        partial(ParityLearner, tight=True),
        utility=_ALONE,
        reference=ParityLearner.reference,
        summary="A, p = tanh(ε/2), d = 2, all samples of 3: its claim",
        formulas=formulas.parity,
    ),
    Entry(
        "parity-at-size",
        partial(ParityLearner, 64, size=2_000),
        options={"pairs": telling_pairs(64, 2_000), "budget": 10_000},
        utility={"budget": 20_000},
        reference=ParityLearner.reference,
        summary="by runs: A, p = ε/4, d = 64, n = 2,000; its accuracy with the stated n",
    ),
)
