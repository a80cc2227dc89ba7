"""The cells of a study side by side, each printed as soon as it is done."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path as Folder
from typing import Any

import click

from audit.doors.side_by_side import Call, side_by_side
from audit.sampling.isolated.elsewhere import elsewhere, on_cluster
from audit.studies.cells import Cell, Step
from audit.studies.results import StudyResult
from audit.studies.run import CellAdvanced, Path, StudyInterrupted, StudyRun
from audit.studies.saved import CellStore
from audit.studies.study import Study, load_studies, load_study


def carry_out(study: Study, *, store: CellStore, terms: Mapping[str, Any], jobs: int) -> StudyResult:
    """Return the result of a study, its cells computed side by side.

    Cells of the largest values take longest and start first.

    Raises
    ------
    StudyInterrupted
        The user stopped the study. Every step that was taken is saved.
    """
    alone = jobs if study.cells == 1 else 1  # of many cells each gets one core
    run = StudyRun(study, store=store, jobs=alone, listener=_print, **terms)
    paths = run.paths if elsewhere(jobs) is None else sorted(run.paths, key=lambda path: -path[1])
    folder = None if on_cluster() else store.folder  # machines of a cluster have their own disks

    def call(path: Path) -> Call:
        saved = run.saved(path)
        return Call(
            here=lambda _: (run.seek(path, saved), ()),
            there=(seek_by_name, _named(study), path, saved, folder, dict(terms)),
        )

    def take(index: int, answer: Callable[[], Any]) -> None:
        cell, unsaved = answer()
        for why in unsaved:
            store.give_up(why)
        run.take(paths[index], cell, save=on_cluster())

    if not side_by_side([call(path) for path in paths], jobs=jobs, what="least sizes", take=take):
        raise StudyInterrupted(run.told())
    return run.told()


def _print(event: CellAdvanced) -> None:
    if event.done:
        click.echo(f"  {event.curve:<28} {event.cell.value:>10g}  {bracket(event.cell)}")


def _named(study: Study) -> tuple[str, tuple[float, ...]]:
    """Return how another process finds a study: by target or name, with the values if they were chosen."""
    return study.target or study.name, study.values if study.chosen else ()


def seek_by_name(
    named: tuple[str, tuple[float, ...]],
    path: Path,
    saved: Sequence[Step],
    folder: Folder | None,
    terms: Mapping[str, Any],
) -> tuple[Cell, list[str]]:
    """Return a cell of the study with this name, and why it could not be saved, if so."""
    why: list[str] = []
    run = _run(named, folder, tuple(terms.items()))
    run.store = CellStore(folder, say=why.append)
    return run.seek(path, saved), why


@lru_cache(maxsize=1)
def _run(
    named: tuple[str, tuple[float, ...]], folder: Folder | None, terms: tuple[tuple[str, Any], ...]
) -> StudyRun:
    name, values = named
    study = load_study(name) if ":" in name else load_studies()[name]
    return StudyRun(study.over(values) if values else study, store=CellStore(folder), **dict(terms))


def bracket(cell: Cell) -> str:
    """Return the bracket of a cell in words.

    Examples
    --------
    >>> from audit.studies.cells import Cell, Step
    >>> bracket(Cell(4.0, 4.0, 50.0, (Step(9, "refuted"), Step(10, "met"))))
    'refuted at 9, met at 10; bound 50'
    >>> bracket(Cell(4.0, 4.0, 50.0, (Step(128, "refuted"), Step(197, "met", how="exact"))))
    'refuted at 128, met at 197 (closed form); bound 50, REFUTED'
    """
    low = "never refuted" if cell.refuted is None else f"refuted at {cell.refuted:,}"
    high = "never met" if cell.met is None else f"met at {cell.met:,} {cell.how_met}".rstrip()
    bound = "" if cell.bound is None else f"; bound {cell.bound:,.0f}"
    return f"{low}, {high}{bound}{', REFUTED' if cell.refutes_bound else ''}"
