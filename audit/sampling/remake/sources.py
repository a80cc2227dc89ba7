"""A digest of modules and of everything they import."""

import ast
import functools
import hashlib
import platform
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import machinery, metadata
from pathlib import Path
from typing import Any

from audit.entry_points import spec_of

_INSTALLED = frozenset({"site-packages", "dist-packages"})
_DYNAMIC = frozenset({"import_module", "__import__"})
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class _Source:
    """A module's part of a digest."""

    digest: str = ""
    imports: tuple[str, ...] = ()
    installed: frozenset[str] = frozenset()


def _source(name: str) -> _Source:
    found = _found(name)
    if isinstance(found, frozenset):
        return _Source(installed=found)
    if found is None:
        return _Source()
    text, package = found.read_bytes(), name if found.stem == "__init__" else name.rpartition(".")[0]
    return _Source(hashlib.sha256(text).hexdigest() if text else "", _imports(text, package))


Look = Callable[[str], _Source]
"""A function that returns the source of a module, given the module's name."""


def as_now() -> Look:
    """Return a `look` for several calls of `digest`.

    It reads the source of each module only once for all these calls.

    Examples
    --------
    >>> digest({"audit.claims"}, look=as_now()) == digest({"audit.claims"})
    True
    """
    return functools.cache(_source)


def digest(modules: Iterable[str], *, look: Look = _source) -> str:
    """Return 16 hexadecimal digits that change with the code of these modules.

    A file that belongs to no distribution is digested, and its imports are followed. They are found in the
    source text. Imports inside functions count, and calls of `import_module` with a quoted name.

    Of an installed distribution and its requirements, the digest covers the version and the record of
    installed files. It also covers the files changed since installation. Of Python it covers the version.

    Examples
    --------
    >>> len(digest({"audit.claims"})), digest({"audit.claims"}) == digest({"json"})
    (16, False)
    """
    waiting, known = [*modules], dict[str, _Source]()
    while waiting:
        name = waiting.pop()
        if name not in known:
            known[name] = look(name)
            waiting += known[name].imports
    installed = {owner for source in known.values() for owner in source.installed}
    parts = [source.digest for _, source in sorted(known.items()) if source.digest]
    parts += [_distribution(name) for name in sorted(_required(installed))]
    return hashlib.sha256("\n".join([platform.python_version(), *parts]).encode()).hexdigest()[:16]


def _found(name: str) -> Path | frozenset[str] | None:
    """Return the file of a module, or the distributions that installed it."""
    top, *rest = name.split(".")
    if top in sys.stdlib_module_names or top in sys.builtin_module_names:
        return None
    spec = spec_of(top)
    file, folders = _place(spec)
    if spec is None:
        file = getattr(sys.modules.get(top), "__file__", None)
    place = next((Path(each) for each in (file, *folders) if each and Path(each).exists()), None)
    if place is None:
        return None
    owners = _owners().get(top) if _INSTALLED.intersection(place.parts) else None
    if owners:
        return frozenset(owners)
    for part in rest:
        file, folders = _place(machinery.PathFinder.find_spec(part, folders))
    return Path(file) if file and Path(file).is_file() else None


def _place(spec: machinery.ModuleSpec | None) -> tuple[str | None, list[str]]:
    """Return the file of a module, and the folders of its submodules."""
    return (None, []) if spec is None else (spec.origin, [*(spec.submodule_search_locations or ())])


@functools.cache
def _imports(text: bytes, package: str) -> tuple[str, ...]:
    """Return the names that a source may import, and the packages that contain them."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):  # source of another Python version, or no source: digest its bytes
        return ()
    calls = any(name.encode() in text for name in _DYNAMIC)
    named = {
        name for node in (ast.walk(tree) if calls else _statements(tree)) for name in _named(node, package)
    }
    return tuple(
        sorted({".".join(name.split(".")[: i + 1]) for name in named for i in range(name.count(".") + 1)})
    )


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield all statements of a source; this is faster than a walk through all its nodes."""
    waiting: list[Any] = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        for name in _BLOCKS:
            waiting += getattr(node, name, ())


def _named(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parents = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
        base = ".".join([*parents, *([node.module] if node.module else [])])
        yield from (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
    elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called, name = node.func, node.args[0].value
        said = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
        if said in _DYNAMIC and isinstance(name, str):
            yield f"{package}{name}" if name.startswith(".") else name


@functools.cache
def _owners() -> dict[str, list[str]]:
    return {top: sorted({*names}) for top, names in metadata.packages_distributions().items()}


def _required(names: set[str]) -> set[str]:
    """Return the distributions and all their installed requirements."""
    waiting, found = [*names], set[str]()
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name not in found:
            found.add(name)
            waiting += _requires(name)
    return found


@functools.cache
def _requires(name: str) -> tuple[str, ...]:
    try:
        wanted = metadata.distribution(name).requires or ()
    except metadata.PackageNotFoundError:
        return ()
    return tuple(match[0] for each in wanted if "extra ==" not in each and (match := _NAME.match(each)))


@functools.cache
def _distribution(name: str) -> str:
    """Return a text that changes if the installed files of a distribution change."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return ""
    whole = hashlib.sha256(f"{name} {found.version} {found.read_text('RECORD') or ''}".encode())
    files = [Path(str(found.locate_file(file))) for file in found.files or () if file.suffix == ".py"]
    record = next((Path(str(found.locate_file(f))) for f in found.files or () if f.name == "RECORD"), None)
    written = record.stat().st_mtime if record is not None and record.is_file() else None
    for file in files:
        if written is not None and file.is_file() and file.stat().st_mtime > written:
            whole.update(file.read_bytes())
    return whole.hexdigest()
