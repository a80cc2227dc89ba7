"""What is wrong with a refuted subject, as far as its runs show: a kind, and words for a maintainer."""

from dataclasses import dataclass
from enum import Enum

from audit.results.saved_value import SavedValue


class FaultKind(Enum):
    """The kind of fault that breaks the claim; `docs/faults.md` says how each is found and what to do.

    Examples
    --------
    >>> FaultKind("noise too small").name
    'NOISE_TOO_SMALL'
    """

    NOISE_TOO_SMALL = "noise too small"
    """On the same random draws the output moves by more than its noise covers at the claimed ε and δ."""
    UNNOISED_PART = "unnoised part"
    """A part of the output differs between the databases, and no random draw changes it."""
    DATA_DEPENDENT_NOISE = "data-dependent noise"
    """The scale of the noise, or how often it is drawn, differs between the databases."""
    DATA_DEPENDENT_DOMAIN = "data-dependent domain"
    """An output (a key, a category, a length) is possible on one database and impossible on the other."""
    RAISES_OR_MISSING = "raises or missing"
    """One record decides whether there is an answer: one database gives an exception, None or NaN."""
    NOISE_REUSED = "noise reused"
    """One random draw is added to several outputs, so it cancels in their difference."""
    FIXED_SEED = "fixed seed"
    """The draws are the same in every run."""
    BUDGET_SPENT_TWICE = "budget spent twice"
    """Several separate draws each spend the whole ε on the same record."""
    NOT_CLIPPED = "not clipped"
    """One record moves the output beyond any bound, or passes the clipping because it is NaN."""
    WRONG_RELATION = "wrong relation"
    """The noise covers adding or removing a record, but the claim is about replacing one."""
    LOW_BITS = "low bits"
    """The noise covers the move, but the low bits of the floating-point output break the claim."""
    UNKNOWN = "unknown"
    """The runs do not show which fault it is."""


@dataclass(frozen=True, eq=False)
class Fault(SavedValue):
    """The fault behind a refutation. It explains the verdict and is not part of its evidence.

    Attributes
    ----------
    kind : FaultKind
        What is wrong.
    factor : float, optional
        How many times too small the noise is; None if that cannot be shown.
    words : str
        One or two sentences for a maintainer; empty if there is nothing to say.

    Examples
    --------
    >>> Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "The sensitivity is twice what the scale assumes.").factor
    2.0
    """

    kind: FaultKind
    factor: float | None = None
    words: str = ""
