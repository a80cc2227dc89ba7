"""Compare one process with several: the time of `dp-audit suite`.

Usage: python benchmarks/cores.py [PATTERN] [--jobs N] [--saved FOLDER]

The catalogue, or its entries that match PATTERN, is audited by one process and then by N. The results
must have the same bytes. With --saved the results are kept, and the next run starts the longest audits
first.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import Figure, show

COMMAND = Path(sys.executable).with_name("dp-audit")


def suite(pattern: str | None, jobs: int, folder: Path) -> tuple[float, float]:
    """Return the seconds until the first verdict and until the end."""
    command = [str(COMMAND), "suite", "--jobs", str(jobs), "--json", str(folder)]
    command += [] if pattern is None else [pattern]
    began = time.perf_counter()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        process.stdout.readline()
        first = time.perf_counter() - began
        process.stdout.read()
    return first, time.perf_counter() - began


def results(folder: Path) -> dict[str, str]:
    return {
        path.name: json.dumps(json.loads(path.read_text(encoding="utf-8"))["result"])
        for path in sorted(folder.glob("*.json"))
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("pattern", nargs="?")
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--saved", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        places = {jobs: (given.saved or Path(scratch)) / f"jobs-{jobs}" for jobs in (1, given.jobs)}
        times = [suite(given.pattern, jobs, place) for jobs, place in places.items()]
        found = [results(place) for place in places.values()]
    (_, alone), (first, together) = times
    many, differing = len(found[0]), sum(found[1].get(name) != text for name, text in found[0].items())
    gain, wanted = alone / together, 0.85 * given.jobs
    note = f"{alone:.0f} s, {together:.0f} s; {os.getloadavg()[0]:.1f} processes want a core"
    show(
        f"{many} audits by one process and by {given.jobs}",
        [
            Figure("first verdict", f"{first:.1f} s", "< 10 s", first < 10.0, ""),
            Figure("all verdicts", f"{together:.0f} s", "< 300 s", together < 300.0, ""),
            Figure("gain over one process", f"{gain:.2f} ×", f"≥ {wanted:.1f} ×", gain >= wanted, note),
            Figure("results that differ", str(differing), "0", differing == 0, ""),
        ],
    )


if __name__ == "__main__":
    main()
