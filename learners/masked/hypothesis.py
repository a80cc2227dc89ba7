"""Hypotheses about MASKED-PARITY and their exact errors on uniform examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from learners.concepts.bits import bits_of

__all__ = ["MaskedHypothesis", "masked_error"]


@dataclass(frozen=True)
class MaskedHypothesis:
    """A hypothesis with one word for b = 0 and one for b = 1.

    The label is (−1)^(⟨word, x⟩ + mask) if b = 0, and (−1)^{shown_i} if b = 1. A concept c_{r,a} is the case
    word = shown = r, mask = a.

    Parameters
    ----------
    dimension
        d.
    shown
        The word for b = 1, as a number with the first bit heaviest.
    word, mask
        The word and the bit for b = 0.

    Examples
    --------
    >>> MaskedHypothesis(2, shown=3, word=0, mask=1).error(((1, 1), 1))
    0.25
    """

    dimension: int
    shown: int
    word: int
    mask: int

    @classmethod
    def of(cls, concept: Any) -> MaskedHypothesis:
        """Return a concept ((r_1, …, r_d), a) as a hypothesis."""
        bits, mask = concept
        number = int("".join(str(int(bit)) for bit in bits), 2)
        return cls(len(bits), shown=number, word=number, mask=int(mask))

    @property
    def concept(self) -> tuple[tuple[int, ...], int]:
        """The concept that agrees with this hypothesis where b = 0."""
        return bits_of(self.word, self.dimension), self.mask

    def error(self, target: Any) -> float:
        """Return the error on a concept for uniform examples.

        Guarantee
        ---------
        On the half with b = 1 the error is the share of wrong bits. On the half with b = 0, two different
        parities disagree on half of the words x. A parity and its negation disagree on all.
        """
        other = MaskedHypothesis.of(target)
        wrong = (self.shown ^ other.shown).bit_count() / self.dimension
        masked = 0.5 if self.word != other.word else float(self.mask != other.mask)
        return (wrong + masked) / 2.0


def masked_error(output: Any, target: Any) -> float:
    """Return the error of a concept or a `MaskedHypothesis`, or 1 for other outputs.

    Examples
    --------
    >>> masked_error(((1, 1), 0), ((1, 1), 1)), masked_error("insufficient samples", ((1, 1), 1))
    (0.5, 1.0)
    """
    dimension = len(target[0])
    if isinstance(output, MaskedHypothesis):
        return output.error(target) if output.dimension == dimension else 1.0
    return MaskedHypothesis.of(output).error(target) if _is_concept(output, dimension) else 1.0


def _is_concept(value: Any, dimension: int) -> bool:
    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], tuple):
        return False
    bits, mask = value
    return len(bits) == dimension and all(_is_bit(bit) for bit in (*bits, mask))


def _is_bit(value: Any) -> bool:
    return isinstance(value, int | np.integer) and value in (0, 1)
