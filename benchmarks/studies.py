"""The presets of `dp-audit study`: seconds and peak memory of each.

    python benchmarks/studies.py [PRESET ...]

Each preset runs in a separate process. The peak is the memory of this process as the kernel reports it
(VmHWM). Seconds are given both of the clock and of CPU.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import Figure, show

SECONDS, MEGABYTES = 600.0, 1000.0

CHILD = """
import json, re, sys, time
from pathlib import Path
from audit.doors.cli.studies import show_studies

name, saved = sys.argv[1:]
began = time.monotonic()
code = show_studies(name, saved=Path(saved))
peak = re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]
told = {"seconds": time.monotonic() - began, "cpu": time.process_time(), "peak": int(peak) * 1024 / 1e6}
print(json.dumps(told))
raise SystemExit(code)
"""


def preset(name: str) -> list[Figure]:
    """Run one study in a separate process, and return its figures.

    Saved results are not used.
    """
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "study.json"
        done = subprocess.run(
            [sys.executable, "-c", CHILD, name, str(saved)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SystemExit(f"{name} failed:\n{done.stdout}{done.stderr}")
        told = json.loads(done.stdout.splitlines()[-1])
        cells = [
            cell for curve in json.loads(saved.read_text())[0]["study"]["curves"] for cell in curve["cells"]
        ]
    steps = [step for cell in cells for step in cell["steps"]]
    work = f"{len(cells)} cells, {len(steps)} steps, {sum(step['runs'] for step in steps):,} runs in them"
    seconds, cpu, peak = (told[name] for name in ("seconds", "cpu", "peak"))
    return [
        Figure(name, f"{seconds:.0f} s", "< 10 min", seconds < SECONDS, f"{cpu:.0f} s of CPU; {work}"),
        Figure("", f"{peak:.0f} MB", "< 1 GB", peak < MEGABYTES),
    ]


def main() -> None:
    """Carry out the presets that were asked for, one after the other."""
    from audit.studies import load_studies

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("presets", nargs="*", help="names; all of them where none is given")
    names = options.parse_args().presets or [*load_studies()]
    figures = []
    for name in names:
        print(f"{name} ...", flush=True)
        figures += preset(name)
    show("Studies, one process", figures)


if __name__ == "__main__":
    main()
