"""The result of a mutation check."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from audit.errors import CorruptFile, NoTruth
from audit.results.result import AuditResult, Evidence, Verdict
from audit.values.wording import at_most, number, short
from audit.words.text import WIDTH


@dataclass(frozen=True)
class Repetition:
    """One audit against a smaller claim.

    Examples
    --------
    >>> Repetition(0.5, result=None).factor
    0.5
    """

    factor: float
    result: Any

    def to_json(self) -> dict[str, Any]:
        """Return the saved form."""
        return {"factor": self.factor, **self.result.to_json()}

    def __str__(self) -> str:
        result = self.result
        claimed = f"{self.factor:g} × ε = {number(result.claim.epsilon)}"
        return f"{claimed:<20} {result.verdict.name:<13} {_found(result)}, seed={result.seed}"


@dataclass(frozen=True)
class MutationCheck(NoTruth):
    """The audits against smaller claims.

    Attributes
    ----------
    subject : str
        The name of the audited subject.
    claim : PrivacyClaim
        The claim whose ε was scaled.
    repetitions : tuple of Repetition
        The audits against the smaller claims, smallest first.

    Examples
    --------
    >>> MutationCheck("counter", None, ()).noticed_from is None
    True
    """

    _instead = "`check.noticed_from`"

    subject: str
    claim: Any
    repetitions: tuple[Repetition, ...]

    @property
    def noticed_from(self) -> float | None:
        """The largest factor on ε whose claim was refuted, or None."""
        return max((each.factor for each in self.repetitions if each.result.refuted), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return the check as plain JSON."""
        repetitions = [each.to_json() for each in self.repetitions]
        return {"noticed_from": self.noticed_from, "repetitions": repetitions}

    @classmethod
    def from_json(cls, subject: str, claim: Any, *, stored: Mapping[str, Any]) -> Self:
        """Return the check that `to_json` stored.

        `subject` and `claim` are those of the main result.

        Raises
        ------
        CorruptFile
            The stored check is damaged.
        """
        try:
            repetitions = tuple(
                Repetition(float(each["factor"]), AuditResult.from_json(dict(each)))
                for each in stored["repetitions"]
            )
            _ = [each.epsilon for each in (claim, *(one.result.claim for one in repetitions))]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CorruptFile("the mutation check of a saved result is damaged.") from error
        return cls(subject, claim, repetitions)

    @property
    def lines(self) -> list[str]:
        """The lines of the report below its headline."""
        return [*map(str, self.repetitions), "", *self._conclusion(), *self._terms()]

    def __str__(self) -> str:
        head = f"Mutation check of {short(self.subject, 60)}: the same audit against smaller claims"
        return "\n".join([head, "", *(f"  {line}".rstrip() for line in self.lines)])

    def _conclusion(self) -> list[str]:
        factor = self.noticed_from
        if factor is None and any(each.result.verdict is Verdict.PROVED for each in self.repetitions):
            return [
                "No smaller claim was refuted. That is right for the proved ones: the mechanism loses less",
                "than they allow. Only a claim below its true loss can show that the audit works.",
            ]
        if factor is None:
            return [
                "No smaller claim was refuted: this audit has not shown that it works. Either the mechanism",
                "loses far less than it claims, or the audit sees too little: raise the budget, or give",
                "other databases.",
            ]
        said = f"Noticed at {factor:g} × ε: this audit would have refuted a claim of"
        return [f"{said} ε = {number(factor * self.claim.epsilon)}."]

    def _terms(self) -> list[str]:
        spent = sum(each.result.significance for each in self.repetitions)
        delta = getattr(self.claim, "delta", 0.0)
        said = [f"Only ε was scaled; δ stayed at {delta:g}."] if delta else []
        return [
            *said,
            f"Each repetition spends its own significance ({spent:.3g} in all) and tests a smaller claim,",
            "which is false if the mechanism is tight. Refuting it says nothing against the audited claim.",
        ]


def _found(result: AuditResult) -> str:
    if result.samples_to_refutation is not None:
        return f"after {result.samples_to_refutation:,} of at most {result.budget:,} runs"
    if result.reason:
        return short(result.reason, WIDTH)
    if result.evidence is Evidence.EXACT:
        return "by the declared law"
    if result.detectable_epsilon is not None:
        return f"{result.samples:,} runs; catches ε ≥ {at_most(result.detectable_epsilon)} on one event"
    return f"{result.samples:,} runs"
