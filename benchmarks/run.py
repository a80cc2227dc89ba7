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
    scripts = [script for name in TABLES if (script := folder / f"{name}.py").exists()]
    failed = []
    for script in scripts:
        print(f"\n== {script.name}", flush=True)
        if subprocess.run([sys.executable, str(script)], check=False).returncode != 0:
            failed.append(script.name)
    if failed:
        raise SystemExit(f"These failed: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
