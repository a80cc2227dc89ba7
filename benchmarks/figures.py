"""Plain tables of figures beside their targets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One measured figure, its target in words, and whether the target is met.

    Without a target the latter is None.
    """

    what: str
    value: str
    target: str = ""
    met: bool | None = None
    note: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        verdict = "" if self.met is None else ("met" if self.met else "MISSED")
        return (self.what, self.value, self.target, verdict, self.note)


def show(title: str, figures: list[Figure]) -> None:
    """Print a table. Each column is as wide as its longest cell."""
    rows = [("", "measured", "target", "", ""), *(figure.cells for figure in figures)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    print(f"\n{title}\n")
    for k, row in enumerate(rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if k == 0:
            print("  ".join("-" * width for width in widths).rstrip())
