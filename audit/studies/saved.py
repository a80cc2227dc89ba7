"""Studies as JSON documents, and the saved cells of an unfinished study. A cell is one value of one curve."""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from audit.codec.decoding import decode
from audit.codec.encoding import encode
from audit.codec.files import Unwritable, check_writable, file_name, write_text
from audit.codec.stored import loads, read
from audit.codec.typed import SCHEMA, as_document, built, read_document
from audit.errors import AuditError
from audit.studies.cells import Cell, Step
from audit.studies.results import StudyResult

#: Parts of a cell's key that are not in its file name. So cells of new code overwrite old cells.
_OF_CODE = frozenset({"code", "version"})


def to_json(result: StudyResult) -> dict[str, Any]:
    """Return the result as a document.

    Interrupting and resuming a study does not change the bytes.

    Examples
    --------
    >>> to_json(StudyResult("demo", "All.", "PAC(0.1, 0.1)", curves=()))["study"]["name"]
    'demo'
    """
    return as_document("study", result)


def from_json(document: Mapping[str, Any]) -> StudyResult:
    """Return the result that a document holds.

    Raises
    ------
    AuditError
        The document was not written by dp-audit.

    Examples
    --------
    >>> from audit.studies.results import CurveResult
    >>> one = StudyResult("demo", "All.", "PAC(0.1, 0.1)", curves=(CurveResult("a", "", "", ()),))
    >>> from_json(to_json(one)) == one
    True
    """
    return read_document(document, "study", partial(built, StudyResult))


def layout(results: Iterable[StudyResult]) -> str:
    """Return the text of a file that holds these results.

    Examples
    --------
    >>> layout([]).split()
    ['[', ']']
    """
    return "[\n" + ",\n".join(_text(to_json(result)) for result in results) + "\n]\n"


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def _kept(document: Any, key: Mapping[str, Any]) -> tuple[Step, ...] | None:
    """Return the steps in a cell's document. None if other code or other settings made the document."""
    if not isinstance(document, dict) or not {"key", "steps"} <= document.keys():
        raise AuditError("it must be an object with `key` and `steps`")
    if document["key"] != encode(dict(key)):
        return None
    steps = decode(document["steps"], where="steps")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise AuditError("its `steps` must be a list of objects")
    try:
        return Cell(0.0, 0.0, None, tuple(built(Step, step) for step in steps)).steps
    except AuditError:
        raise
    except TypeError:  # a field is missing or unknown (`InvalidKind` is a TypeError too)
        raise AuditError("a step has missing or unknown fields") from None


class CellStore:
    """The cells of studies on disk.

    Each cell has its own file, which is written after every step.

    Parameters
    ----------
    folder
        The folder of the files; if it is None, nothing is saved.
    say
        Called with a line of text if a cell was computed by other code, or if saving first fails.

    Attributes
    ----------
    unsaved : bool
        Whether a cell could not be saved.

    Raises
    ------
    AuditError
        The folder cannot be written to.

    Examples
    --------
    >>> CellStore(None).read({"study": "demo"})
    ()
    """

    def __init__(self, folder: Path | None, *, say: Callable[[str], None] | None = None) -> None:
        self.folder = folder
        self.unsaved = False
        self._say = say or (lambda _: None)
        if folder is not None:
            check_writable(folder / "_.json")

    def read(self, key: Mapping[str, Any]) -> tuple[Step, ...]:
        """Return the saved steps of a cell.

        There are none if the cell is new or was computed by other code.

        Raises
        ------
        AuditError
            The cell's file is damaged; the message names it.
        """
        path = None if self.folder is None else self._path(key)
        if path is None or not path.exists():
            return ()
        text = read(path)
        try:
            steps = _kept(loads(text), key)
        except (AuditError, RecursionError) as error:
            said = str(error).removesuffix(".")
            raise AuditError(
                f"{path} is not a saved cell ({said}); delete it to compute the cell again."
            ) from None
        if steps is None:
            self._say(f"{path} was computed by other code or versions; the cell is computed again")
        return steps or ()

    def write(self, key: Mapping[str, Any], steps: Sequence[Step]) -> None:
        """Save the steps of a cell atomically. `say` reports only the first failure."""
        if self.folder is None:
            return
        stored = encode([asdict(step) for step in steps])
        document = {"schema": SCHEMA, "key": encode(dict(key)), "steps": stored}
        try:
            write_text(self._path(key), _text(document) + "\n")
        except Unwritable as error:
            self.give_up(f"{error} The study continues without saving.")

    def give_up(self, why: str) -> None:
        """Record that a cell could not be saved, and report this once."""
        if not self.unsaved:
            self._say(why)
        self.unsaved = True

    def _path(self, key: Mapping[str, Any]) -> Path:
        """Return the file of a cell. Its name depends on the settings, not on the code."""
        assert self.folder is not None
        words = "-".join(str(key[name]) for name in ("study", "curve", "value") if name in key)
        settings = {name: value for name, value in key.items() if name not in _OF_CODE}
        whole = json.dumps(encode(settings), sort_keys=True)
        return self.folder / file_name(words, ending=f"-{zlib.crc32(whole.encode()):08x}.json")
