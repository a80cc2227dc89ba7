"""Carrying out a study: cell by cell, step by step, each kept as soon as it is known."""

from collections.abc import Callable
from dataclasses import dataclass

from audit.options import Options
from audit.studies.cells import Cell
from audit.studies.code import code_of
from audit.studies.least_size import CellSearch, most_audits
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import CellStore
from audit.studies.study import Curve, Study
from audit.task import version_of


class StudyInterrupted(KeyboardInterrupt):
    """The user stopped a study; `result` has the cells that were finished.

    Examples
    --------
    >>> StudyInterrupted(None).result is None
    True
    """

    def __init__(self, result: StudyResult | None) -> None:
        super().__init__()
        self.result = result


@dataclass(frozen=True)
class CellAdvanced:
    """A step was taken, or (`done`) a cell is finished.

    Examples
    --------
    >>> CellAdvanced("demo", "all", Cell(4.0, 4.0, None, ()), number=1, cells=2).done
    False
    """

    study: str
    curve: str
    cell: Cell
    number: int
    cells: int
    done: bool = False


def run_study(
    study: Study,
    *,
    store: CellStore | None = None,
    significance: float = 1e-3,
    budget: int | None = None,
    seed: int = 0,
    jobs: int = 1,
    listener: Callable[[CellAdvanced], None] | None = None,
) -> StudyResult:
    """Return the least m of every learner of a study at every value, each bracketed by audits.

    Parameters
    ----------
    study
        What is sought.
    store
        Keeps every step on disk; steps that it has are not taken again.
    significance
        Of the whole study: each audit has an equal share, fixed beforehand.
    budget
        Most runs of a step; by default the study's.
    seed
        Root of everything random.
    jobs
        Worker processes; the result does not depend on it.
    listener
        Told of every step.

    Raises
    ------
    AuditError
        A bad argument, or an audit of a step failed.
    StudyInterrupted
        The user stopped it.

    Examples
    --------
    >>> from audit.claims import PAC
    >>> from audit.problems import FixedProblem
    >>> from audit.studies import Curve, Study
    >>> wrong = [FixedProblem("one", [0], lambda output, database: output)]
    >>> curve = Curve("half to the m", lambda v, m: lambda database: 0, lambda v, m: wrong,
    ...               failure=lambda v, m: v * 2.0**-m, compared=0)
    >>> found = run_study(Study("demo", "All.", PAC(0.1, 0.01), "c", (1.0, 8.0), (curve,)))
    >>> [(cell.refuted, cell.met) for cell in found.curves[0].cells]
    [(6, 7), (9, 10)]
    """
    most = study.budget if budget is None else budget
    Options(significance=significance, budget=most, seed=seed, jobs=jobs)  # refuses what is out of range
    return _Run(study, store or CellStore(None), significance, budget, seed, jobs, listener).result()


@dataclass(eq=False)
class _Run:
    """One study under way."""

    study: Study
    store: CellStore
    significance: float
    budget: int | None
    seed: int
    jobs: int
    listener: Callable[[CellAdvanced], None] | None

    def __post_init__(self) -> None:
        self.found: list[list[Cell]] = [[] for _ in self.study.curves]
        study = self.study
        self.code = {curve.name: code_of(curve) for curve in study.curves if self.store.folder is not None}
        self.audits = sum(len(study.values_of(curve)) * most_audits(study, curve) for curve in study.curves)

    def result(self) -> StudyResult:
        """Seek every least m."""
        try:
            for index, curve in enumerate(self.study.curves):
                for place, value in enumerate(self.study.values_of(curve)):
                    self.found[index].append(self._cell(curve, value, path=(index, place)))
        except KeyboardInterrupt:
            raise StudyInterrupted(self._told()) from None
        return self._told()

    def _cell(self, curve: Curve, value: float, *, path: tuple[int, int]) -> Cell:
        search = CellSearch(
            study=self.study,
            curve=curve,
            value=value,
            path=path,
            share=self.significance / self.audits,
            budget=self.budget,
            seed=self.seed,
            jobs=self.jobs,
        )
        key = search.key() | {"version": version_of("dp-audit"), "code": self.code.get(curve.name, "")}
        steps = list(self.store.read(key))
        while (further := search.advance(steps)) is not None:
            steps = further
            self.store.write(key, steps)
            self._tell(curve, search.cell(steps))
        cell = search.cell(steps)
        self._tell(curve, cell, done=True)
        return cell

    def _tell(self, curve: Curve, cell: Cell, *, done: bool = False) -> None:
        if self.listener is not None:
            number = sum(map(len, self.found)) + 1
            self.listener(CellAdvanced(self.study.name, curve.name, cell, number, self.study.cells, done))

    def _told(self) -> StudyResult:
        study = self.study
        return StudyResult(
            study.name,
            study.summary,
            str(study.claim),
            alpha=float(study.claim.alpha),
            beta=float(study.claim.beta),
            parameter=study.parameter,
            axis=study.axis or study.parameter,
            fixed=study.fixed,
            source=study.source,
            resolution=study.resolution,
            significance=self.significance,
            audits=self.audits,
            seed=self.seed,
            planned=study.cells,
            values=tuple(map(float, study.values)) if study.chosen else (),
            target=study.target,
            curves=tuple(
                CurveResult(curve.name, curve.source, curve.expected, tuple(cells), curve.shape)
                for curve, cells in zip(study.curves, self.found, strict=True)
            ),
        )
