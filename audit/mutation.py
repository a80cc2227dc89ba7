"""A mutation check: the same audit against smaller claims, to see whether it would notice a false one.

An audit that refutes nothing may be blind. Shrinking the claimed ε plants a fault of known size without
touching the mechanism: a mechanism that loses all that it claims breaks every smaller claim.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from audit.claims import ApproximateDP, PureDP, check_claim
from audit.errors import InvalidValue, positive_int
from audit.results import AuditResult, Evidence, Verdict
from audit.stored import CorruptFile
from audit.text import WIDTH
from audit.wording import at_most, number, short

if TYPE_CHECKING:
    from collections.abc import Mapping

    from audit.claims import PrivacyClaim

__all__ = ["FACTORS", "MutationCheck", "Repetition", "check_scalable", "mutation_check"]

#: The claimed ε is multiplied by each of these; δ stays.
FACTORS = (0.5, 0.8, 0.9)
#: Branch of the seed tree from which the repetitions take their seeds; no audit uses it.
_BRANCH = 2**31 - 2


@dataclass(frozen=True)
class Repetition:
    """One audit against a smaller claim: the factor on ε, and what came out.

    Examples
    --------
    >>> Repetition(0.5, result=None).factor
    0.5
    """

    factor: float
    result: Any

    def to_json(self) -> dict[str, Any]:
        """Return the saved form: the factor beside the document of the result."""
        return {"factor": self.factor, **self.result.to_json()}

    def __str__(self) -> str:
        result = self.result
        claimed = f"{self.factor:g} × ε = {number(result.claim.epsilon)}"
        return f"{claimed:<20} {result.verdict.name:<13} {_found(result)}, seed={result.seed}"


@dataclass(frozen=True)
class MutationCheck:
    """From where an audit would have noticed a false claim. `str(check)` says it.

    Attributes
    ----------
    subject : str
        What was audited.
    claim : PrivacyClaim
        The claim whose ε was scaled.
    repetitions : tuple of Repetition
        The audits against the smaller claims, the smallest first.

    Examples
    --------
    >>> MutationCheck("counter", PureDP(1.0), ()).noticed_from is None
    True
    """

    subject: str
    claim: Any
    repetitions: tuple[Repetition, ...]

    @property
    def noticed_from(self) -> float | None:
        """The largest factor at which the smaller claim was refuted; None where none was."""
        return max((each.factor for each in self.repetitions if each.result.refuted), default=None)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON: the largest factor noticed, and the document of every repetition."""
        repetitions = [each.to_json() for each in self.repetitions]
        return {"noticed_from": self.noticed_from, "repetitions": repetitions}

    @classmethod
    def from_json(cls, subject: str, claim: Any, *, stored: Mapping[str, Any]) -> Self:
        """Return the check that `to_json` stored, for the subject and the claim of the main result.

        Raises
        ------
        CorruptFile
            It is damaged; one line.
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

    def __str__(self) -> str:
        lines = [f"Mutation check of {short(self.subject, 60)}: the same audit against smaller claims", ""]
        lines += [f"  {each}" for each in self.repetitions]
        lines += ["", *(f"  {sentence}" for sentence in (*self._conclusion(), *self._terms()))]
        return "\n".join(lines)

    def _conclusion(self) -> list[str]:
        factor = self.noticed_from
        if factor is None and any(each.result.verdict is Verdict.PROVED for each in self.repetitions):
            return [
                "Noticed at none of them, and rightly where they are proved: the mechanism loses less than",
                "it claims. A claim below what it loses is needed to see that the audit is alive.",
            ]
        if factor is None:
            return [
                "Noticed at none of them: this audit has not shown that it is alive. Either the mechanism",
                "loses far less than it claims, or the audit sees too little: raise the budget, or give",
                "other databases.",
            ]
        said = f"Noticed from {factor:g} × on: had ε = {number(factor * self.claim.epsilon)} been claimed,"
        return [f"{said} this audit would have refuted it."]

    def _terms(self) -> list[str]:
        spent = sum(each.result.significance for each in self.repetitions)
        delta = getattr(self.claim, "delta", 0.0)
        said = [f"Only ε was scaled; δ = {delta:g} stayed."] if delta else []
        return [
            *said,
            f"Each repetition spends its own significance ({spent:.3g} in all) and is about another claim,",
            "a false one if the mechanism is tight: what it refutes says nothing against the audited claim.",
        ]


def mutation_check(mechanism: Any, claim: Any = None, **options: Any) -> MutationCheck:
    """Repeat an audit at 0.5, 0.8 and 0.9 of the claimed ε and say from where it would have noticed.

    Parameters
    ----------
    mechanism, claim, **options
        As for `audit_privacy`. Each repetition has the whole budget, its own significance and a seed of its
        own, derived from `seed`.

    Raises
    ------
    AuditError
        As `audit_privacy`; also a claim with ε = 0, which has no smaller one.

    Notes
    -----
    **Guarantee.** Each repetition is an audit with the guarantee of `audit_privacy` for *its* claim. About
    the audited claim nothing is decided here: a mechanism that satisfies it may break every smaller one.

    Examples
    --------
    >>> def noisy_sum(database, rng):
    ...     return sum(database) + rng.laplace()
    >>> check = mutation_check(noisy_sum, PureDP(1.0), pairs=[([0], [1])], budget=20_000)
    >>> check.noticed_from
    0.8
    """
    from audit.privacy import audit_privacy  # the engine: a page that tells of a check needs none
    from audit.subjects import adapt

    subject = adapt(mechanism, convert=options.pop("convert", None))
    claim = check_scalable(subject.claim if claim is None else claim)
    seed = positive_int(options.pop("seed", 0), what="The `seed`", minimum=0)
    repetitions = []
    for place, factor in enumerate(FACTORS):
        own = _derived(seed, place)
        result = audit_privacy(subject, _scaled(claim, factor), seed=own, **options)
        repetitions.append(Repetition(factor, result))
    return MutationCheck(subject.name, claim, tuple(repetitions))


def check_scalable(claim: Any) -> PrivacyClaim:
    """Return the claim, or refuse one that has no smaller ε to be audited at.

    Examples
    --------
    >>> check_scalable(PureDP(0.0))
    Traceback (most recent call last):
    audit.errors.InvalidValue: A mutation check scales ε down, and PureDP(epsilon=0) claims ε = 0 already.
    """
    checked = check_claim(claim)
    if not checked.epsilon > 0:
        raise InvalidValue(f"A mutation check scales ε down, and {checked} claims ε = 0 already.")
    return checked


def _derived(seed: int, place: int) -> int:
    """Return the seed of a repetition, from a place of the seed tree that no audit uses."""
    state = np.random.SeedSequence(seed, spawn_key=(_BRANCH, place)).generate_state(1, np.uint32)
    return int(state[0])


def _scaled(claim: PrivacyClaim, factor: float) -> PrivacyClaim:
    epsilon = factor * claim.epsilon
    return ApproximateDP(epsilon, claim.delta) if claim.delta else PureDP(epsilon)


def _found(result: AuditResult) -> str:
    if result.samples_to_refutation is not None:
        return f"after {result.samples_to_refutation:,} of at most {result.budget:,} runs"
    if result.reason:
        return short(result.reason, WIDTH)
    if result.evidence is Evidence.EXACT:
        return "by the declared law"
    if result.detectable_epsilon is not None:
        return f"{result.samples:,} runs; could have found a true ε of {at_most(result.detectable_epsilon)}"
    return f"{result.samples:,} runs"
