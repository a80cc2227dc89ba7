"""Detect mechanisms that lack a `convert`. They fail on lists of records, but not on arrays or frames."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

import numpy as np

from audit.errors import InvalidValue, Parameter
from audit.sampling.blocks import Block
from audit.subject.subject import Subject
from audit.values.outcomes import Raised, Unfinished

#: Code for arrays or frames raises these exceptions if it gets a list. So does code for frames if it gets an
#: array.
_ON_A_LIST: Final = {"TypeError", "AttributeError"}
_ON_AN_ARRAY: Final = {"IndexError", "AttributeError"}
#: The exception that a frame raises for a missing column.
_NO_COLUMN: Final = "KeyError"
_ANSWERS: Final = ""


def refuse_lists(
    subject: Subject, databases: tuple[Any, Any], first: Block, run: Callable[[Any], Block]
) -> None:
    """Raise an error if a mechanism needs arrays or frames, not lists.

    It fails on two lists of records, but works if they are arrays or frames.

    Parameters
    ----------
    subject
        The subject. If it has a `convert`, nothing is checked.
    databases
        The first two databases.
    first
        Two runs on the first database.
    run
        Draws two runs on any database. It is called only if the first two runs failed.

    Raises
    ------
    InvalidValue
        The mechanism takes arrays or frames. The message says which, and what to pass.
    """
    if subject.convert is not None or not all(type(each) is list for each in databases):
        return
    if _outcome(first) not in _ON_A_LIST or _outcome(run(databases[1])) not in _ON_A_LIST:
        return
    raised = f"{subject.name} {first.left[0]}, because it was given a list of records; it takes "
    on_arrays = _on(run, np.array, databases)
    if on_arrays == {_ANSWERS}:
        singly = any(_outcome(run(record)) == _ANSWERS for record in databases[0][:1])
        streamed = "; if it takes one record at a time, audit a function that returns the list of its answers"
        array = Parameter("convert", example="convert=numpy.array")
        raise InvalidValue(raised, "an array: pass ", array, f"{streamed if singly else ''}.")
    named = any(isinstance(record, Mapping) for record in databases[0])
    if not (named or on_arrays <= _ON_AN_ARRAY):
        return
    try:
        on_frames = _on(run, import_module("pandas").DataFrame, databases)
    except ImportError:
        return
    if on_frames == {_ANSWERS}:
        raise InvalidValue(
            raised, "a frame: pass ", Parameter("convert", example="convert=pandas.DataFrame"), "."
        )
    if on_frames == {_NO_COLUMN}:
        raise InvalidValue(
            raised,
            "a frame with named columns: audit "
            f'`audit.adapters.pandas({subject.name}, columns=["..."])` in its place.',
        )


def _on(run: Callable[[Any], Block], convert: Callable[[Any], Any], databases: tuple[Any, Any]) -> set[str]:
    """Return the kinds of outcome of runs on the converted databases."""
    try:
        return {_outcome(run(convert(database))) for database in databases}
    except (TypeError, ValueError):  # ragged records, for example
        return {"no database"}


def _outcome(block: Block) -> str:
    """Return "" if some run answered, or else the first run's failure.

    The failure is the name of an exception, or "unfinished".
    """
    outputs = [*block.left, *block.right]
    silent = [output for output in outputs if type(output) in (Raised, Unfinished)]
    if len(silent) < len(outputs):
        return _ANSWERS
    return silent[0].kind if type(silent[0]) is Raised else "unfinished"
