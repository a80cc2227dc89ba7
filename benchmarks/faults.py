"""How often an audit names the right fault of a mutant.

A mutant is a correct mechanism that was broken. Every private mechanism of the catalogue with fast calls is
broken in seven ways, one at a time, and audited on one pair. Only mutants that the audit refutes are counted.

Usage: python benchmarks/faults.py [--names PATTERN] [--each] [--most N] [--lines FILE [--again SAID ...]]
       Mutants in the file of JSON lines are not audited again, unless their outcome there is one of SAID.
"""

import argparse
import json
import random
import time
import timeit
import zlib
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from audit import FaultKind, audit_privacy
from audit.catalogue import Entry, matching_entries
from audit.faults.scene import LEFT, Scene
from audit.privacy import make_task
from audit.sampling.recorded.everywhere import recorded_everywhere
from audit.sampling.recorded.generator import RecordingGenerator
from audit.sampling.snapshots import Input

K = FaultKind
SECONDS = 1.5e-4  # the most processor time that a call may take
TIME_LIMIT = 150.0  # of one audit; so long that the budget ends it first, even on a busy machine
MOST_EPSILON = 4.0


def mark(database: Any) -> int:
    """Return a number that depends on every record."""
    return sum(zlib.crc32(repr(record).encode()) % 89 for record in database)


class Wide:
    """A generator that multiplies the scale of noise by a factor."""

    def __init__(self, rng: Any, factor: float) -> None:
        self.rng, self.factor = rng, factor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rng, name)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.rng.laplace(loc, scale * self.factor, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        return self.rng.normal(loc, scale * self.factor, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        return self.rng.geometric(-np.expm1(np.log1p(-p) / self.factor), size)


@dataclass(frozen=True)
class Mutant:
    """A broken mechanism.

    `left` and `right` are the pair on which it is audited.
    """

    inner: Any
    left: Any
    right: Any

    def __call__(self, database: Any, rng: Any) -> Any:
        return self.inner(database, rng)


class ThirdOfTheNoise(Mutant):
    kinds = (K.NOISE_TOO_SMALL, K.BUDGET_SPENT_TWICE)


class SameNoiseTwice(Mutant):
    kinds = (K.NOISE_REUSED,)

    def __call__(self, database: Any, rng: Any) -> Any:
        seed = int(rng.integers(2**62))
        own, public = (np.random.default_rng(seed) for _ in range(2))
        return self.inner(database, own), self.inner(self.left, public)


class FixedSeed(Mutant):
    kinds = (K.FIXED_SEED,)

    def __call__(self, database: Any, rng: Any) -> Any:  # noqa: ARG002 - that is the fault
        return self.inner(database, np.random.default_rng(7))


class ExactPart(Mutant):
    kinds = (K.UNNOISED_PART,)

    def __call__(self, database: Any, rng: Any) -> Any:
        return self.inner(database, rng), mark(database)


class ScaleFromData(Mutant):
    kinds = (K.DATA_DEPENDENT_NOISE,)

    def __call__(self, database: Any, rng: Any) -> Any:
        return self.inner(database, Wide(rng, 1.0 if mark(database) == mark(self.left) else 8.0))


class RaisesForOne(Mutant):
    kinds = (K.RAISES_OR_MISSING,)

    def __call__(self, database: Any, rng: Any) -> Any:
        if mark(database) == mark(self.right):
            raise ValueError("this record is not supported")
        return self.inner(database, rng)


class KeysFromData(Mutant):
    kinds = (K.DATA_DEPENDENT_DOMAIN,)

    def __call__(self, database: Any, rng: Any) -> Any:
        answer = self.inner(database, rng)
        return answer, {repr(record): float(rng.laplace(0.0, 4.0)) for record in database}


KINDS = (ThirdOfTheNoise, SameNoiseTwice, FixedSeed, ExactPart, ScaleFromData, RaisesForOne, KeysFromData)


def bases(pattern: str | None) -> list[tuple[Entry, Any, Any, Any]]:
    """Return the correct mechanisms with fast calls.

    Each item is an entry, its mechanism, its task and the pair.
    """
    found = []
    for entry in matching_entries(pattern):
        if "privacy" not in entry.audits or entry.expects("privacy") == "refuted":
            continue
        mechanism = entry.factory()
        task = make_task(mechanism, **entry.options_for("privacy"))
        if task.claim.epsilon > MOST_EPSILON:  # too large to refute with few runs
            continue
        pairs = task.databases.proposals(np.random.default_rng(0))
        try:
            pair = next((p for p in islice(pairs, 50) if mark(p[0]) != mark(p[1])), None)
            if pair is None:
                continue
            took = min(_taken(mechanism, task, pair) for _ in range(3))
        except Exception:  # noqa: BLE001 - its databases are not lists, or it refuses the pair
            continue
        if took <= 40 * SECONDS:
            found.append((entry, mechanism, task, pair[:2]))
    return found


def _taken(mechanism: Any, task: Any, pair: Any) -> float:
    """Return the processor time of forty calls."""
    rng, start = np.random.default_rng(0), time.process_time()
    for _ in range(20):
        mechanism(task.subject.prepare(pair[0]), rng), mechanism(task.subject.prepare(pair[1]), rng)
    return time.process_time() - start


def mutants(base: tuple[Entry, Any, Any, Any]) -> list[Mutant]:
    _, mechanism, task, (left, right) = base
    left, right = task.subject.prepare(left), task.subject.prepare(right)
    # If one side draws nothing, the mutant uses one scale only: its noise is wide and does not depend on the
    # data.
    seen = all(_draws(mechanism, side) for side in (left, right))
    kinds = [kind for kind in KINDS[1:] if kind is not ScaleFromData or seen]
    made: list[Mutant] = [kind(mechanism, left, right) for kind in kinds]
    if is_dataclass(mechanism) and "epsilon" in {each.name for each in fields(mechanism) if each.init}:
        with suppress(Exception):  # a size or range may belong to the old epsilon
            made.append(ThirdOfTheNoise(replace(mechanism, epsilon=3.0 * mechanism.epsilon), left, right))
    return made


def _draws(mechanism: Any, database: Any) -> bool:
    """Return whether a mechanism draws a value on a database."""
    rng = RecordingGenerator(np.random.PCG64(0))
    mechanism(database, rng)
    return any(np.size(draw.values) for draw in rng.tape.draws)


def named(base: tuple[Entry, Any, Any, Any], mutant: Mutant, *, recorded: bool = True) -> Any:
    _, _, task, pair = base
    return audit_privacy(
        mutant,
        task.claim,
        relation=task.relation,
        pairs=[pair],
        convert=task.subject.convert,
        budget=20_000,
        time_limit=TIME_LIMIT,
        recorded=recorded,
    )


def judged(base: tuple[Entry, Any, Any, Any], mutant: Mutant) -> tuple[str, str]:
    """Return the outcome for a mutant, and the fault in words.

    The outcome is right, wrong, unknown or not refuted.
    """
    fault = named(base, mutant).fault
    if fault is None:
        return "not refuted", ""
    said = "unknown" if fault.kind is K.UNKNOWN else "right" if fault.kind in mutant.kinds else "wrong"
    return said, f"{fault.kind.name} {fault.words}"


def read(lines: Path | None, again: Sequence[str] = ()) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the outcomes in the file, by kind and mechanism, except those to repeat."""
    texts = lines.read_text(encoding="utf-8").splitlines() if lines is not None and lines.exists() else []
    held = {(what, name): (said, words) for what, name, said, words in map(json.loads, texts)}
    return {mutant: found for mutant, found in held.items() if found[0] not in again}


def keep(lines: Path | None, *row: str) -> None:
    """Append an outcome to the file, if a file is given."""
    if lines is not None:
        with lines.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def calls() -> None:
    """Print what a recorded call and a recorded run cost.

    The costs are also shown as multiples of unrecorded ones. A run copies its database and makes its
    generator.
    """
    database = [0, 1, 1, 1, 0] * 2
    told = {
        "sum, one draw": lambda data, rng: sum(data) + rng.laplace(0.0, 1.0),
        "sum, two draws": lambda data, rng: sum(data) + int(rng.geometric(0.5)) - int(rng.geometric(0.5)),
        "histogram": lambda data, rng: np.bincount(data, minlength=3) + rng.laplace(0.0, 1.0, 3),
        "mean of an array": lambda data, rng: float(np.mean(np.clip(data, 0.0, 1.0)) + rng.normal(0.0, 0.1)),
    }
    recording, copied = RecordingGenerator(np.random.PCG64(0)), Input(database, every_run=True)
    recorded, plain = cache(lambda: recording), cache(np.random.default_rng)

    def one_call(call: Any, rng: Any) -> None:
        recording.tape.taken.clear()  # a tape holds the draws of one run
        call(database, rng())

    print(f"{'':18}{'recorded call':>14}{'ratio':>7}{'recorded run':>14}{'ratio':>7}")
    for name, call in told.items():
        ordinary = _least(lambda call=call: call(copied(), np.random.default_rng(0)))
        with recorded_everywhere() as reel:
            run = _least(partial(Scene(call, {LEFT: copied}, reel).run, LEFT, 0))
        one, other = (_least(partial(one_call, call, rng)) for rng in (recorded, plain))
        print(f"{name:18}{one:11.2f} µs{one / other:7.2f}{run:11.2f} µs{run / ordinary:7.2f}")


def _least(way: Any) -> float:
    """Return the processor time of a call in microseconds, the least of many tries."""
    return min(timeit.repeat(way, number=200, repeat=90, timer=time.process_time)) * 5e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--names")
    parser.add_argument("--each", action="store_true", help="print every mutant")
    parser.add_argument("--most", type=int, default=200, help="stop after this many refuted mutants")
    parser.add_argument("--lines", type=Path, help="keep what was found in this file")
    parser.add_argument("--again", nargs="+", default=[], metavar="SAID", help="audit these again")
    given = parser.parse_args()
    table: dict[str, Counter[str]] = defaultdict(Counter)
    known = read(given.lines, given.again)
    every = [(base, mutant) for base in bases(given.names) for mutant in mutants(base)]
    random.Random(0).shuffle(every)
    for base, mutant in every:
        if sum(count.total() - count["not refuted"] for count in table.values()) >= given.most:
            break
        what, name = type(mutant).__name__, base[0].name
        if (what, name) not in known:
            known[what, name] = judged(base, mutant)
            keep(given.lines, what, name, *known[what, name])
        said, words = known[what, name]
        table[what][said] += 1
        if given.each or said == "wrong":
            print(f"{said:12} {what:16} {name:30} {words}", flush=True)
    calls()
    total: Counter[str] = sum(table.values(), Counter())
    print(f"{'':18}{'right':>9}{'unknown':>9}{'wrong':>9}{'not refuted':>13}")
    for what, count in [*table.items(), ("all", total)]:
        print(f"{what:18}{count['right']:9}{count['unknown']:9}{count['wrong']:9}{count['not refuted']:13}")
    counted = total["right"] + total["unknown"] + total["wrong"]
    print(f"right in {total['right'] / counted:.1%}, wrong in {total['wrong'] / counted:.1%} of {counted}")


if __name__ == "__main__":
    main()
