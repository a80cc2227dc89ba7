"""Assert a claim on one pair of databases by exact laws.

Nothing is drawn, so a `@given` test may call `assert_private`.
"""

import math
from typing import Any

import scipy.optimize  # loaded here, or the first example of a `@given` test would miss its deadline
import scipy.special  # noqa: F401

from audit.claims import check_claim
from audit.errors import InvalidValue, Parameter, SubjectError
from audit.laws.declared import Laws
from audit.laws.exact import compare_pairs
from audit.relations import Relation, check_pair, check_relation
from audit.subject.subject import adapt
from audit.subject.surroundings import own_arithmetic
from audit.values.brief import show
from audit.values.wording import apart


@own_arithmetic()
def assert_private(subject: Any, pair: tuple[Any, Any], claim: Any = None) -> None:
    """Raise an AssertionError if a declared law breaks a claim on a pair.

    The laws are compared in both directions, for all events at once. **Guarantee.** The error is raised only
    if the laws exceed the claim by more than rounding. Unlike `audit_privacy`, this function does not compare
    the laws with runs of the code.

    Parameters
    ----------
    subject
        An object with `distribution(database)`, which returns a law of `audit.distributions`.
    pair
        The databases (left, right), as `audit.strategies.neighbours` gives them.
    claim
        The claim about this pair. If the databases are k steps apart, give `claim.group(k)`. The default is
        the subject's own claim, which is about neighbours. A pair of other databases is then refused. The
        relation is the subject's, or `Relation.REPLACE_ONE` if it declares none.

    Raises
    ------
    AssertionError
        The claim fails. The message names the event, its two probabilities and the most that is allowed.
    SubjectError
        The subject declares no law, or its `distribution` fails.
    InvalidValue, InvalidKind
        There is no claim, or `pair` is not a pair of neighbours.

    Examples
    --------
    >>> from audit import PureDP
    >>> from audit.distributions import Finite
    >>> class Response:
    ...     claim = PureDP(epsilon=1.0)
    ...     def __call__(self, database, rng):
    ...         return database[0] if rng.random() < 0.75 else 1 - database[0]
    ...     def distribution(self, database):
    ...         return Finite([database[0], 1 - database[0]], [0.75, 0.25])
    >>> assert_private(Response(), ([0], [1]), PureDP(epsilon=1.1))
    >>> assert_private(Response(), ([0], [1]))
    Traceback (most recent call last):
    AssertionError: Response breaks PureDP(epsilon=1): the event "the output is 0" has probability 0.75 on [0]
    and 0.25 on [1]; the claim allows at most e^ε·q = 0.68.
    """
    __tracebackhide__ = True
    told = adapt(subject)
    if told.declared_law is None:
        raise SubjectError(
            f"{told.name} declares no law: `assert_private` needs `distribution(database)`. Without it, use "
            "`audit_privacy` outside `@given`."
        )
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise Parameter("pair").wrong(f"must be two databases (left, right); got {show(pair)}.")
    left, right = pair
    if claim is None:
        if told.claim is None:
            example = Parameter("claim", example="PureDP(epsilon=1.0)")
            raise InvalidValue(f"{told.name} declares no claim; give one, such as ", example, ".")
        check_pair(check_relation(told.relation or Relation.REPLACE_ONE), left, right)
    claim = check_claim(told.claim if claim is None else claim)
    finding = compare_pairs([(left, right)], Laws(told).first, claim)
    if not finding.over:
        return
    worst = finding.by_delta if claim.delta > 0 else finding.by_epsilon
    on_p, on_q = (left, right) if worst.direction == "left" else (right, left)
    allowed = math.exp(min(claim.epsilon, 700.0)) * worst.q + claim.delta
    p, most = apart(worst.p, allowed)
    formula = "e^ε·q + δ" if claim.delta else "e^ε·q"
    raise AssertionError(
        f'{told.name} breaks {claim}: the event "{worst.event.words()}" has probability {p} on {show(on_p)} '
        f"and {worst.q:.3g} on {show(on_q)}; the claim allows at most {formula} = {most}."
    )
