"""Make every table of benchmarks/README.md by one command.

Each table names the versions, the machine and the seeds. It is printed and saved as FOLDER/NAME.txt. A saved
table is not made again, so the same command continues after Ctrl-C or a failure. Without NAME or --all, the
quick tables are made.

Usage: python benchmarks/run.py [NAME ...] [--all] [--again] [--folder FOLDER] [--cases FOLDER]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Table:
    """A table: what it measures, its seeds, and its arguments.

    `time` is given if the table takes more than a few minutes.
    """

    about: str
    seeds: str
    arguments: str = ""
    time: str = ""
    script: str = ""


#: The tables by name. The name is that of the script, unless `script` names another. The README has the same
#: list.
TABLES = {
    "overhead": Table(
        "what an audit of 1,000,000 runs costs beside those runs; peak memory at 10,000,000 runs", "0"
    ),
    "bounds": Table("the bound on ε from a given pair, at 20,000 to 2,000,000 runs a side", "0 to 4"),
    "efficiency": Table(
        "pairs of runs to a refutation, as a multiple of the least that independent sides need", "0 to 10"
    ),
    "open_cases": Table(
        "sixteen known faults and four controls, with the example pair", "0 to 4", "{cases}/open_cases.py"
    ),
    "search": Table(
        "the same without a pair, the peer suite at claimed ε = 1, and what the search costs",
        "0 to 2",
        "{cases}",
    ),
    "steering": Table(
        "runs to a refutation without a pair, with and without steering by recorded draws",
        "0 to 2",
        "{cases}/open_cases2.py",
        time="an hour",
    ),
    "peers": Table(
        "the bound on ε of the peer suite and of mechanisms with spread evidence, beside the best peer's",
        "1 to 3",
        "{cases}/peer_suite.py",
        time="an hour",
    ),
    "startup": Table("the command's help, the plugin in an unrelated test session, `make audit`", "none"),
    "cores": Table(
        "`dp-audit suite` with one process and with two: the gain, the first verdict, equal results",
        "those of the catalogue",
        time="a quarter of an hour",
    ),
    "false_alarms": Table("audits of mechanisms that meet their claim with equality", "from 0"),
    "false_alarms_search": Table(
        "the same without a pair", "from 0", "2000 0 --search", script="false_alarms"
    ),
    "panel": Table(
        "fifty correct mechanisms one by one, sixteen that keep their noise, leaks that look like those",
        "0 to 99, shifted by each name",
        "--lines {folder}/panel.jsonl",
        time="hours",
    ),
    "utility": Table(
        "runs of a utility audit to its verdict, as a multiple of the least possible; false alarms",
        "0 to 20; 0 to 999",
    ),
    "utility_boundary": Table(
        "wrong verdicts of 400 utility audits at failure probability β, also of learners that keep state",
        "from 0",
    ),
    "faults": Table(
        "how often the fault named for mutants of correct mechanisms is right; what a recorded call costs",
        "0",
        time="ten minutes",
    ),
    "fault_controls": Table(
        "correct mechanisms examined as if they had been refuted: no fault may be named",
        "those of the catalogue",
        "--cases {cases} --lines {folder}/fault_controls.jsonl",
        time="ten minutes",
    ),
    "mutations": Table(
        "ninety mutations of one constant each: which the suite and the tests notice",
        "those of the catalogue",
        "--found {folder}/mutations.json",
        time="an hour",
    ),
    "worst": Table("climbs to the worst of all databases of entries with exact losses", "0", time="an hour"),
    "concave_privacy": Table("the exact loss of the recursion on concave promises against its claim", "0"),
    "central": Table("the central mechanisms at the sizes they are meant for: seconds and memory", "0 to 4"),
    "local": Table(
        "the LR oracle over 1,000,000 entries, averages over 10,000,000 against numpy's own draws", "0"
    ),
    "queries": Table(
        "outputs per second of the simulation of local randomizers by statistical queries", "0 and 1"
    ),
    "learned": Table("the generic learner over 1,000,000 hypotheses, learners by queries", "0"),
    "parity": Table(
        "the learner of parities: runs per second, exact laws, all multisets of a size, utility audits of A*",
        "0 and 1",
    ),
    "approximate": Table(
        "the learners of points and thresholds over 64 bits: seconds per run, sample sizes", "0 and 1"
    ),
    "sanitizers": Table("the sanitizers at 1,000,000 records: seconds per run, sample sizes", "0 and 1"),
    "studies": Table("each preset of `dp-audit study`: seconds, and the peak memory of its own process", "0"),
    "goodness": Table(
        "a million runs of each mechanism against its exact law, on inputs of every shape", "0"
    ),
    "interrupts": Table(
        "Ctrl-C at random moments of `suite`, `run`, `study` and `findings`: what is saved is right",
        "the name of each command",
        time="half an hour",
    ),
}


def in_markdown() -> str:
    """Return the list of tables exactly as the README shows it."""
    rows = [f"| `{name}` | {each.about} | {each.seeds} | {each.time} |" for name, each in TABLES.items()]
    return "\n".join(["| table | what it measures | seeds | time |", "|---|---|---|---|", *rows])


def surroundings() -> str:
    """Return the versions and the machine, in a line."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("dp-audit", "numpy", "scipy"))
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    return f"Python {platform.python_version()}, {packages}; {machine}"


def make(name: str, *, folder: Path, cases: Path) -> bool:
    """Make a table and print it, and return whether its script succeeded.

    A table is saved if its script succeeds.
    """
    table, began = TABLES[name], time.monotonic()
    arguments = [word.format(cases=cases, folder=folder) for word in table.arguments.split()]
    command = [sys.executable, str(HERE / f"{table.script or name}.py"), *arguments]
    lines = [f"== {name}: {table.about}", f"seeds: {table.seeds}; {surroundings()}"]
    print(f"\n{lines[0]}\n{lines[1]}", flush=True)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line.rstrip("\n"))
    if process.returncode != 0:
        return False
    whole = folder / f"{name}.txt"
    part = whole.with_suffix(".part")
    part.write_text("\n".join([*lines, f"{time.monotonic() - began:.0f} s", ""]), encoding="utf-8")
    part.replace(whole)
    return True


def main(words: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(TABLES)}")
    options.add_argument("--all", action="store_true", help="also the tables that take long, hours in all")
    options.add_argument("--again", action="store_true", help="also the tables that are saved already")
    options.add_argument("--folder", type=Path, default=Path("audit-report/benchmarks"))
    options.add_argument(
        "--cases", type=Path, default=HERE.parents[1] / "shared" / "cases", help="the files of open cases"
    )
    given = options.parse_args(words)
    if unknown := sorted(set(given.names) - set(TABLES)):
        options.error(f"no table is called {', '.join(unknown)}")
    names = given.names or [name for name, table in TABLES.items() if given.all or not table.time]
    given.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names:
        if (given.folder / f"{name}.txt").exists() and not given.again:
            print(f"== {name}: saved in {given.folder} (--again makes it anew)")
        elif "{cases}" in TABLES[name].arguments and not given.cases.is_dir():
            print(f"== {name}: left out, {given.cases} does not exist (--cases FOLDER names it)")
        else:
            try:
                failed += [] if make(name, folder=given.folder, cases=given.cases) else [name]
            except KeyboardInterrupt:
                print(f"interrupted; finished tables are in {given.folder}; the same command continues")
                return 130
    if failed:
        print(f"failed, or missed a target: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
