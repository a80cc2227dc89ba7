"""The law of the output of a randomly chosen mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audit.values import canonical

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from audit.distributions import Density, Finite, Law

__all__ = ["mixture"]


def mixture(laws: Sequence[Law | None], weights: Sequence[float]) -> Law | None:
    """Return the law of an output of a randomly chosen law.

    Parameters
    ----------
    laws
        Laws that are finite, have densities, or are mixtures of both.
    weights
        The probabilities of the laws, which sum to 1; a law of weight 0 is left out.

    Returns
    -------
    Law or None
        The law of the output, or None if one of the laws is of another kind.

    Guarantee
    ---------
    The law is exact: the weighted average of probabilities, densities and tails.

    Examples
    --------
    >>> from audit.distributions import Density, Finite
    >>> mixture([Finite("ab", [0.5, 0.5]), Finite("b", [1.0])], [0.5, 0.5]).pmf("b")
    0.75
    >>> mixture([Density.uniform(0.0, 1.0), Density.uniform(0.0, 2.0)], [0.5, 0.5]).pdf(0.5)
    0.75
    """
    from audit.distributions import Density, Finite, Mixture

    atoms: list[tuple[Finite, float]] = []
    smooth: list[tuple[Density, float]] = []
    for law, weight in zip(laws, weights, strict=True):
        shift = math.log(weight) if weight else -math.inf
        if isinstance(law, Mixture):
            smooth.append((law.density, shift + law.log_weight))
            atoms += [] if law.atoms is None else [(law.atoms, shift + law.log_atoms)]
        elif isinstance(law, Density):
            smooth.append((law, shift))
        elif isinstance(law, Finite):
            atoms.append((law, shift))
        else:
            return None
    smooth = [(law, shift) for law, shift in smooth if shift > -math.inf]
    outcomes, logs = _joined(atoms)
    if not smooth:
        return Finite(outcomes, log_probabilities=logs)
    share = float(np.logaddexp.reduce([shift for _, shift in smooth]))
    density = _averaged([(law, shift - share) for law, shift in smooth])
    if not any(math.isfinite(log) for log in logs):
        return density
    return Mixture(outcomes, density, log_probabilities=logs, log_weight=share)


def _joined(parts: Sequence[tuple[Finite, float]]) -> tuple[list[Any], list[float]]:
    """Return the outcomes of several finite laws with weighted log-probabilities."""
    found: dict[Hashable, Any] = {}
    masses: dict[Hashable, float] = {}
    for law, shift in parts:
        for place, log in enumerate(law.log_probabilities.tolist()):
            outcome = law.outcome(place)
            key = canonical.key(outcome)
            found.setdefault(key, outcome)
            masses[key] = float(np.logaddexp(masses.get(key, -np.inf), log + shift))
    return list(found.values()), list(masses.values())


def _averaged(parts: Sequence[tuple[Density, float]]) -> Density:
    """Return the average of densities, each given with its log-weight."""
    from audit.distributions import Density

    if len(parts) == 1:
        return parts[0][0]
    told = tuple(parts)
    knots = sorted({end for law, _ in told for piece in law.pieces for end in (piece.left, piece.right)})
    whole = Density.general(
        _Average(told, "logpdf"), knots=knots, logcdf=_Average(told, "logcdf"), logsf=_Average(told, "logsf")
    )
    return Density(tuple(p for p in whole.pieces if math.isfinite(float(p.log_mass(p.left, p.right)))))


@dataclass(frozen=True)
class _Average:
    """A weighted average of functions on the log scale, such as `logpdf`."""

    parts: tuple[tuple[Density, float], ...]
    function: str

    def __call__(self, x: Any) -> Any:
        values = [np.asarray(getattr(law, self.function)(x)) + shift for law, shift in self.parts]
        with np.errstate(invalid="ignore"):
            return np.logaddexp.reduce(values, axis=0)
