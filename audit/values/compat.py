"""What is changed of other libraries where they have no public way, with the versions it was checked against.

`tests/audit/test_compat.py` fails where a library no longer has what is changed here, or needs no change.
"""

import contextlib
import importlib
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

# What cloudpickle rebuilds a class with; their last argument but one names the class to be overwritten.
_CLASS_MAKERS: Final = ("_make_skeleton_class", "_make_skeleton_enum")


@contextlib.contextmanager
def plain_hypothesis() -> Iterator[None]:
    """Let Hypothesis draw the same examples in every process, and leave no folder. Checked with 6.170."""
    with _no_local_constants(), _no_folder():
        yield


def class_by_value(value: Any, reduced: Any, *, tracked: bool = False) -> Any:
    """Return how cloudpickle reduces a class, but with its full name; anything else is left alone.

    Checked with 3.1.

    Parameters
    ----------
    value, reduced
        An object, and how cloudpickle reduces it.
    tracked
        Whether two pickles of one class are to be loaded as one. Where the class itself lives that would
        overwrite its attributes.

    Examples
    --------
    >>> class_by_value("a text", NotImplemented)
    NotImplemented
    """
    if not isinstance(reduced, tuple) or getattr(reduced[0], "__name__", None) not in _CLASS_MAKERS:
        return reduced
    maker, arguments, (attributes, slots), *rest = reduced
    *first, tracker, extra = arguments
    attributes = {**attributes, "__qualname__": value.__qualname__}
    return (maker, (*first, tracker if tracked else None, extra), (attributes, slots), *rest)


@contextlib.contextmanager
def _no_local_constants() -> Iterator[None]:
    """Keep Hypothesis, in this thread, from mixing the constants of loaded modules into its examples.

    It does so to find faults in the modules under test; here it would make the examples, and with them an
    audit of the same seed, depend on whatever else the process has loaded. Constants that tell of every type
    (NaN, infinities, …) stay. There is no setting for it, and a backend of our own would lose what only the
    default one has: no example twice, and values repeated within one. So the one function that collects them
    is replaced, and the cache that mixes them emptied and put back; where Hypothesis has neither (it began
    with 6.131), nothing is done.
    """
    providers = _providers()
    collected = getattr(providers, "_get_local_constants", None)
    cache = getattr(getattr(providers, "CONSTANTS_CACHE", None), "cache", None)
    if collected is None or cache is None:
        yield
        return
    here, kept = threading.get_ident(), dict(cache)
    none = SimpleNamespace(set_for_type=lambda _kind: ())

    def constants() -> Any:
        return none if threading.get_ident() == here else collected()

    cache.clear()
    providers._get_local_constants = constants  # noqa: SLF001 - there is no public way
    try:
        yield
    finally:
        providers._get_local_constants = collected  # noqa: SLF001 - as it was
        cache.clear()
        cache.update(kept)


def _providers() -> Any:
    """Return the module of Hypothesis that draws the parts of examples, None if it has none."""
    try:
        return importlib.import_module("hypothesis.internal.conjecture.providers")
    except ImportError:
        return None


@contextlib.contextmanager
def _no_folder() -> Iterator[None]:
    """Keep Hypothesis from making its folder `.hypothesis` here, where there is none yet."""
    from hypothesis import configuration

    known: dict[str, Any] = vars(configuration)
    change, default = known.get("set_hypothesis_home_dir"), known.get("__hypothesis_home_directory_default")
    before = known.get("__hypothesis_home_directory")
    folder = before or os.getenv("HYPOTHESIS_STORAGE_DIRECTORY") or default
    if change is None or folder is None or Path(folder).exists():
        yield
        return
    with tempfile.TemporaryDirectory() as elsewhere:
        change(elsewhere)
        try:
            yield
        finally:
            change(before)
