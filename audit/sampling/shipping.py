"""Pickles that are sent between processes. The subject goes to a child process, and outputs come back."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from audit.errors import Parameter, SubjectError
from audit.sampling.blocks import Block, Host
from audit.sampling.remake.modules import find_place, is_importable, made, taken_by_value, users_modules
from audit.sampling.remake.reseeding import Reseeding, reseed_process
from audit.sampling.remake.state import Pristine, Reader, Writer
from audit.sampling.seeds import Path
from audit.sampling.snapshots import memory
from audit.subject.signatures import Calling
from audit.subject.subject import Subject
from audit.values.outcomes import Opaque, without_addresses

_LONGEST = 1000


@dataclass(frozen=True)
class Parcel:
    """A subject prepared for another process.

    It is a pickled copy, or instructions to make the subject anew there (`Made`).

    Functions and classes of modules that the other process cannot import are sent by value. A global of a
    module is sent by name if it cannot be pickled. The other process then runs the file of that module.

    Parameters
    ----------
    text
        The pickled mechanism without its generators, or the pickled instructions.
    calling
        How the mechanism gets its generator.
    seed
        The root of the seed tree.
    by_value
        The names of the modules that the other process cannot import.

    Examples
    --------
    >>> from audit.subject.subject import adapt
    >>> Parcel.of(adapt(len), seed=0).mechanism((0,))([1, 2])
    2
    """

    text: bytes
    calling: Calling
    seed: int
    by_value: tuple[str, ...] = ()

    @classmethod
    def of(cls, subject: Subject, *, seed: int) -> "Parcel":
        """Return a subject prepared for another process.

        Raises
        ------
        SubjectError
            The subject cannot be pickled.
        """
        by_value = tuple(m.__name__ for m in users_modules() if not is_importable(m))
        try:
            return cls(pack(subject.object, by_value=by_value), subject.calling, seed, by_value)
        except Exception as error:  # a user's object may raise anything
            place = find_place(subject.object)
            if place is not None:
                return cls(pack(place), subject.calling, seed)
            raise SubjectError(
                f"`{subject.name}` cannot be sent to another process ({type(error).__name__}: {error}); "
                "audit it with ",
                *(Parameter("isolate", example="isolate=False"), "."),
            ) from error

    def mechanism(self, path: Path) -> Any:
        """Return the user's object, unpickled in this process. Its generators are seeded from `path`."""
        return made(unpack(self.text, Reseeding(self.seed, path)))

    def move_in(self, path: Path) -> Host:
        """Return the subject, ready to run here. All generators of this process are reseeded from `path`."""
        reseed_process(self.seed, path)
        mechanism = self.mechanism(path)
        pristine = Pristine(mechanism)
        pristine.sources.reseed(self.seed, path)
        return Host(mechanism, self.calling, pristine=pristine)


def pack(value: Any, *, by_value: Collection[str] = ()) -> bytes:
    """Return a pickle that `unpack` can read in another process.

    The other process must have the same `sys.path`.

    Parameters
    ----------
    value
        The value to send.
    by_value
        Modules whose functions and classes are sent by value.

    Examples
    --------
    >>> unpack(pack(lambda: 3))()
    3
    """
    with taken_by_value(by_value):
        return Writer(tracked=True).write(value)


def pack_outputs(value: Any) -> bytes:
    """Return a pickle of outputs for the parent process.

    Outputs that cannot be pickled become `Opaque`.

    Examples
    --------
    >>> unpack(pack_outputs([1.5, "a"]))
    [1.5, 'a']
    """
    try:
        return _Homeward().write(value)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return _Homeward().write(_portable(value))


def unpack(text: bytes, reseeding: Reseeding | None = None) -> Any:
    """Return the value that was packed.

    Examples
    --------
    >>> unpack(pack({"a": 1}))
    {'a': 1}
    """
    return Reader(text, reseeding or Reseeding(0, ())).load()


class _Homeward(Writer):
    def persistent_id(self, value: Any) -> Any:
        """Return the name of a class, which the parent process has too, or None."""
        if not isinstance(value, type) or value.__module__ == "builtins" or "<locals>" in value.__qualname__:
            return None
        return (value.__module__, value.__qualname__)

    def reducer_override(self, value: Any) -> Any:
        """Return the base class's reduction. Memory views are sent as copies, and local classes by value."""
        if type(value) is memoryview:
            return memory, (value.tobytes(), value.format, value.shape)
        return super().reducer_override(value)


def _portable(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(_portable(output) for output in value)
    if isinstance(value, Block):
        return replace(value, left=_portable(value.left), right=_portable(value.right))
    try:
        _Homeward().write(value)
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return Opaque(type(value).__name__, _text(value))
    return value


def _text(value: Any) -> str:
    try:
        return without_addresses(repr(value))[:_LONGEST]
    except Exception:  # noqa: BLE001  an object of the user's may refuse in any way
        return ""
