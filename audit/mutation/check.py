"""The same audit against smaller claims.

An audit that refutes nothing may be unable to find faults. A smaller claimed ε plants a fault of known size
without changing the mechanism. If the true ε equals the claimed ε, every smaller claim is false.
"""

from typing import Any

import numpy as np

from audit.claims import PrivacyClaim, check_claim, private
from audit.errors import InvalidValue, Parameter, positive_int
from audit.mutation.result import MutationCheck, Repetition
from audit.privacy import audit_privacy
from audit.subject.subject import adapt

#: Factors closer to 1 plant smaller faults. Each factor multiplies the claimed ε; δ stays.
FACTORS = (0.5, 0.8, 0.9)
#: The branch of the seed tree for the seeds of the repetitions; no audit uses it.
_BRANCH = 2**31 - 2


def mutation_check(mechanism: Any, claim: Any = None, **options: Any) -> MutationCheck:
    """Return the results of an audit repeated at 0.5, 0.8 and 0.9 of the claimed ε.

    Parameters
    ----------
    mechanism, claim, **options
        As for `audit_privacy`. Each repetition has the whole budget, the whole significance, and its own
        seed, derived from `seed`.

    Raises
    ------
    AuditError
        As for `audit_privacy`. Also if the claim has ε = 0, because no claim is smaller.

    Notes
    -----
    **Guarantee.** Each repetition is an audit with the guarantee of `audit_privacy` for *its* claim. The
    check decides nothing about the original claim: a mechanism that meets this claim may break every smaller
    claim.

    Examples
    --------
    >>> from audit import PureDP
    >>> def noisy_sum(database, rng):
    ...     return sum(database) + rng.laplace()
    >>> check = mutation_check(noisy_sum, PureDP(1.0), pairs=[([0], [1])], budget=20_000)
    >>> check.noticed_from
    0.9
    """
    subject = adapt(mechanism, convert=options.pop("convert", None))
    claim = check_scalable(subject.claim if claim is None else claim)
    seed = positive_int(options.pop("seed", 0), what=Parameter("seed"), minimum=0, maximum=None)
    repetitions = []
    for place, factor in enumerate(FACTORS):
        [own] = np.random.SeedSequence(seed, spawn_key=(_BRANCH, place)).generate_state(1, np.uint32)
        epsilon = factor * claim.epsilon
        result = audit_privacy(subject, private(epsilon, claim.delta), seed=int(own), **options)
        repetitions.append(Repetition(factor, result))
    return MutationCheck(subject.name, claim, tuple(repetitions))


def check_scalable(claim: Any) -> PrivacyClaim:
    """Return the claim, or raise an error if its ε is 0. No claim is smaller than ε = 0.

    Examples
    --------
    >>> from audit import PureDP
    >>> check_scalable(PureDP(0.0))
    Traceback (most recent call last):
    audit.errors.InvalidValue: A mutation check scales ε down, but PureDP(epsilon=0) already claims ε = 0.
    """
    checked = check_claim(claim)
    if not checked.epsilon > 0:
        raise InvalidValue(f"A mutation check scales ε down, but {checked} already claims ε = 0.")
    return checked
