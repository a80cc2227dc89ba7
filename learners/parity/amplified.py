"""Algorithm A*, which learns parities privately."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from audit.catalogue import Entry
from audit.claims import PAC
from audit.errors import InvalidKind, finite_number, flag, positive_int
from audit.relations import Relation
from learners.finite.at_size import at_size
from learners.finite.listed import check_database
from learners.formulas import parities
from learners.parity.choices import choice_law, chosen_candidates
from learners.parity.examples import examples_of
from learners.parity.large import telling_pairs
from learners.parity.learner import REFUSED, ParityLearner
from learners.parity.of_parities import OfParities
from learners.parity.plans import Form, Plan, check_form, derived_plan, failure_bound
from learners.parity.spaces import law_is_feasible
from learners.parity.systems import BitSystem
from mechanisms.subjects.claimed import ClaimsItsEpsilon

if TYPE_CHECKING:
    from audit.distributions import Finite
    from learners.parity.examples import BitExamples

__all__ = ["INSUFFICIENT", "AmplifiedParityLearner"]

INSUFFICIENT: Final = "insufficient samples"
"""The answer to fewer examples than A* needs."""

_MOST_COMBINATIONS = 5_000
_MOST_TESTED = 50
_ROUNDING = 1e-12


@dataclass(frozen=True)
class AmplifiedParityLearner(OfParities, ClaimsItsEpsilon):
    """Learn a parity privately by several runs of A (algorithm A*).

    The answer is a tuple of bits. It is "⊥" if every run of A refused. On fewer than `sample_size` examples
    it is "insufficient samples".

    Parameters
    ----------
    dimension
        d, the length of x.
    epsilon
        The privacy claimed, > 0.
    alpha, beta
        The accuracy claimed if a parity labels the examples, both in (0, 1/2). With probability at most beta
        the error is above alpha or the answer is no parity.
    form
        "retry": k runs of A with epsilon/k on the whole sample; the answer is that of the first run that does
        not refuse (K08). "held-out": k runs of A with epsilon on disjoint parts; the answer has the least
        number of mistakes, plus noise, on a test set (K11). "selection": the same, but the exponential
        mechanism chooses (K11, footnote 4).
    tight
        False: A as printed, and the texts' number of runs. True: the tight form of A, and the number of runs
        for which the fewest examples are needed.
    made
        A `Plan` to use in place of the derived `plan`. Privacy does not depend on it. Accuracy is claimed
        only if `failure_bound` is at most beta.
    size
        Length (or least and greatest) of audited databases; None: `sample_size`.

    Raises
    ------
    InvalidValue
        A parameter is out of bounds. With A as printed, epsilon for one run must be at most 2.

    Guarantee
    ---------
    epsilon-differential privacy. Whether there are enough examples depends on their number alone, which
    neighbours share.

    *"retry"*: the answer is computed from k answers of A, each private with epsilon/k (K08 Theorem 3.8). The
    text divides epsilon by log2(1/β′), which need not be the number of runs (N15).

    *"held-out" and "selection"*: an example is either in one part, which one run of A sees with epsilon, or
    in the test set, which only the choice sees (K11 Lemma 4.5). One example changes each candidate's mistakes
    by at most 1. The choice is epsilon-private by Laplace noise of scale k/epsilon on all k counts, or by
    weights e^(−epsilon·mistakes/2). A candidate "⊥" counts as s mistakes on every test set of s examples (the
    text does not say so: N14).

    (alpha, beta)-accuracy is derived at the top of `learners.parity.plans`.

    Examples
    --------
    >>> as_printed, tight = (AmplifiedParityLearner(16, 1.0, tight=tight) for tight in (False, True))
    >>> as_printed.sample_size(), tight.sample_size()
    (63424, 6471)
    >>> as_printed([((0,) * 16, 0)], np.random.default_rng(0))
    'insufficient samples'
    """

    dimension: int = 2
    epsilon: float = 1.0
    _: KW_ONLY
    alpha: float = 0.1
    beta: float = 0.1
    form: Form = "held-out"
    tight: bool = False
    made: Plan | None = None
    size: int | tuple[int, int] | None = None
    plan: Plan = field(init=False, repr=False, compare=False)

    name: ClassVar[str] = "parity-amplified"
    reference: ClassVar[str] = "K08 Theorem 3.8; K11 Theorem 4.4 and footnote 4"
    relation: ClassVar[Relation] = Relation.REPLACE_ONE
    aligned: ClassVar[bool] = True

    def __post_init__(self) -> None:
        owner = type(self).__name__
        flag(self.tight, what=f"The `tight` of `{owner}`")
        positive_int(self.dimension, what=f"The `dimension` of `{owner}`")
        finite_number(self.epsilon, what=f"The `epsilon` of `{owner}`", above=0)
        finite_number(self.alpha, what=f"The `alpha` of `{owner}`", above=0, below=0.5)
        finite_number(self.beta, what=f"The `beta` of `{owner}`", above=0, below=0.5)
        check_form(self.form)
        if self.made is not None and not isinstance(self.made, Plan):
            raise InvalidKind(f"The `made` of `{owner}` must be a `Plan`; got {self.made!r:.60}.")
        object.__setattr__(self, "plan", self.made or self._derived())
        if self.size is None:
            object.__setattr__(self, "size", self.sample_size())
        _ = self.run

    @property
    def _needed(self) -> int:
        """The least number of examples for which A* answers."""
        return self.plan.sample_size(self.form)

    @property
    def failure_bound(self) -> float:
        """The proved bound on the probability of failing."""
        return failure_bound(
            self.plan,
            self.form,
            dimension=self.dimension,
            epsilon=self.epsilon,
            alpha=self.alpha,
            tight=self.tight,
        )

    @property
    def utility_claim(self) -> PAC | None:
        """The accuracy claimed; None if the plan does not prove it.

        Examples
        --------
        >>> made = Plan(candidates=2, training=2)
        >>> print(AmplifiedParityLearner(2, form="retry", tight=True, made=made).utility_claim)
        None
        """
        return PAC(self.alpha, self.beta) if self.failure_bound <= self.beta * (1.0 + _ROUNDING) else None

    @cached_property
    def run(self) -> ParityLearner:
        """The learner A that is run."""
        share = self.epsilon / self.plan.candidates if self.form == "retry" else self.epsilon
        return ParityLearner(self.dimension, share, tight=self.tight)

    @property
    def records(self) -> Any:
        """The records of A."""
        return self.run.records

    def __call__(self, database: Any, rng: np.random.Generator) -> Any:
        """Return a parity as bits, "⊥" or "insufficient samples"."""
        return self.sample(database, 1, rng)[0]

    def sample(self, database: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return the answers of `size` runs."""
        examples = examples_of(database, dimension=self.dimension, owner=type(self).__name__)
        made = self.plan
        if len(examples) < made.sample_size(self.form):
            return [INSUFFICIENT] * size
        if self.form == "retry":
            return self._first_passing(examples, made.candidates, size=size, rng=rng)
        runs = [self.run.sample(part, size, rng) for part in self._parts(examples)]
        candidates = list(zip(*runs, strict=True))
        test = BitSystem.of(self._test(examples))
        return chosen_candidates(candidates, test, form=self.form, epsilon=self.epsilon, rng=rng)

    def distribution(self, database: Any) -> Finite | None:
        """Return the exact law, or None if it is too large."""
        made = self.plan
        check_database(database)
        if not self._law_is_feasible(len(database)):
            return None
        examples = examples_of(database, dimension=self.dimension, owner=type(self).__name__)
        if len(examples) < made.sample_size(self.form):
            return _finite({INSUFFICIENT: 1.0})
        if self.form == "retry":
            return self._law_of_first(examples)
        laws = [_masses(self.run.distribution(part)) for part in self._parts(examples)]
        test = BitSystem.of(self._test(examples))
        total: defaultdict[Any, float] = defaultdict(float)
        for combination in product(*(law.items() for law in laws)):
            mass = float(np.prod([share for _, share in combination]))
            answers = [answer for answer, _ in combination]
            choice = choice_law(answers, test, form=self.form, epsilon=self.epsilon)
            for answer, share in zip(answers, choice, strict=True):
                total[answer] += mass * share
        return _finite(total)

    def _derived(self) -> Plan:
        return derived_plan(
            self.form,
            dimension=self.dimension,
            epsilon=self.epsilon,
            alpha=self.alpha,
            beta=self.beta,
            tight=self.tight,
        )

    def _law_is_feasible(self, size: int) -> bool:
        made = self.plan
        if size < made.sample_size(self.form):
            return True
        if self.form == "retry":
            return law_is_feasible(self.dimension, size)
        few = (2**self.dimension + 1) ** made.candidates <= _MOST_COMBINATIONS
        return few and made.test <= _MOST_TESTED and law_is_feasible(self.dimension, made.training)

    def _law_of_first(self, examples: BitExamples) -> Finite:
        """Return the law of the earliest of k answers other than "⊥"."""
        masses = _masses(self.run.distribution(examples))
        none = masses.pop(REFUSED)
        rounds = sum(none**earlier for earlier in range(self.plan.candidates))
        law = {answer: mass * rounds for answer, mass in masses.items()}
        return _finite({REFUSED: none**self.plan.candidates, **law})

    def _first_passing(
        self, examples: BitExamples, rounds: int, *, size: int, rng: np.random.Generator
    ) -> list[Any]:
        outputs: list[Any] = [REFUSED] * size
        for _ in range(rounds):
            fresh = self.run.sample(examples, size, rng)
            outputs = [new if old == REFUSED else old for old, new in zip(outputs, fresh, strict=True)]
            if REFUSED not in outputs:
                break
        return outputs

    def _parts(self, examples: BitExamples) -> list[BitExamples]:
        made = self.plan
        return [examples[j * made.training : (j + 1) * made.training] for j in range(made.candidates)]

    def _test(self, examples: BitExamples) -> BitExamples:
        start = self.plan.candidates * self.plan.training
        return examples[start : start + self.plan.test]


def _masses(law: Any) -> dict[Any, float]:
    """Return the possible outcomes of a finite law."""
    masses = np.exp(law.log_probabilities).tolist()
    pairs = zip(law.outcomes, masses, strict=True)
    return {answer: mass for answer, mass in pairs if mass > 0.0 or answer == REFUSED}


def _finite(masses: dict[Any, float]) -> Finite:
    from audit.distributions import Finite  # loaded here only: a run does not need it

    return Finite(list(masses), list(masses.values()))


_FEW = Plan(candidates=2, training=1, test=1)
"""Sizes so small that an audit can list every sample."""


def _small(form: Form, made: Plan, summary: str, *, dimension: int = 2) -> Entry:
    return Entry(
        f"parity-amplified-{form}",
        partial(AmplifiedParityLearner, dimension, form=form, tight=True, made=made),
        formulas=parities.retry if form == "retry" else parities.judged,
        reference=AmplifiedParityLearner.reference,
        summary=summary,
    )


def _sized(form: Form, *, tight: bool) -> Entry:
    """Return the entry of A* at d = 16, audited by runs."""
    zero, unit = (0,) * 16, (1, *(0,) * (16 - 1))
    settings: dict[str, Any] = {"dimension": 16, "form": form, "tight": tight}
    settings |= {"calm": (zero, 0), "odd": (unit, 1)}
    name = "parity-amplified" + ("" if form == "held-out" else f"-{form}") + "-at-size"
    size = AmplifiedParityLearner(16, form=form, tight=tight).sample_size()
    pairs = telling_pairs(16, size, places=(0,) if form == "retry" else (0, -1))
    return Entry(
        name,
        partial(at_size, AmplifiedParityLearner, **settings),
        options={"pairs": pairs, "budget": 10_000},
        utility={"budget": 20_000},
        reference=AmplifiedParityLearner.reference,
        summary=f"by runs, with the stated n: A*, {form}, d = 16, α = β = 0.1",
    )


entries = (
    _small("retry", Plan(candidates=2, training=2), "A*, retry: 2 runs, d = 2, all samples of 2"),
    _small("held-out", _FEW, "A*, test set with noise: 2 candidates, d = 1", dimension=1),
    _small("selection", _FEW, "A*, exponential choice of 2 candidates, d = 1", dimension=1),
    _sized("retry", tight=False),
    _sized("held-out", tight=True),
    _sized("selection", tight=True),
)
