"""Audits of correct mechanisms, of ones that reuse noise, and of leaks.

Every audit searches for its databases. The rules by group:

- Correct mechanisms meet their claim with equality or nearly so. At most 14 of 100 audits at significance
  0.05 may refute one. The mean of min(wealth at the stop, 20) may be at most 1 plus three standard errors.
- Mechanisms that reuse noise must never be refuted.
- For a leak, the wealth must cross the limit in half of the audits, and 95 % of these audits must refute.

Each audit imports the module anew, in a new working directory, HOME and TMPDIR. Audits in the file of JSON
lines are not repeated.

Usage: python benchmarks/panel.py [--mechanism NAME ...] [--audits N] [--runs N] [--significance P]
                                  [--jobs N] [--lines FILE]
       NAME may be a pattern such as "in_*", or a group: correct, kept, leaks.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import sys
import tempfile
import time
import zlib
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from unittest import mock

from figures import Figure, show
from joblib import Parallel, delayed
from panel_entries import PANEL
from scipy.stats import binom

from audit import audit_privacy
from audit.errors import AuditError

#: The chance of accusing a correct mechanism whose audits refute as often as the significance allows. At
#: significance 0.05 this chance allows 14 refutations in 100 audits.
ALARM_LEVEL = 2e-4
CAP = 20.0
#: For a leak, the wealth must cross its limit in at least the share `CROSSED` of the audits. Of these, at
#: least the share `CONFIRMED` must refute.
CONFIRMED, CROSSED = 0.95, 0.5
Row = dict[str, Any]


def audited(name: str, seed: int, *, runs: int, significance: float) -> Row:
    """Audit one mechanism of the panel from its initial state.

    Return the row for the table.
    """
    entry, start = PANEL[name], time.perf_counter()
    own = zlib.crc32(name.encode()) + seed  # otherwise mechanisms with the same law would get the same draws
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, HOME=folder, TMPDIR=folder),
    ):
        found = _verdict(entry, budget=runs, significance=significance, seed=own)
    terms = {"mechanism": name, "seed": seed, "runs": runs, "significance": significance}
    return {**terms, **found, "seconds": round(time.perf_counter() - start, 3)}


def _verdict(entry: Any, **terms: Any) -> Row:
    try:
        result = audit_privacy(entry.start(), entry.claim, **entry.where, **terms)
    except AuditError as error:
        return {"verdict": "REFUSED", "log_wealth": 0.0, "crossed": False, "reason": str(error)}
    return {
        "verdict": result.verdict.name,
        "log_wealth": result.log_wealth,
        "crossed": result.log_wealth >= -math.log(terms["significance"]),
        "samples": result.samples,
        "samples_to_refutation": result.samples_to_refutation,
        "reason": result.reason,
    }


def judged(name: str, rows: list[Row], significance: float) -> Figure:
    """Return a figure on whether a mechanism meets the rule of its group."""
    audits, refuted = len(rows), sum(row["verdict"] == "REFUTED" for row in rows)
    crossed = sum(row["crossed"] for row in rows)
    values = [min(math.exp(min(row["log_wealth"], 10)), CAP) for row in rows]
    mean, error = fmean(values), stdev(values) / math.sqrt(audits) if audits > 1 else math.inf
    match PANEL[name].group:
        case "correct":
            most = int(binom.isf(ALARM_LEVEL, audits, significance))
            met, target = refuted <= most and mean <= 1 + 3 * error, f"<= {most}, mean <= 1 + 3 s.e."
        case "kept":
            met, target = refuted == 0, "0"
        case _:
            met = refuted >= CONFIRMED * crossed and crossed >= CROSSED * audits
            target = f">= {CONFIRMED:.0%} of {crossed} crossed"
    others = Counter(row["verdict"] for row in rows if row["verdict"] not in ("REFUTED", "NOT_REFUTED"))
    said = "".join(f"; {count} {verdict}" for verdict, count in others.items())
    seconds = fmean(row["seconds"] for row in rows)
    note = f"mean {mean:.3f} ± {error:.3f}; {crossed} crossed; {seconds:.1f} s each{said}"
    return Figure(name, f"{refuted} of {audits} refuted", target, met, note)


def chosen(patterns: list[str]) -> list[str]:
    """Return the names of the mechanisms that match any of the patterns or groups."""
    names = [
        name
        for name, entry in PANEL.items()
        if any(pattern == entry.group or fnmatchcase(name, pattern) for pattern in patterns)
    ]
    if not names:
        raise SystemExit(f"No mechanism is called {' or '.join(patterns)}; there are: {', '.join(PANEL)}.")
    return names


def drawn(tasks: list[tuple[str, int]], lines: Path | None, *, jobs: int, **terms: Any) -> list[Row]:
    """Return the rows of all tasks.

    Audits that the file lacks are carried out, and their rows appended to it.
    """
    wanted = {(*task, *terms.values()) for task in tasks}
    texts = lines.read_text(encoding="utf-8").splitlines() if lines is not None and lines.exists() else []
    known = {_key(row, terms): row for row in map(json.loads, texts)}
    rows = [row for key, row in known.items() if key in wanted]
    left = [task for task in tasks if (*task, *terms.values()) not in known]
    with Parallel(n_jobs=jobs, return_as="generator") as parallel:
        for row in parallel(delayed(audited)(*task, **terms) for task in left):
            rows.append(row)
            if lines is not None:
                with lines.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    return rows


def _key(row: Row, terms: dict[str, Any]) -> tuple[Any, ...]:
    return (row["mechanism"], row["seed"], *(row[name] for name in terms))


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--mechanism", nargs="+", default=["correct", "kept", "leaks"], metavar="NAME")
    options.add_argument("--audits", type=int, default=100)
    options.add_argument("--runs", type=int, default=20_000)
    options.add_argument("--significance", type=float, default=0.05)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--lines", type=Path)
    given = options.parse_args()
    figures = []
    for name in chosen(given.mechanism):
        tasks = [(name, seed) for seed in range(given.audits)]
        terms = {"runs": given.runs, "significance": given.significance}
        rows = drawn(tasks, given.lines, jobs=given.jobs, **terms)
        figures.append(judged(name, rows, given.significance))
        print(" · ".join(figures[-1].cells), file=sys.stderr, flush=True)
    title = f"Panel: {given.audits} audits of {given.runs:,} runs at {given.significance:g}"
    show(title, figures)
    return 0 if all(figure.met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
