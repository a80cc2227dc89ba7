"""A digest of the code behind a curve, so that a changed learner restarts its cells."""

from audit.sampling.remake.digest import digest_of
from audit.studies.study import Curve

_FUNCTIONS = ("learner", "problems", "bound", "failure", "family", "least", "start")


def code_of(curve: Curve) -> str:
    """Return a digest of a curve's code and of the values its functions hold: 16 hexadecimal digits.

    Examples
    --------
    >>> of = lambda rate: code_of(Curve("all", lambda value, m: rate, lambda value, m: []))
    >>> of(1) == of(1), of(1) == of(2)
    (True, False)
    """
    return digest_of(*(getattr(curve, name) for name in _FUNCTIONS), engine="audit.studies.run")
