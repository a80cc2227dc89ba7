"""Patches of other libraries where these have no public setting.

Each patch names the version that it was tested with. `tests/audit/test_compat.py` fails if a library no
longer has the patched part, or no longer needs the patch.
"""

import contextlib
import ctypes
import importlib
import os
import struct
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

# cloudpickle rebuilds classes with these functions. The second-last argument of each call identifies the
# existing class, which the call overwrites.
_CLASS_MAKERS: Final = ("_make_skeleton_class", "_make_skeleton_enum")


@contextlib.contextmanager
def plain_hypothesis() -> Iterator[None]:
    """Make Hypothesis draw the same examples in every process.

    In this context Hypothesis creates no folder. Checked with Hypothesis 6.170.
    """
    with _no_local_constants(), _no_folder():
        yield


def class_by_value(value: Any, reduced: Any, *, tracked: bool = False) -> Any:
    """Return cloudpickle's reduction of a class, with its full name added.

    The reduction of an object of another kind is returned unchanged. Checked with cloudpickle 3.1.

    Parameters
    ----------
    value, reduced
        An object, and cloudpickle's reduction of it.
    tracked
        Whether two pickles of the same class load as one class. If so, loading them in the process that
        defines the class overwrites its attributes.

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
    """Keep Hypothesis from drawing constants of loaded modules.

    Otherwise the examples of a seed depend on all modules that the process has loaded.

    Hypothesis has no setting for this. So the function that collects the constants is replaced in this
    thread. The cache that mixes them is emptied and restored. Versions before 6.131 have neither, and nothing
    is changed in them.
    """
    providers: Any = None
    with contextlib.suppress(ImportError):
        providers = importlib.import_module("hypothesis.internal.conjecture.providers")
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


def pcg64_memory(bits: Any) -> tuple[memoryview, memoryview] | None:
    """Return the memory of a `PCG64`, or None if numpy has another layout.

    The first part is the state. The second part is the half of a draw that is kept for the next draw. Writing
    to this memory sets the state 15 times as fast as `bits.state = ...`.

    The generator must live as long as the memory is used. Checked with numpy 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> left, right = np.random.PCG64(1), np.random.PCG64(2)
    >>> pcg64_memory(right)[0][:] = packed_state(left)
    >>> left.state == right.state
    True
    """
    return _memory_of(bits) if _has_known_layout() else None


def packed_state(bits: Any) -> bytes:
    """Return the state and the increment of a `PCG64` as 32 bytes. In each, the lowest byte comes first."""
    whole = bits.state["state"]
    return bytes(whole["state"].to_bytes(16, "little") + whole["inc"].to_bytes(16, "little"))


def _memory_of(bits: Any) -> tuple[memoryview, memoryview]:
    address = bits.ctypes.state_address
    state = (ctypes.c_ubyte * 32).from_address(ctypes.c_size_t.from_address(address).value)
    spare = (ctypes.c_ubyte * 8).from_address(address + ctypes.sizeof(ctypes.c_size_t))
    return memoryview(state).cast("B"), memoryview(spare).cast("B")


@cache
def _has_known_layout() -> bool:
    import numpy as np

    bits = np.random.PCG64(1)
    state, spare = _memory_of(bits)
    if bytes(state) != packed_state(bits) or any(spare):
        return False
    np.random.Generator(bits).integers(2**32, dtype=np.uint32)  # keeps half of its draw
    kept = struct.pack("<II", bits.state["has_uint32"], bits.state["uinteger"])
    return bytes(state) == packed_state(bits) and bytes(spare) == kept and any(spare)


@contextlib.contextmanager
def _no_folder() -> Iterator[None]:
    """Keep Hypothesis from creating the folder `.hypothesis`."""
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
