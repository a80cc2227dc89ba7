"""One comparison of a subject with the formulas of its text."""

from dataclasses import dataclass

from audit.results.saved_value import SavedValue


@dataclass(frozen=True, eq=False)
class Agreement(SavedValue):
    """What the code makes of a quantity, and what a formula that is written apart from it makes of it.

    Attributes
    ----------
    what : str
        The quantity.
    code : float
        By the code.
    text : float
        By the formula.
    least, most : float
        Where `code` has to lie.

    Examples
    --------
    >>> Agreement("scale of the noise", code=0.909, text=1.0, least=1.0, most=1.0).agrees
    False
    """

    what: str
    code: float
    text: float
    least: float
    most: float

    @property
    def agrees(self) -> bool:
        """Whether code and formula agree."""
        return self.least <= self.code <= self.most

    def __str__(self) -> str:
        return f"{self.what}: {self.code:.4g} by the code, {self.text:.4g} by the text's formula"
