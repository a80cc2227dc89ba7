"""A digest of all that a curve is computed with, so that a changed learner begins its cells anew."""

from audit.sampling.remake.digest import digest_of
from audit.studies.study import Curve

_FUNCTIONS = ("learner", "problems", "bound", "failure", "family", "least", "start")


def code_of(curve: Curve) -> str:
    """Return a digest of the code of a curve and of what its functions hold: 16 hexadecimal digits.

    Examples
    --------
    >>> of = lambda rate: code_of(Curve("all", lambda value, m: rate, lambda value, m: []))
    >>> of(1) == of(1), of(1) == of(2)
    (True, False)
    """
    return digest_of(*(getattr(curve, name) for name in _FUNCTIONS), engine="audit.studies.run")
