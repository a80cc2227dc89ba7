"""The run of a study, cell by cell and step by step."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from audit.options import Options
from audit.sampling.remake.digest import digest_of
from audit.studies.cells import Cell, Step
from audit.studies.least_size import CellSearch, most_audits
from audit.studies.results import CurveResult, StudyResult
from audit.studies.saved import CellStore
from audit.studies.study import Curve, Study
from audit.task import version_of

Path = tuple[int, int]
"""The place of a cell in its study: the index of its curve, and the index of its value."""


class StudyInterrupted(KeyboardInterrupt):
    """The user stopped a study. `result` holds the finished cells.

    Examples
    --------
    >>> StudyInterrupted(None).result is None
    True
    """

    result = property(lambda self: self.args[0])


@dataclass(eq=False)
class StudyRun:
    """The run of a study.

    The cells may be computed in any order. With equal arguments, they may be computed in any process.

    Parameters
    ----------
    study
        The study to run.
    store
        Saves every step on disk; steps that are already saved are not repeated.
    significance
        The significance of the whole study; each audit gets an equal share, fixed beforehand.
    budget
        The most runs of a step; by default the budget of the study.
    seed
        The root of all randomness.
    jobs
        The number of worker processes; the result does not depend on it.
    listener
        Called with each finished cell and the name of its curve.

    Attributes
    ----------
    found : dict
        The cells so far; the keys are their paths.

    Examples
    --------
    >>> from audit.claims import PAC
    >>> from audit.studies import Curve, Study
    >>> curve = Curve("all", lambda value, m: None, lambda value, m: [])
    >>> StudyRun(Study("demo", "All.", PAC(0.1, 0.1), "d", (1.0, 2.0), (curve,))).paths
    [(0, 0), (0, 1)]
    """

    study: Study
    _: KW_ONLY
    store: CellStore = field(default_factory=lambda: CellStore(None))
    significance: float = 1e-3
    budget: int | None = None
    seed: int = 0
    jobs: int = 1
    listener: Callable[[str, Cell], None] | None = None
    found: dict[Path, Cell] = field(default_factory=dict)

    def __post_init__(self) -> None:
        study, most = self.study, self.study.budget if self.budget is None else self.budget
        # raises an error if the value is out of range
        Options(significance=self.significance, budget=most, seed=self.seed, jobs=self.jobs)
        self.code = {curve.name: code_of(curve) for curve in study.curves if self.store.folder is not None}
        self.audits = sum(len(study.values_of(curve)) * most_audits(study, curve) for curve in study.curves)

    @property
    def paths(self) -> list[Path]:
        """The paths of all cells. A path is the index of a curve and the index of a value."""
        study = self.study
        curves = enumerate(study.curves)
        return [(index, place) for index, curve in curves for place in range(len(study.values_of(curve)))]

    def saved(self, path: Path) -> tuple[Step, ...]:
        """Return the saved steps of a cell."""
        return self.store.read(self._key(path))

    def seek(self, path: Path, saved: Sequence[Step]) -> Cell:
        """Return the cell at a path. The search continues from the saved steps, and saves each new step."""
        search, steps = self._search(path), list(saved)
        while (further := search.advance(steps)) is not None:
            steps = further
            self.store.write(self._key(path), steps)
        return search.cell(steps)

    def take(self, path: Path, cell: Cell, *, save: bool = False) -> None:
        """Add the cell at a path to the result. If `save` is true, also save its steps."""
        if save:
            self.store.write(self._key(path), cell.steps)
        if self.listener is not None:
            self.listener(self.study.curves[path[0]].name, cell)
        self.found[path] = cell

    def _search(self, path: Path) -> CellSearch:
        curve = self.study.curves[path[0]]
        return CellSearch(
            study=self.study,
            curve=curve,
            value=self.study.values_of(curve)[path[1]],
            path=path,
            share=self.significance / self.audits,
            budget=self.budget,
            seed=self.seed,
            jobs=self.jobs,
        )

    def _key(self, path: Path) -> dict[str, Any]:
        code = self.code.get(self.study.curves[path[0]].name, "")
        return self._search(path).key() | {"version": version_of("dp-audit"), "code": code}

    def told(self) -> StudyResult:
        """Return the result of the study from the cells finished so far."""
        study = self.study
        alike: dict[str, Any] = {name: getattr(study, name) for name in _ALIKE}
        return StudyResult(
            **alike,
            claim=str(study.claim),
            alpha=float(study.claim.alpha),
            beta=float(study.claim.beta),
            axis=study.axis or study.parameter,
            significance=self.significance,
            audits=self.audits,
            seed=self.seed,
            planned=study.cells,
            values=tuple(map(float, study.values)) if study.chosen else (),
            curves=tuple(
                CurveResult(curve.name, curve.source, curve.expected, self._cells(index), curve.shape)
                for index, curve in enumerate(study.curves)
            ),
        )

    def _cells(self, index: int) -> tuple[Cell, ...]:
        """Return the finished cells of a curve, in the order of their values."""
        return tuple(cell for path, cell in sorted(self.found.items()) if path[0] == index)


#: The fields that a study and its result share.
_ALIKE = ("name", "summary", "parameter", "fixed", "source", "resolution", "target")
_FUNCTIONS = ("learner", "problems", "bound", "failure", "family", "least", "start")


def code_of(curve: Curve) -> str:
    """Return a digest of a curve's functions, 16 hexadecimal digits.

    It covers their code and the values they hold. If a learner's code changes, its cells start again.

    Examples
    --------
    >>> from audit.studies import Curve
    >>> of = lambda rate: code_of(Curve("all", lambda value, m: rate, lambda value, m: []))
    >>> of(1) == of(1), of(1) == of(2)
    (True, False)
    """
    return digest_of(*(getattr(curve, name) for name in _FUNCTIONS), engine="audit.studies.run")
