"""Systems of linear equations over GF(2), with integers as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.parity.examples import BitExamples

__all__ = ["WORD", "BitSystem", "Space", "as_numbers", "as_tuple"]

WORD = 64
"""With at most this many equations, and fewer variables, many systems are solved at once in machine words."""


@dataclass(frozen=True)
class Space:
    """The solutions of a system.

    They are the origin plus any sum of directions.

    Examples
    --------
    >>> Space(0b01, (0, 0b10)).member(0b10), Space(0b01, (0, 0b10)).member(0b00)
    (3, 1)
    """

    origin: int
    directions: tuple[int, ...]

    def member(self, coins: int) -> int:
        """Return the origin plus the directions that `coins` chooses."""
        solution = self.origin
        for place, direction in enumerate(self.directions):
            if coins >> place & 1:
                solution ^= direction
        return solution


@dataclass(frozen=True)
class BitSystem:
    """The equations ⟨x_i, r⟩ = y_i.

    Parameters
    ----------
    count
        How many equations.
    columns
        One number for each variable. Its bit i belongs to x_i.
    labels
        A number whose bit i is y_i.

    Examples
    --------
    >>> system = BitSystem(2, (0b11, 0b10), 0b01)  # r_0 = 1, r_0 + r_1 = 0
    >>> system.solve(0b11).origin == 0b11, system.solve(0b01).directions, system.mistakes(0b01)
    (True, (0, 2), 1)
    """

    count: int
    columns: tuple[int, ...]
    labels: int

    @classmethod
    def of(cls, examples: BitExamples) -> BitSystem:
        """Return the equations of some examples."""
        columns = as_numbers(examples.points.T)
        return cls(len(examples), tuple(columns), as_numbers(examples.labels[None, :])[0])

    def solve(self, chosen: int) -> Space | None:
        """Return the solutions of the chosen equations, or None.

        Bit i of `chosen` stands for equation i.
        """
        columns = [column & chosen for column in self.columns]
        directions = [1 << place for place in range(len(columns))]
        rest, origin = self.labels & chosen, 0
        for j, column in enumerate(columns):
            if not column:
                continue
            lowest = column & -column  # the equation that removes direction j
            for k in range(j + 1, len(columns)):
                if columns[k] & lowest:
                    columns[k] ^= column
                    directions[k] ^= directions[j]
            if rest & lowest:
                rest ^= column
                origin ^= directions[j]
            directions[j] = 0
        return None if rest else Space(origin, tuple(directions))

    def solve_words(
        self, chosen: NDArray[np.uint64], coins: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return a solution for each choice of equations, if there is one.

        Parameters
        ----------
        chosen
            Numbers as `solve` takes them, shape (systems,).
        coins
            What `Space.member` takes, bit by bit, shape (systems, variables).

        Returns
        -------
        solutions, solvable
            Arrays of shape (systems,). A solution has no meaning where `solvable` is false.
        """
        columns = [np.uint64(column) & chosen for column in self.columns]
        rest, solutions = np.uint64(self.labels) & chosen, np.zeros_like(chosen)
        directions = [np.full_like(chosen, 1 << place) for place in range(len(columns))]
        for j, column in enumerate(columns):
            lowest = column & (~column + np.uint64(1))
            for k in range(j + 1, len(columns)):
                hit = (columns[k] & lowest) != 0
                columns[k] ^= np.where(hit, column, 0).astype(np.uint64)
                directions[k] ^= np.where(hit, directions[j], 0).astype(np.uint64)
            hit = (rest & lowest) != 0
            rest ^= np.where(hit, column, 0).astype(np.uint64)
            taken = hit | ((column == 0) & coins[:, j])
            solutions ^= np.where(taken, directions[j], 0).astype(np.uint64)
        return solutions, rest == 0

    def mistakes(self, solution: int) -> int:
        """Return how many equations a candidate breaks."""
        wrong = self.labels
        for place, column in enumerate(self.columns):
            if solution >> place & 1:
                wrong ^= column
        return wrong.bit_count()


def as_numbers(rows: NDArray[np.bool_]) -> list[int]:
    """Return each row of booleans as a number, lowest bit first.

    Examples
    --------
    >>> as_numbers(np.array([[True, False], [True, True]]))
    [1, 3]
    """
    packed = np.packbits(np.ascontiguousarray(rows), axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def as_tuple(number: int, length: int) -> tuple[int, ...]:
    """Return the bits of a number, lowest bit first.

    Examples
    --------
    >>> as_tuple(6, 4)
    (0, 1, 1, 0)
    """
    return tuple(number >> place & 1 for place in range(length))
