"""Every table of figures, one after the other."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TABLES = (
    "overhead",
    "bounds",
    "efficiency",
    "open_cases",
    "search",
    "startup",
    "false_alarms",
    "false_alarms 2000 0 --search",
    "utility",
    "concave_privacy",
    "central",
    "goodness",
    "local",
    "queries",
    "learned",
    "parity",
    "approximate",
    "sanitizers",
    "studies",
)


def main() -> None:
    folder = Path(__file__).resolve().parent
    failed = []
    for table in TABLES:
        print(f"\n== {table}", flush=True)
        name, *options = table.split()
        command = [sys.executable, str(folder / f"{name}.py"), *options]
        if subprocess.run(command, check=False).returncode != 0:
            failed.append(table)
    if failed:
        raise SystemExit(f"These failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
