"""The largest p that a claim allows, as a number and as a formula."""

import math

from audit.claims import at_distance
from audit.results.result import AuditResult, SavedResult, Witness


def claimed(result: AuditResult) -> tuple[float | None, float]:
    """Return the claim's ε and δ. The ε is None if the claim has none."""
    epsilon, delta = getattr(result.claim, "epsilon", None), getattr(result.claim, "delta", 0.0)
    known = isinstance(epsilon, (int, float)) and isinstance(delta, (int, float))
    return (float(epsilon), float(delta)) if known else (None, 0.0)  # type: ignore[arg-type]


def accuracy(result: SavedResult) -> tuple[float, float] | None:
    """Return the α and β of a utility claim; None if they are unknown."""
    alpha, beta = getattr(result.claim, "alpha", None), getattr(result.claim, "beta", None)
    known = isinstance(alpha, (int, float)) and isinstance(beta, (int, float))
    return (float(alpha), float(beta)) if known else None  # type: ignore[arg-type]


def allowed(result: AuditResult, witness: Witness, *, q: float | None = None) -> float | None:
    """Return the largest p that the claim allows for this q.

    This is e^ε·q + δ. The ε and δ are those that the claim implies at the distance between the witness's
    databases. If `q` is None, the witness's q is used. The result is None if ε or δ is unknown.
    """
    epsilon, delta = claimed(result)
    if epsilon is None:
        return None
    if witness.distance > 1:
        epsilon, delta = at_distance(epsilon, delta, witness.distance)
    other = witness.q if q is None else q
    return math.inf if epsilon > 700 else math.exp(epsilon) * other + delta


def allowance(result: AuditResult, witness: Witness) -> str:
    """Return the formula of the largest p that the claim allows.

    Examples
    --------
    >>> from audit.claims import PureDP
    >>> from audit.results.result import Evidence, Verdict
    >>> result = AuditResult("m", PureDP(0.1), Verdict.REFUTED, Evidence.STATISTICAL)
    >>> allowance(result, Witness([0], [1], None, 0.5, 0.1))
    'e^ε·q'
    >>> allowance(result, Witness([0] * 20, [1] * 20, None, 0.9, 0.1, distance=20))
    'e^(20ε)·q'
    """
    steps = witness.distance
    epsilon, delta = claimed(result)
    if steps == 1:
        return "e^ε·q + δ" if delta else "e^ε·q"
    if not delta:
        return f"e^({steps}ε)·q"
    return f"e^({steps}ε)·q + δ·(e^({steps}ε) − 1)/(e^ε − 1)" if epsilon else f"q + {steps}δ"


def distance_words(result: AuditResult, witness: Witness) -> str:
    """Return a text on how far apart the databases are. The text is empty for neighbours."""
    if witness.distance == 1:
        return ""
    unit = "records" if result.relation in {"replace-one", "add-or-remove-one"} else "neighbour steps"
    return f"They are {witness.distance:,} {unit} apart."
