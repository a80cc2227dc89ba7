"""A comparison of the code with a documented formula."""

from dataclasses import dataclass

from audit.results.saved_value import SavedValue


@dataclass(frozen=True, eq=False)
class Agreement(SavedValue):
    """The value of a quantity from the code, and from a formula.

    The formula was written independently of the code.

    Attributes
    ----------
    what : str
        The quantity.
    code : float
        Its value from the code.
    text : float
        Its value from the formula.
    least, most : float
        Code and formula agree if `code` is between these bounds, inclusive.
    source : str
        Where `text` comes from.
    claimed : float, optional
        The claimed value, if the claim is about the worst case, else None. Then `text` is the worst value
        over all databases, and `code` is the value on the worst pair found.

    Examples
    --------
    >>> Agreement("scale of the noise", code=0.909, text=1.0, least=1.0, most=1.0).agrees
    False
    >>> print(Agreement("largest loss over all databases", 2.45, 2.47, 2.35, 2.47, "a climb", claimed=3.0))
    largest loss over all databases: 2.47 of the claimed 3, by a climb; 2.45 on the databases audited
    """

    what: str
    code: float
    text: float
    least: float
    most: float
    source: str = "the text's formula"
    claimed: float | None = None

    @property
    def fault(self) -> float | None:
        """The smallest relative error of the code that this comparison detects.

        It is None for a test of runs.

        Examples
        --------
        >>> round(Agreement("scale", 2.0, 2.0, 1.98, 2.02).fault, 12)
        0.01
        """
        return None if self.text == 0.0 else (self.most - self.text) / abs(self.text)

    @property
    def agrees(self) -> bool:
        """Whether code and formula agree."""
        return self.least <= self.code <= self.most

    def __str__(self) -> str:
        if self.claimed is None:
            return f"{self.what}: {self.code:.4g} by the code, {self.text:.4g} by {self.source}"
        worst = f"{self.text:.4g} of the claimed {self.claimed:.4g}, by {self.source}"
        return f"{self.what}: {worst}; {self.code:.4g} on the databases audited"
