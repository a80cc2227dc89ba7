"""A digest of the code that a curve is computed with, so that a changed learner begins its cells anew."""

from __future__ import annotations

import ast
import functools
import hashlib
import sys
import sysconfig
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from audit.studies.study import Curve

__all__ = ["code_of"]

_FUNCTIONS = ("learner", "problems", "bound", "failure", "family", "least", "start")
_ELSEWHERE = [Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")]
_TOOL = __name__.partition(".")[0]


def code_of(curve: Curve) -> str:
    """Return a digest of the source of the modules that define a curve, and of those that they import.

    Parameters
    ----------
    curve
        The curve.

    Returns
    -------
    str
        16 hexadecimal digits; of nothing where no source is found (a session of one's own).

    Notes
    -----
    Imports are read from the source, those inside of functions too. They are followed within the packages of
    the curve's functions, and to any other module that is not installed; this package and what is installed
    are told apart by their versions alone.

    Examples
    --------
    >>> from audit.studies import Curve
    >>> len(code_of(Curve("all", lambda value, m: None, lambda value, m: [])))
    16
    """
    functions = (getattr(curve, name) for name in _FUNCTIONS)
    return _digest(frozenset(_module(function) for function in functions if function is not None))


def _module(function: Any) -> str:
    """Return the module that defines a function, a partial one, a class or what is called like a function."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _digest(modules: frozenset[str]) -> str:
    own = {name.partition(".")[0] for name in modules} - {_TOOL}
    waiting, texts = sorted(modules), dict.fromkeys(modules, b"")
    while waiting:
        name = waiting.pop()
        path = _source(name, own)
        if path is None:
            continue
        texts[name] = path.read_bytes()
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for other in _imports(texts[name], package):
            if other not in texts:
                texts[other] = b""
                waiting.append(other)
    whole = hashlib.sha256()
    for _, text in sorted(texts.items()):
        whole.update(hashlib.sha256(text).digest() if text else b"")
    return whole.hexdigest()[:16]


def _source(name: str, own: set[str]) -> Path | None:
    """Return the file of a module that is to be followed, None for any other."""
    top = name.partition(".")[0]
    if top == _TOOL or top in sys.builtin_module_names or (top not in own and _installed(top)):
        return None
    try:
        spec = util.find_spec(name)
    except (ImportError, ValueError, AttributeError):  # no such module, or one that was put there by hand
        return None
    path = None if spec is None or spec.origin is None else Path(spec.origin)
    return path if path is not None and path.suffix == ".py" and path.is_file() else None


def _installed(top: str) -> bool:
    try:
        spec = util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return True
    if spec is None or spec.origin is None:
        return True
    return any(Path(spec.origin).resolve().is_relative_to(place) for place in _ELSEWHERE)


def _imports(text: bytes, package: str) -> Iterator[str]:
    """Yield the modules that a source may import, some of which may be no modules."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # of another Python: its text alone counts
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
