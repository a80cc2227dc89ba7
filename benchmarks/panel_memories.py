"""One private mechanism that remembers its last release, in several places.

Each call returns the previous release and a new one. Given all earlier outputs, a call adds one noisy
sum, so its loss is ε = 1. But the output of a call depends on the databases of earlier calls. An audit
that mistakes this for a difference between the two sides of a pair refutes a true claim.

If a docstring names no place, the memory of a function is in this module, and the memory of a class is in
each object.
"""

import colorsys
import ctypes
import functools
import os
import socket
import sqlite3
import struct
import threading
from datetime import UTC, datetime
from pathlib import Path


def noisy(database, rng):
    """The sum of records between 0 and 1, with Laplace noise of scale 1.

    ε is 1 if one record is replaced.
    """
    return float(sum(database)) + rng.laplace()


def exchange(place, release):
    """Replace the previous release by a new one, and return both."""
    previous, place[0] = place[0], release
    return previous, release


_GLOBAL = [0.0]
_THREAD = threading.local()


def in_global(database, rng):
    return exchange(_GLOBAL, noisy(database, rng))


def in_function(database, rng):
    previous = getattr(in_function, "last", 0.0)
    in_function.last = noisy(database, rng)
    return previous, in_function.last


def in_module(database, rng):
    """The memory is an attribute of another module."""
    previous = getattr(colorsys, "last_release", 0.0)
    colorsys.last_release = noisy(database, rng)
    return previous, colorsys.last_release


def in_thread(database, rng):
    previous = getattr(_THREAD, "last", 0.0)
    _THREAD.last = noisy(database, rng)
    return previous, _THREAD.last


@functools.cache
def _kept():
    return [0.0]


def in_cache(database, rng):
    """The memory is the object that a cached function returns."""
    return exchange(_kept(), noisy(database, rng))


def in_environment(database, rng):
    previous = float(os.environ.get("LAST_RELEASE", "0"))
    release = noisy(database, rng)
    os.environ["LAST_RELEASE"] = repr(release)
    return previous, release


def in_file(database, rng):
    """The memory is a file in the working directory."""
    path, release = Path("last_release"), noisy(database, rng)
    previous = float(path.read_text(encoding="ascii")) if path.exists() else 0.0
    path.write_text(repr(release), encoding="ascii")
    return previous, release


@functools.cache
def _table():
    connection = sqlite3.connect("releases.sqlite", isolation_level=None)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = OFF")
    connection.execute("CREATE TABLE IF NOT EXISTS last (release REAL)")
    connection.execute("INSERT INTO last SELECT 0 WHERE NOT EXISTS (SELECT * FROM last)")
    return connection


def in_sqlite(database, rng):
    """The memory is a table in the working directory."""
    [previous], release = _table().execute("SELECT release FROM last").fetchone(), noisy(database, rng)
    _table().execute("UPDATE last SET release = ?", [release])
    return previous, release


def _releasing():
    place, released = [0.0], None
    while True:
        database, rng = yield released
        released = exchange(place, noisy(database, rng))


_RELEASES = _releasing()
next(_RELEASES)


def in_generator(database, rng):
    return _RELEASES.send((database, rng))


def in_closure():
    """Return a function that remembers in a variable around it."""
    place = [0.0]

    def release(database, rng):
        return exchange(place, noisy(database, rng))

    return release


class InAttribute:
    def __init__(self):
        self.place = [0.0]

    def __call__(self, database, rng):
        return exchange(self.place, noisy(database, rng))


class InClass:
    last = 0.0

    def __call__(self, database, rng):
        previous, InClass.last = InClass.last, noisy(database, rng)
        return previous, InClass.last


class InCoroutine:
    """The memory is a local variable of a generator, which cannot be copied.

    The generator belongs to the object.
    """

    def __init__(self):
        self.releases = _releasing()
        next(self.releases)

    def __call__(self, database, rng):
        return self.releases.send((database, rng))


class BesideLock(InAttribute):
    """The memory is an attribute, beside another one that cannot be pickled."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def __call__(self, database, rng):
        with self.lock:
            return super().__call__(database, rng)


class InSocket:
    """The memory is a message in the kernel, sent but not yet received."""

    def __init__(self):
        self.ends = socket.socketpair()
        self.ends[0].send(struct.pack("d", 0.0))

    def __del__(self):
        for end in self.ends:
            end.close()

    def __call__(self, database, rng):
        [previous], release = struct.unpack("d", self.ends[1].recv(8)), noisy(database, rng)
        self.ends[0].send(struct.pack("d", release))
        return previous, release


class InPointer:
    """The memory is behind a pointer."""

    def __init__(self):
        self.place = ctypes.pointer(ctypes.c_double(0.0))

    def __call__(self, database, rng):
        previous, release = self.place.contents.value, noisy(database, rng)
        self.place.contents.value = release
        return previous, release


class Counting:
    """Answers with the number of the call and a noisy sum."""

    def __init__(self):
        self.calls = 0

    def __call__(self, database, rng):
        self.calls += 1
        return self.calls, noisy(database, rng)


class Drifting(Counting):
    """Noise that grows from call to call: ε = 1 at first, less later."""

    def __call__(self, database, rng):
        self.calls += 1
        return float(sum(database)) + rng.laplace(scale=1 + self.calls / 1_000)


class Resting:
    """Answers "resting" for ten calls after an answer above 3."""

    def __init__(self):
        self.rests = 0

    def __call__(self, database, rng):
        if self.rests:
            self.rests -= 1
            return "resting"
        answer = noisy(database, rng)
        self.rests = 10 if answer > 3 else 0
        return answer


class Accountant:
    """Gives fifty answers, then None."""

    def __init__(self):
        self.left = 50

    def __call__(self, database, rng):
        self.left -= 1
        return noisy(database, rng) if self.left >= 0 else self.refuse()

    def refuse(self):
        return None


class RaisingAccountant(Accountant):
    def refuse(self):
        raise RuntimeError("the budget is spent")


class Stamped:
    """Answers that carry the time of the call."""

    def __call__(self, database, rng):
        return datetime.now(tz=UTC), noisy(database, rng)
