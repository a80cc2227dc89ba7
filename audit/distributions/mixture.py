"""Laws with atoms and a density.

Mechanisms that clamp, refuse, or sometimes answer exactly have such laws.
"""

import math
from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np

from audit.distributions.density import Density
from audit.distributions.finite import Finite
from audit.distributions.law import (
    OUTSIDE,
    Floats,
    Ints,
    Ordered,
    Outputs,
    Partition,
    log_add,
    log_complement,
    refuse_unless_whole,
    scalar_or_array,
)
from audit.distributions.rounding import Given, moved_logs, read, rounding
from audit.errors import InvalidValue


class Mixture(Ordered):
    """A law with atoms, and a density for the rest of the mass. Atoms may be any Python values.

    Parameters
    ----------
    atoms
        Distinct outcomes, each of positive probability.
    density
        The law of the output given that it is not an atom.
    probabilities, log_probabilities
        The probabilities of the atoms, or their logarithms. Give one of the two. The density has the
        remaining probability.
    log_weight
        The logarithm of the density's probability. By default it is computed from the atoms' probabilities.

    Examples
    --------
    >>> law = Mixture(["refused"], Density.uniform(0.0, 1.0), probabilities=[0.25])
    >>> law.pmf("refused"), law.pdf(0.5)
    (0.25, 0.75)
    """

    def __init__(
        self,
        atoms: Any,
        density: Density,
        *,
        probabilities: Any = None,
        log_probabilities: Any = None,
        log_weight: float | None = None,
    ) -> None:
        given = read(probabilities, log_probabilities, owner="Mixture", whole=False)
        logs = given.logs
        atom_mass = float(log_add(logs))
        left = _left(given, atom_mass) if log_weight is None else (float(log_weight), 0.0)
        self.log_weight, self.rounding = left
        total = math.exp(atom_mass) + math.exp(self.log_weight)
        refuse_unless_whole(total, what="The atoms and the density of `Mixture`")
        possible = len(logs) and math.isfinite(atom_mass)
        self.atoms = Finite(list(atoms), log_probabilities=logs - atom_mass) if possible else None
        if self.atoms is not None and given.rounding:
            self.atoms.rounding = given.rounding / math.exp(atom_mass)
        self.log_atoms = atom_mass
        self.density = density

    @classmethod
    def from_clamped(cls, density: Density, low: float, high: float) -> "Mixture":
        """Return the law of an output with this density, clamped to low..high.

        The tails become atoms.

        Examples
        --------
        >>> clamped = Mixture.from_clamped(Density.laplace(0.0, 1.0), -1.0, 1.0)
        >>> round(clamped.pmf(1.0), 9) == round(math.exp(-1.0) / 2, 9)
        True
        """
        if not low < high:
            raise InvalidValue(f"`Mixture.from_clamped` needs low < high; got {low} and {high}.")
        logs = [float(density.logcdf(low)), float(density.logsf(high))]
        inside = float(density.log_mass(low, high))
        between = Density.uniform(low, high) if math.isinf(inside) else density.restricted(low, high)
        return cls([low, high], between, log_probabilities=logs, log_weight=inside)

    def support(self) -> tuple[Any, ...]:
        """Return the atoms, then the ends of the density's support."""
        atoms = () if self.atoms is None else tuple(self.atoms.support())
        return (*atoms, self.density.support())

    def pmf(self, outcome: Any) -> float:
        """Return the probability of one outcome, which is 0 unless it is an atom."""
        return math.exp(self.logpmf(outcome))

    def logpmf(self, outcome: Any) -> float:
        """Return the log-probability of one outcome, which is −∞ unless it is an atom."""
        return -math.inf if self.atoms is None else self.log_atoms + self.atoms.logpmf(outcome)

    def pdf(self, x: Any) -> Any:
        """Return the density at x, times the probability of no atom."""
        return scalar_or_array(np.exp(self.log_weight + self.density.log_at(x)), x)

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of `pdf`."""
        return scalar_or_array(self.log_weight + self.density.log_at(x), x)

    def sample(self, size: int, rng: np.random.Generator) -> Outputs:
        """Return `size` independent outputs. They are an array if the atoms are numbers, else a list."""
        smooth: Floats = self.density.sample(size, rng)
        if self.atoms is None:
            return smooth
        chosen = np.flatnonzero(rng.random(size) >= math.exp(self.log_weight))
        atoms = self.atoms.sample(len(chosen), rng)
        if isinstance(atoms, np.ndarray) and atoms.dtype.kind in "iuf":
            smooth[chosen] = atoms
            return smooth
        outputs: list[Any] = smooth.tolist()
        for place, atom in zip(chosen.tolist(), atoms, strict=True):
            outputs[place] = atom
        return outputs

    def bins(self, k: int) -> Partition:
        """Return at most k cells of the atoms, and about k cells of the density."""
        inner = self.density.bins(k)
        smooth = self.log_weight + inner.log_probabilities
        if self.atoms is None:
            return Partition(smooth, inner.locate)
        outer = self.atoms.bins(k)
        count = len(outer.log_probabilities)

        def locate(outputs: Outputs) -> Ints:
            atom, cell = outer.locate(outputs), inner.locate(outputs)
            elsewhere = np.where(cell >= 0, count + cell, OUTSIDE)
            return np.where(atom >= 0, atom, elsewhere)

        return Partition(np.concatenate([self.log_atoms + outer.log_probabilities, smooth]), locate)

    def extreme(self, sign: int) -> "Mixture":
        """Return the law with probabilities at one end of their rounding error.

        For −1 it is the lower end, for +1 the upper end. The probabilities are those of the atoms and of the
        density.
        """
        moved = copy(self)
        moved.atoms = None if self.atoms is None else self.atoms.extreme(sign)
        moved.log_weight = float(moved_logs(self.log_weight, sign * self.rounding))
        return moved

    def _tails(self, x: Any) -> tuple[Any, Any]:
        tails = self.log_weight + self.density.logcdf(x), self.log_weight + self.density.logsf(x)
        if self.atoms is None:
            return tails
        atoms = self.log_atoms + self.atoms.logcdf(x), self.log_atoms + self.atoms.logsf(x)
        return np.logaddexp(atoms[0], tails[0]), np.logaddexp(atoms[1], tails[1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mixture):
            return NotImplemented
        mine = (self.atoms, self.log_atoms, self.density, self.log_weight)
        return mine == (other.atoms, other.log_atoms, other.density, other.log_weight)

    def __hash__(self) -> int:
        return hash((self.log_atoms, self.log_weight, self.density))

    def __repr__(self) -> str:
        return f"Mixture({self.atoms!r}, {self.density!r})"


def _left(given: Given, log_atoms: float) -> tuple[float, float]:
    """Return the log-probability that the atoms leave, and its rounding error."""
    if given.fractions is None:
        return float(log_complement(log_atoms)), rounding(given.logs.size)
    left = max(1 - sum(given.fractions, Fraction()), Fraction())
    return float(read([left], None, owner="Mixture", whole=False).logs[0]), 0.0
