"""Flawed versions of A and A*."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from audit.catalogue import Entry
from audit.errors import finite_number
from learners.parity.amplified import AmplifiedParityLearner
from learners.parity.learner import ParityLearner
from learners.parity.plans import Form, Plan
from learners.parity.rates import Rates

__all__ = ["BoldParityLearner", "NaiveParityLearner", "OverspentParityRetry", "UncheckedParityLearner"]


@dataclass(frozen=True)
class UncheckedParityLearner(ParityLearner):
    """Wrong version of A: p = epsilon/4 for every epsilon below 4.

    Guarantee
    ---------
    epsilon-private only up to epsilon = 3.83. The loss is 2·artanh(epsilon/4): 4.369 at 3.9, and without
    bound towards 4.

    Examples
    --------
    >>> round(UncheckedParityLearner(epsilon=3.9).worst_loss, 4)
    4.3694
    """

    epsilon: float = 3.9

    name: ClassVar[str] = "flawed-parity-any-epsilon"
    reference: ClassVar[str] = "K08 Lemma 3.2, K11 Lemma 4.2: no range for ε"

    @property
    def rates(self) -> Rates:
        """The probabilities p = epsilon/4 and q = 1/2."""
        what = "The `epsilon` of `UncheckedParityLearner`"
        return Rates(finite_number(self.epsilon, what=what, above=0, below=4) / 4.0, 0.5)


@dataclass(frozen=True)
class BoldParityLearner(ParityLearner):
    """Wrong version of A that refuses too rarely.

    Guarantee
    ---------
    Not epsilon-private. If one example alone leads to "⊥", "⊥" loses ln(1 − p + p/q), which is 1.589 at
    epsilon = 1.

    Examples
    --------
    >>> round(BoldParityLearner(epsilon=1.0).worst_loss, 4)
    1.589
    """

    beta: float = 0.8

    name: ClassVar[str] = "flawed-parity-rarely-refuses"
    reference: ClassVar[str] = "K11 §4: what step 1 of A is for"

    @property
    def rates(self) -> Rates:
        """The probabilities of `Rates.tight` with half of its q."""
        tight = Rates.tight(self.epsilon)
        return Rates(tight.inclusion, tight.refusal / 2.0)


@dataclass(frozen=True)
class NaiveParityLearner(ParityLearner):
    """Wrong version of A that uses all examples.

    Guarantee
    ---------
    None: the loss is infinite. If no parity agrees with a sample, the answer is always "⊥". If some parity
    agrees, it is never "⊥".

    Examples
    --------
    >>> NaiveParityLearner().worst_loss
    inf
    """

    name: ClassVar[str] = "flawed-parity-naive"
    reference: ClassVar[str] = "K11 §4, the standard PAC learner for PARITY"

    @property
    def rates(self) -> Rates:
        """The probabilities p = 1 and q = 0."""
        return Rates(1.0, 0.0)

    @property
    def worst_loss(self) -> float:
        """The privacy loss, which is infinite."""
        return math.inf


@dataclass(frozen=True)
class OverspentParityRetry(AmplifiedParityLearner):
    """Wrong version of K08's A* that overspends.

    It has ⌈log2(1/β′)⌉ rounds, each of which loses epsilon/log2(1/β′).

    Parameters
    ----------
    dimension, epsilon, alpha, beta, form, tight, made, size
        As in `AmplifiedParityLearner`; β′ = beta/2.

    Guarantee
    ---------
    Not epsilon-private: "⊥" loses the epsilon of every round. At beta = 0.1 and epsilon = 1 the rounds
    together lose 1.157.

    Examples
    --------
    >>> learner = OverspentParityRetry()
    >>> learner.plan.candidates, round(learner.plan.candidates * learner.run.epsilon, 3)
    (5, 1.157)
    """

    dimension: int = 1
    form: Form = "retry"
    tight: bool = True

    name: ClassVar[str] = "flawed-parity-rounds"
    reference: ClassVar[str] = "K08 §3.2, A*: ε′ = ε/log(1/β′), log(1/β′) rounds"

    @property
    def run(self) -> ParityLearner:
        """The learner A of one round, with epsilon/log2(1/β′)."""
        share = self.epsilon / -math.log2(self.beta / 2.0)
        return ParityLearner(self.dimension, share, tight=self.tight)

    def _derived(self) -> Plan:
        return Plan(math.ceil(-math.log2(self.beta / 2.0)), training=1)


entries = (
    Entry(
        UncheckedParityLearner.name,
        UncheckedParityLearner,
        expected="refuted",
        reference=UncheckedParityLearner.reference,
        summary="p = ε/4 at ε = 3.9: loss 4.369",
    ),
    Entry(
        BoldParityLearner.name,
        BoldParityLearner,
        expected="refuted",
        reference=BoldParityLearner.reference,
        summary="refuses half as often as it must: loss 1.589, not 1",
    ),
    Entry(
        NaiveParityLearner.name,
        NaiveParityLearner,
        expected="refuted",
        reference=NaiveParityLearner.reference,
        summary="solves for all examples: loss ∞",
    ),
    Entry(
        OverspentParityRetry.name,
        OverspentParityRetry,
        expected="refuted",
        reference=OverspentParityRetry.reference,
        summary="5 rounds of ε/log2(20): loss 1.157, not 1",
    ),
)
