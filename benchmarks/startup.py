"""The cost of starting: the command's help, the plugin, the catalogue's audit.

The help and the plugin, in a session without audits, are measured in seconds of CPU.

Usage: python benchmarks/startup.py [--rounds N] [--without-audit]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from figures import Figure, show

ROOT = Path(__file__).resolve().parents[1]
COMMAND = Path(sys.executable).with_name("dp-audit")
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def cpu_seconds(command: list[str], folder: Path) -> float:
    """Return the seconds of CPU that a command takes, including its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spread(values: list[float]) -> str:
    return f"{min(values):.3f} to {max(values):.3f} s"


def help_text(rounds: int) -> Figure:
    times = [cpu_seconds([str(COMMAND), "--help"], ROOT) for _ in range(rounds)]
    found = median(times)
    return Figure("dp-audit --help", f"{found:.2f} s", "< 0.5 s", found < 0.5, spread(times))


def plugin(rounds: int) -> Figure:
    """Time sessions of one unrelated test, alternately with and without the plugin."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "test_unrelated.py").write_text("def test_nothing():\n    pass\n")
        sessions = [PYTEST, [*PYTEST, "-p", "no:dp-audit"]]
        times = [[cpu_seconds(session, Path(folder)) for session in sessions] for _ in range(rounds)]
    found = median(with_it - without for with_it, without in times)
    ratio = median(with_it / without for with_it, without in times)
    note = " / ".join(f"{median(column):.3f}" for column in zip(*times, strict=True)) + " s"
    value = f"{1e3 * found:+.0f} ms, {ratio:.2f}×"
    return Figure("the plugin, in an unrelated session", value, "< +50 ms", found < 0.05, note)


def catalogue() -> Figure:
    start = time.perf_counter()
    used = cpu_seconds(["make", "audit"], ROOT)
    found = time.perf_counter() - start
    return Figure(
        "make audit, once installed", f"{found:.0f} s", "< 300 s", found < 300, f"{used:.0f} s of CPU"
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--without-audit", action="store_true", help="leave out `make audit`")
    given = options.parse_args()
    figures = [help_text(given.rounds), plugin(given.rounds)]
    if not given.without_audit:
        figures.append(catalogue())
    show(f"Starting, median of {given.rounds}", figures)


if __name__ == "__main__":
    main()
