"""What is wrong with a refuted subject, as far as runs show."""

from dataclasses import dataclass
from enum import Enum

from audit.results.saved_value import SavedValue


class FaultKind(Enum):
    """The kind of fault that breaks the claim.

    `docs/faults.md` says how each kind is found and mended.

    Examples
    --------
    >>> FaultKind("noise too small").name
    'NOISE_TOO_SMALL'
    """

    NOISE_TOO_SMALL = "noise too small"
    """With equal random draws, the outputs differ by more than the noise hides at the claimed ε and δ."""
    UNNOISED_PART = "unnoised part"
    """A part of the output has no noise and differs between the databases."""
    DATA_DEPENDENT_NOISE = "data-dependent noise"
    """The scale of the noise, or how often it is drawn, differs between the databases."""
    DATA_DEPENDENT_DOMAIN = "data-dependent domain"
    """An output (a key, a category, a length) is possible on one database and impossible on the other."""
    RAISES_OR_MISSING = "raises or missing"
    """One record decides whether there is an answer: one database gives an exception, None or NaN."""
    NOISE_REUSED = "noise reused"
    """The same random draw is added to several outputs, so it cancels in their difference."""
    FIXED_SEED = "fixed seed"
    """The draws are the same in every run."""
    BUDGET_SPENT_TWICE = "budget spent twice"
    """Several separate draws each spend the whole ε on the same record."""
    NOT_CLIPPED = "not clipped"
    """One record changes the output without bound, or escapes the clipping because it is NaN."""
    WRONG_RELATION = "wrong relation"
    """The noise covers adding or removing a record, but the claim is about replacing one."""
    LOW_BITS = "low bits"
    """The noise hides the difference, but the low bits of the floating-point output break the claim."""
    UNKNOWN = "unknown"
    """The runs do not show which fault it is."""


@dataclass(frozen=True, eq=False)
class Fault(SavedValue):
    """The fault behind a refutation.

    It explains the verdict and is not part of the evidence.

    Attributes
    ----------
    kind : FaultKind
        What is wrong.
    factor : float, optional
        By what factor the noise is too small, or None if the runs do not show it.
    words : str
        One or two sentences for a maintainer, or empty.

    Examples
    --------
    >>> Fault(FaultKind.NOISE_TOO_SMALL, 2.0, "The sensitivity is twice what the scale assumes.").factor
    2.0
    """

    kind: FaultKind
    factor: float | None = None
    words: str = ""
