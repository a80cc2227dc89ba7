"""One comparison of a subject with the formulas of its text."""

from dataclasses import dataclass

from audit.results.saved_value import SavedValue


@dataclass(frozen=True, eq=False)
class Agreement(SavedValue):
    """A quantity by the code and by a formula that was written independently of the code.

    Attributes
    ----------
    what : str
        The quantity.
    code : float
        Its value by the code.
    text : float
        Its value by the formula.
    least, most : float
        The bounds of `code`, inclusive.

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
