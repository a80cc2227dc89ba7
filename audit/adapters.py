"""Make mechanisms from estimators with `fit` and from functions of data frames.

The module is public. `sklearn` and `pandas` return a mechanism. Audit it like any other:
`audit_privacy(sklearn(...), claim, records=..., size=...)`. scikit-learn and pandas are loaded when used.
"""

import copy
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from audit.entry_points import optional
from audit.errors import InvalidKind, InvalidValue, blamed
from audit.subject.signatures import GENERATOR_NAMES, Calling, parameters_of, spoken_name
from audit.subject.subject import Around, Subject, adapt
from audit.values.brief import show
from audit.values.nearest import near

__all__ = ["pandas", "sklearn"]

Split = int | Callable[[Any], Any] | None

#: Kinds of parameters of `fit` that can be passed by position.
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: scikit-learn's `random_state` takes seeds below this number.
_SEEDS = 2**32


def sklearn(estimator: Any, *, attributes: str | Iterable[str], split: Split = None) -> Subject:
    """Return the mechanism that fits an estimator and releases attributes of it.

    Every run fits a fresh copy to the database. The copy is scikit-learn's `clone` if the estimator has
    `get_params` and scikit-learn is installed. Otherwise it is a deep copy. The estimator or its `fit` may
    have a parameter called random_state, rng or generator. This parameter gets the run's generator or a seed
    drawn from it.

    Parameters
    ----------
    estimator
        An object with `fit`, scikit-learn's or not, or a class that is built without arguments.
    attributes
        The names of the attributes released after the fit. With one name the output is the attribute's value,
        with several a dict from name to value.
    split
        What `fit` gets. None: X, an array of shape (records, columns). A whole number such as −1: (X, y), and
        y holds the entry of each record at that index. A function of the database: the arguments that it
        returns, as a tuple, or a single argument.

    Raises
    ------
    InvalidKind, InvalidValue
        The message names the argument, its value, and what would be right.

    Examples
    --------
    >>> from audit import PureDP, audit_privacy
    >>> class NoisyMean:
    ...     def fit(self, X, rng):
    ...         self.mean_ = X.mean() + rng.laplace(scale=1 / len(X))
    >>> mechanism = sklearn(NoisyMean, attributes="mean_")
    >>> audit_privacy(mechanism, PureDP(1.0), records=[-1, 1], size=5).verdict.name
    'REFUTED'
    """
    named = (attributes,) if isinstance(attributes, str) else _names(attributes, "attributes")
    made = _built(estimator)
    fit = getattr(made, "fit", None)
    if not callable(fit):
        raise InvalidKind(f"The `estimator` must have a method `fit`; got {show(estimator)}.")
    takes = parameters_of(fit) or {}
    needed = [p.name for p in takes.values() if p.default is p.empty and p.kind in _BY_PLACE][1:]
    wanted = [name for name in needed if name not in GENERATOR_NAMES]
    if split is None and wanted:
        raise InvalidValue(
            f"The `fit` of `{spoken_name(estimator)}` needs a `{wanted[0]}` too: give `split=-1` if that is "
            "the last entry of each record, or a function of the database that returns both."
        )
    if split is not None and not callable(split) and (isinstance(split, bool) or not isinstance(split, int)):
        raise InvalidKind(f"The `split` must be a place in a record, or a function; got {show(split)}.")
    unfitted = inspect.isclass(estimator) or _cloner(estimator) is not copy.deepcopy
    held = [] if unfitted else [name for name in named if getattr(estimator, name, None) is not None]
    if held:
        raise InvalidValue(f"The `estimator` has a `{held[0]}` before its fit: give one that is not fitted.")
    own, by_fit = _generators_of(made), [name for name in GENERATOR_NAMES if name in takes]
    kept = estimator if inspect.isclass(estimator) else _cloner(estimator)(estimator)
    fitting = Fitting(
        kept, named, single=isinstance(attributes, str), split=split, own=own, by_fit=tuple(by_fit)
    )
    parameters = made.get_params(deep=False) if callable(getattr(made, "get_params", None)) else {}
    calling = Calling(takes_rng=bool(own or by_fit))
    return Subject(name=spoken_name(estimator), object=fitting, calling=calling, parameters=parameters)


def pandas(function: Any, *, columns: Iterable[str]) -> Subject:
    """Return the mechanism that calls a function of a data frame. Each record becomes a row.

    Parameters
    ----------
    function
        A callable (frame, rng) -> output or (frame) -> output, or a subject object. Its `sample` is ignored.
    columns
        The names of the columns, one for each entry of a record; a record of one column may be a plain value,
        and a dict is read by its keys.

    Raises
    ------
    InvalidKind, InvalidValue, SubjectError
        The message names the argument, its value, and what would be right.
    AuditError
        pandas is not installed.

    Examples
    --------
    >>> from audit import PureDP, audit_privacy
    >>> def romans(frame, rng):
    ...     return float((frame["town"] == "Rome").sum() + rng.laplace())
    >>> mechanism = pandas(romans, columns=["town", "age"])
    >>> records = [("Rome", 20), ("Oslo", 90)]
    >>> audit_privacy(mechanism, PureDP(1.0), records=records, size=3, budget=1_000).verdict.name
    'NOT_REFUTED'
    """
    named = _names(columns, "columns")
    _frames()
    subject = adapt(function)
    framed = Framed(subject.object, subject.calling, named)
    law = subject.declared_law
    return replace(
        subject,
        object=framed,
        calling=Calling(takes_rng=subject.takes_rng),
        declared_law=None if law is None else lambda database: law(framed.frame(database)),
        declared_sampler=None,
    )


@dataclass(frozen=True, eq=False)
class Fitting(Around):
    """A mechanism that fits a fresh clone of an estimator to each database.

    It outputs some attributes of the fitted clone.

    Parameters
    ----------
    inner
        The estimator or its class.
    attributes, single
        The names of the released attributes. If `single` is true, the output is the value of the only one.
    split
        As for `sklearn`.
    own, by_fit
        The parameters that get the generator: of the estimator (`own`) and of its `fit` (`by_fit`).
    """

    attributes: tuple[str, ...]
    single: bool
    split: Split
    own: tuple[str, ...]
    by_fit: tuple[str, ...]

    def __call__(self, database: Any, rng: Any = None) -> Any:
        """Return the released attributes of one fit."""
        model: Any = self.inner() if inspect.isclass(self.inner) else _cloner(self.inner)(self.inner)
        given = {name: _generator(name, rng) for name in self.own}
        if callable(getattr(model, "set_params", None)):
            model.set_params(**given)
        else:
            vars(model).update(given)
        model.fit(*self._arguments(database), **{name: _generator(name, rng) for name in self.by_fit})
        if absent := [name for name in self.attributes if not hasattr(model, name)]:
            raise AttributeError(f"no `{absent[0]}` after the fit{near(absent[0], vars(model))}")
        released = {name: getattr(model, name) for name in self.attributes}
        return released[self.attributes[0]] if self.single else released

    def _arguments(self, database: Any) -> tuple[Any, ...]:
        if callable(self.split):
            found = self.split(database)
            return found if isinstance(found, tuple) else (found,)
        if self.split is None:
            return (_table([record] for record in database),)
        rows = [list(record) for record in database]
        labels = np.array([row.pop(self.split) for row in rows])
        return _table(rows), labels


@dataclass(frozen=True, eq=False)
class Framed(Around):
    """A mechanism that calls a function of a data frame.

    Parameters
    ----------
    inner
        The function.
    calling
        How the function gets its generator.
    columns
        The names of the columns.
    """

    calling: Calling
    columns: tuple[str, ...]

    def frame(self, database: Any) -> Any:
        """Return the frame of a database."""
        return _frames().DataFrame(list(database), columns=list(self.columns))

    def __call__(self, database: Any, rng: Any = None) -> Any:
        """Return one output of the function."""
        return self.calling.bind(self.inner)(self.frame(database), rng)


def _built(estimator: Any) -> Any:
    if not inspect.isclass(estimator):
        return estimator
    with blamed(f"`{estimator.__name__}` cannot be built without arguments, give a built one"):
        return estimator()


def _cloner(estimator: Any) -> Callable[[Any], Any]:
    """Return the function that makes an unfitted copy of an estimator."""
    if not callable(getattr(estimator, "get_params", None)):
        return copy.deepcopy
    try:
        clone: Callable[[Any], Any] = import_module("sklearn.base").clone
    except ModuleNotFoundError:
        return copy.deepcopy
    return clone


def _generators_of(made: Any) -> tuple[str, ...]:
    """Return which parameters of an estimator take a generator or a seed.

    Parameters of its parts are included.
    """
    known = made.get_params() if callable(getattr(made, "get_params", None)) else vars(made)
    return tuple(sorted(name for name in known if name.rpartition("__")[2] in GENERATOR_NAMES))


def _generator(name: str, rng: Any) -> Any:
    """Return the value of a generator parameter of this name.

    It is a seed for `random_state`, else the generator.
    """
    return int(rng.integers(_SEEDS)) if name.endswith("random_state") else rng


def _table(rows: Iterable[Sequence[Any]]) -> Any:
    """Return records as an array of shape (records, columns). An entry may be a vector of several columns."""
    flat = [np.concatenate([np.ravel(entry) for entry in row]) for row in rows]
    return np.array(flat) if flat else np.empty((0, 1))


def _names(given: Any, what: str) -> tuple[str, ...]:
    names = tuple(given) if hasattr(given, "__iter__") and not isinstance(given, str) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise InvalidKind(f"The `{what}` must be a list of names; got {show(given)}.")
    return names


def _frames() -> Any:
    return optional("pandas", missing="`audit.adapters.pandas` needs pandas: `pip install pandas`.")
