"""The number of candidates and examples of A*, with derivations.

A takes an example with probability p and refuses at once with probability q (`Rates`). Consider a run of A on
n examples that a parity labels. If the run does not refuse, it returns a parity of error above α with
probability at most γ(n) = 2^d·(1 − p·α)^n.

**Retry** (K08). There are k runs on the same sample, each with ε/k. The answer is that of the first run that
does not refuse. All runs refuse with probability q^k. The run that answers is independent of the examples
that it takes, so its answer is bad with probability at most γ. (Lemma 3.1 shows only 2β′ here.) So the
failure probability is q^k + (1 − q^k)·γ ≤ β. The number of runs is k = ⌈log2(1/β′)⌉, and ε is divided by k.
(Divided by the logarithm itself, the runs would cost more than ε.)

**Held-out** (K11). There are k candidates, learned from disjoint samples of n′ examples. Their mistakes on s
further examples, with Laplace noise of scale k/ε, decide between them. Let α′ = α/5 and β′ = β/3 (the text's
β/2 does not add up to β). Each of three events has probability at most β′.

1. No candidate has error ≤ α′. The probability is (q + (1 − q)·γ(n′))^k, with α′ in place of α. 2. Some
   candidate of error ≤ α′ makes more than 2α′s mistakes, or one of error > 5α′ makes at most 4α′s. The
   probability is k·e^(−α′s/10), by Theorem A.1 (e^(−α′s/3) and e^(−(1/5)²·5α′s/2)).
3. Some noise reaches α′s. The probability is k·e^(−α′sε/k).

If none happens, every candidate of error > α has more than 3α′s noisy mistakes, and one of error ≤ α′ has
fewer. "⊥" also has more, because all of its s answers count as mistakes.

**Selection** (K11, footnote 4). The exponential mechanism picks the candidate, with weight ε/2 on mistakes,
which have sensitivity 1. Event 3 becomes: the candidate picked makes over (2/ε)·ln(k/β′) more mistakes than
the best. This has probability at most β′. If no event happens and (2/ε)·ln(k/β′) ≤ 2α′s, the candidate picked
has error ≤ α. The test set is then smaller by the factor k. The printed sample size O(d·log(1/β)/εα) has no
factor k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from audit.errors import check_word, positive_int
from learners.parity.rates import Rates, printed_sample_size

__all__ = ["Form", "Plan", "check_form", "derived_plan", "failure_bound", "rates_of"]

Form = Literal["retry", "held-out", "selection"]
_SPREAD = 5
"""The ratio α/α′, where α′ is the error that a good candidate may have."""
_OWNER = "AmplifiedParityLearner"
_MOST_CANDIDATES = 400


@dataclass(frozen=True)
class Plan:
    """How A* divides its sample.

    Parameters
    ----------
    candidates
        k, the number of runs of A.
    training
        The number of examples that each run sees. In the form "retry" this is the whole sample, else a part.
    test
        The number of examples that judge the candidates; 0 in the form "retry".

    Examples
    --------
    >>> Plan(candidates=3, training=100, test=50).sample_size("held-out")
    350
    """

    candidates: int
    training: int
    test: int = 0

    def __post_init__(self) -> None:
        positive_int(self.candidates, what="The `candidates` of `Plan`")
        positive_int(self.training, what="The `training` of `Plan`", minimum=0)
        positive_int(self.test, what="The `test` of `Plan`", minimum=0)

    def sample_size(self, form: Form) -> int:
        """Return the total number of examples needed."""
        return self.training if form == "retry" else self.candidates * self.training + self.test


def check_form(form: str) -> None:
    """Raise unless the form is "retry", "held-out" or "selection"."""
    check_word(form, Form, what=f"The `form` of `{_OWNER}`")


def rates_of(form: Form, *, candidates: int, epsilon: float, tight: bool) -> Rates:
    """Return p and q of a run of A.

    The run has epsilon/k in the form "retry", otherwise epsilon.
    """
    share = epsilon / candidates if form == "retry" else epsilon
    return Rates.tight(share) if tight else Rates.printed(share, owner=_OWNER)


def derived_plan(
    form: Form, *, dimension: int, epsilon: float, alpha: float, beta: float, tight: bool
) -> Plan:
    """Return the plan of A* for a form.

    It has the texts' number of candidates or, if `tight`, the fewest examples.

    Raises
    ------
    InvalidValue
        With A as printed, the epsilon of one run is above 2.

    Examples
    --------
    >>> options = {"dimension": 16, "epsilon": 1.0, "alpha": 0.1, "beta": 0.1}
    >>> derived_plan("retry", tight=False, **options), derived_plan("retry", tight=True, **options)
    (Plan(candidates=5, training=2741, test=0), Plan(candidates=2, training=594, test=0))
    """
    check_form(form)
    build = _retry if form == "retry" else _judged
    if not tight:
        part = beta / 2.0 if form == "retry" else beta / 3.0
        base = 2.0 if form == "retry" else 4.0 / 3.0
        count = math.ceil(-math.log(part) / math.log(base))
        made = build(form, count, dimension=dimension, epsilon=epsilon, alpha=alpha, beta=beta, tight=False)
        assert made is not None  # (3/4)^count ≤ beta′ and 2^−count ≤ beta/2
        return made
    tried = (
        build(form, count, dimension=dimension, epsilon=epsilon, alpha=alpha, beta=beta, tight=True)
        for count in range(1, _MOST_CANDIDATES)
    )
    return min((made for made in tried if made is not None), key=lambda made: made.sample_size(form))


def failure_bound(
    made: Plan, form: Form, *, dimension: int, epsilon: float, alpha: float, tight: bool
) -> float:
    """Return the bound on the failure probability of any plan.

    It is derived at the top of this module.

    Examples
    --------
    >>> made = Plan(candidates=5, training=2741)
    >>> failure_bound(made, "retry", dimension=16, epsilon=1.0, alpha=0.1, tight=False) <= 0.1
    True
    """
    k, s = made.candidates, made.test
    rates = rates_of(form, candidates=k, epsilon=epsilon, tight=tight)
    if form == "retry":
        none = rates.refusal**k
        return none + (1.0 - none) * rates.bad(made.training, dimension=dimension, alpha=alpha)
    good = alpha / _SPREAD
    bad = rates.bad(made.training, dimension=dimension, alpha=good)
    none = (rates.refusal + (1.0 - rates.refusal) * bad) ** k
    judged = k * math.exp(-good * s / 10.0)
    noise = k * math.exp(-good * s * epsilon / (k if form == "held-out" else 1.0))
    return min(1.0, none + judged + noise)


def _retry(
    form: Form, count: int, *, dimension: int, epsilon: float, alpha: float, beta: float, tight: bool
) -> Plan | None:
    """Return the retry plan with failure bound at most beta, or None."""
    rates = rates_of(form, candidates=count, epsilon=epsilon, tight=tight)
    none = rates.refusal**count
    if none >= beta:
        return None
    bad = (beta - none) / (1.0 - none)
    return Plan(count, rates.needed(bad, dimension=dimension, alpha=alpha))


def _judged(
    form: Form, count: int, *, dimension: int, epsilon: float, alpha: float, beta: float, tight: bool
) -> Plan | None:
    """Return the plan in which each failure event has probability at most beta/3.

    The events are numbered at the top of this module. If q is too large, the result is None. With A as
    printed, log_{4/3}(1/β′) candidates are learned from parts of the size of K11 Lemma 4.1.
    """
    rates = rates_of(form, candidates=count, epsilon=epsilon, tight=tight)
    good, part = alpha / _SPREAD, beta / 3.0
    if tight:
        bad = (part ** (1.0 / count) - rates.refusal) / (1.0 - rates.refusal)
        if bad <= 0.0:
            return None
        training = rates.needed(bad, dimension=dimension, alpha=good)
    else:
        training = printed_sample_size(0.25, dimension=dimension, alpha=good, epsilon=epsilon)
    share = count if form == "held-out" else 1.0
    test = math.ceil(max(10.0, share / epsilon) / good * math.log(count / part))
    return Plan(count, training, test)
