"""A privacy budget that cannot be overspent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from audit.claims import PrivacyClaim, PureDP, check_claim
from audit.errors import AuditError, InvalidValue
from audit.relations import Relation, name_of
from audit.subject.subject import adapt
from mechanisms.composition.accounting import claimed, sequential_bound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audit.claims import ApproximateDP

__all__ = ["Budget", "OverspentError", "refuse_overspending"]


class OverspentError(AuditError):
    """A request costs more than is left of a privacy budget.

    Examples
    --------
    >>> issubclass(OverspentError, AuditError)
    True
    """


class Budget:
    """A privacy budget that refuses mechanisms whose claim exceeds what is left.

    Parameters
    ----------
    limit
        The most that may be spent in all.
    relation
        Which databases are neighbours. A mechanism that claims privacy for another relation is refused.

    Guarantee
    ---------
    If every mechanism keeps its claim, all outputs of `run` together satisfy `limit`, even if later
    mechanisms depend on earlier outputs. For every sequence of outputs, the sums of the claims stay within
    the limit (`sequential_bound`).

    Examples
    --------
    >>> budget = Budget(PureDP(1.0))
    >>> budget.spend(PureDP(0.75))
    >>> budget.spend(PureDP(0.5))
    Traceback (most recent call last):
    mechanisms.composition.budget.OverspentError: PureDP(epsilon=0.5) would bring the budget of
    PureDP(epsilon=1) to PureDP(epsilon=1.25).
    >>> print(budget.spent)
    PureDP(epsilon=0.75)
    """

    def __init__(self, limit: PrivacyClaim, *, relation: Any = Relation.REPLACE_ONE) -> None:
        self.limit = check_claim(limit)
        self.relation = relation
        self._claims: list[PrivacyClaim] = []

    @property
    def spent(self) -> PureDP | ApproximateDP:
        """The sum of the claims so far."""
        return sequential_bound(self._claims)

    def spend(self, claim: PrivacyClaim) -> None:
        """Add a claim to what is spent.

        Raises
        ------
        OverspentError
            The claims would exceed the limit together. Nothing was added.
        """
        refuse_overspending([*self._claims, claim], limit=self.limit)
        self._claims.append(claim)

    def run(self, mechanism: Any, database: Any, *, rng: Any) -> Any:
        """Run a mechanism within the budget and return its output.

        Raises
        ------
        OverspentError
            The claim exceeds what is left of the budget. The mechanism was not run.
        InvalidValue
            The mechanism has no privacy claim, or has one for another relation.

        Examples
        --------
        >>> import numpy as np
        >>> from mechanisms import LaplaceMechanism
        >>> budget = Budget(PureDP(1.0))
        >>> noisy = budget.run(LaplaceMechanism(epsilon=1.0), [1, 0, 1], rng=np.random.default_rng(0))
        >>> print(budget.spent)
        PureDP(epsilon=1)
        """
        subject = adapt(mechanism)
        relation = subject.relation or Relation.REPLACE_ONE
        if relation is not self.relation:
            raise InvalidValue(
                f"The budget is for {name_of(self.relation)} neighbours; {subject.name} claims its privacy "
                f"for {name_of(relation)}."
            )
        self.spend(claimed(subject))
        return subject.call(database, rng)


def refuse_overspending(claims: Sequence[PrivacyClaim], *, limit: PrivacyClaim) -> None:
    """Raise an error if the claims together exceed a limit.

    Raises
    ------
    OverspentError
        The claims together exceed the limit.

    Examples
    --------
    >>> refuse_overspending([PureDP(0.1)] * 10, limit=PureDP(1.0))
    """
    total = sequential_bound(claims)
    if total.epsilon > limit.epsilon or total.delta > limit.delta:
        raise OverspentError(f"{claims[-1]} would bring the budget of {limit} to {total}.")
