"""Audit every example of the installed libraries, and write a table.

Each row has the command that audits its example.

    python examples/libraries.py                        # every example, to the terminal
    python examples/libraries.py --only median --table table.md --keep results/

A missing library is named and skipped. The exit code is 1 if a verdict differs from the expected one.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit import AuditResult

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
MODULES = {
    "diffprivlib_audit": "diffprivlib",
    "diffprivlib_faults": "diffprivlib",
    "opendp_audit": "opendp",
}
HEADER = (
    "library, mechanism",
    "claim",
    "hardest pair",
    "verdict",
    "ε at least",
    "detectable ε",
    "runs",
    "seconds",
    "command",
)
MARKS = ("<!-- outcomes -->", "<!-- end of outcomes -->")
WIDEST = 48  # the most characters of a database that the table shows


@dataclass(frozen=True)
class Row:
    """One row of the table: the audit, its outcome, and its time."""

    library: str
    name: str
    command: str
    subject: Any
    seconds: float
    result: AuditResult | None
    said: str = ""

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that the example declares as `expected`."""
        return self.result is not None and self.result.verdict.value == self.subject.expected

    def cells(self) -> tuple[str, ...]:
        """Return the cells of the row."""
        first = f"{self.library}, `{self.name}`"
        command = f"`{self.command}`"
        if self.result is None:
            return (first, str(self.subject.claim), "", f"no result: {self.said}", "", "", "", "", command)
        result = self.result
        return (
            first,
            str(result.claim),
            _pair(self),
            result.verdict.name.replace("_", " "),
            f"{result.epsilon_lower:.3g}",
            "" if result.detectable_epsilon is None else f"{result.detectable_epsilon:.3g}",
            f"{result.samples:,}",
            f"{self.seconds:.0f}",
            command,
        )


def examples(only: str) -> Iterator[tuple[str, str, Any]]:
    """Yield the file, name and subject of every example whose library is installed."""
    for module_name, library in MODULES.items():
        try:
            module = importlib.import_module(module_name)
        except ImportError as error:
            print(f"left out: {module_name} ({library}: {error})", file=sys.stderr)
            continue
        for name, subject in list(vars(module).items()):
            declared = hasattr(subject, "suggested_pairs") and not isinstance(subject, type)
            if declared and only in name and not name.startswith("_"):
                yield module_name, name, subject


def audit(module: str, name: str, subject: Any, keep: Path | None) -> Row:
    """Run the command of one example."""
    library = MODULES[module]
    arguments = ["run", f"examples/{module}.py:{name}", "--budget", str(subject.budget)]
    if subject.expected == "refuted":
        arguments += ["--until", "budget"]  # use the whole budget, to measure how large the loss is
    program = Path(sys.executable).with_name("dp-audit")
    start = time.perf_counter()
    done = subprocess.run(  # noqa: S603 - our own program, arguments from this folder
        [program, *arguments, "--json", "-"], cwd=HERE.parent, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - start
    result = None
    with contextlib.suppress(ValueError):  # the output holds an error message instead
        result = AuditResult.from_json(json.loads(done.stdout))
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / f"{module}.{name}.json").write_text(done.stdout, encoding="utf-8")
    said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    named = f"{library} {metadata.version(library)}"
    return Row(named, name, " ".join(["dp-audit", *arguments]), subject, seconds, result, said)


def _pair(row: Row) -> str:
    witness = row.result.witness if row.result is not None else None
    pairs = row.subject.suggested_pairs()
    left, right = (witness.left, witness.right) if witness is not None else pairs[0]
    more = f" and {len(pairs) - 1} more" if witness is None and len(pairs) > 1 else ""
    return f"`{_short(left)}` / `{_short(right)}`{more}"


def _short(database: Any) -> str:
    text = repr(list(database))
    if len(text) <= WIDEST:
        return text
    return f"{text[: WIDEST // 2]} … {text[-WIDEST // 2 :]}"


def markdown(rows: list[Row]) -> str:
    """Return the table of all rows.

    Examples
    --------
    >>> print(markdown([]).splitlines()[0][:28])
    | library, mechanism | claim
    """
    lines = ["| " + " | ".join(HEADER) + " |", "|" + " --- |" * len(HEADER)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row.cells()) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def write_table(rows: list[Row], path: Path) -> None:
    """Write the table to a file, or between the two markers of a page that has them."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = text.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    table = markdown(rows)
    if begin and end:
        table = f"{before}{begin}\n\n{table}\n{end}{after}"
    path.write_text(table, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the audits and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="examples whose name contains it")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table there, in Markdown")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the results there, as JSON")
    given = parser.parse_args(arguments)
    rows = []
    for module, name, subject in examples(given.only):
        rows.append(audit(module, name, subject, given.keep))
        print(" · ".join(rows[-1].cells()[:-1]), flush=True)
    if given.table is not None:
        write_table(rows, given.table)
    surprises = [row.name for row in rows if not row.as_expected]
    print(f"{len(rows)} audits; not as expected: {', '.join(surprises) or 'none'}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
