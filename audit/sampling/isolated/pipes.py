"""Messages between parent and child. Frames have any length. Small records report the child's progress."""

import os
import select
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

STARTED: Final = 1  # value: process id of a new worker
ENDED: Final = 2  # value: the wait status of the worker
BEAT: Final = 3  # value: number of ended runs; 0 is a worker's first beat, sent once it has its subject

_LENGTH: Final = struct.Struct(">Q")
_RECORD: Final = struct.Struct(">qq")
_PIECE: Final = 2**20


@dataclass(frozen=True)
class Record:
    """A small message.

    It is written in one step, so messages of two writers to one pipe never mix.

    Examples
    --------
    >>> Record(BEAT, 7).value
    7
    """

    kind: int
    value: int


def write_frame(fd: int, payload: bytes) -> None:
    """Write a payload with its length before it.

    Examples
    --------
    >>> reading, writing = os.pipe()
    >>> write_frame(writing, b"abc")
    >>> read_frame(reading)
    b'abc'
    """
    view = memoryview(_LENGTH.pack(len(payload)) + payload)
    while view:
        view = view[os.write(fd, view) :]


def read_frame(fd: int) -> bytes | None:
    """Return the next frame. If the other end of the pipe is closed, return None."""
    head = _read_exactly(fd, _LENGTH.size)
    return None if head is None else _read_exactly(fd, _LENGTH.unpack(head)[0])


def write_record(fd: int, kind: int, value: int) -> None:
    """Write a small message."""
    os.write(fd, _RECORD.pack(kind, value))


class Inbox:
    """Receives frames and records from a child.

    Parameters
    ----------
    frames, records
        The reading ends of the two pipes.

    Examples
    --------
    >>> (frames, to_frames), (records, to_records) = os.pipe(), os.pipe()
    >>> write_frame(to_frames, b"abc")
    >>> write_record(to_records, BEAT, 7)
    >>> list(Inbox(frames, records).receive(timeout=1.0))
    [b'abc', Record(kind=3, value=7)]
    """

    def __init__(self, frames: int, records: int) -> None:
        self._frames = frames
        self._records = records
        self._partial = bytearray()
        self._poll = select.poll()
        for fd in (frames, records):
            self._poll.register(fd, select.POLLIN)

    def receive(self, timeout: float | None) -> Iterator[bytes | Record | None]:
        """Yield the messages that have come, frames first.

        Wait at most `timeout` seconds. The wait also ends if a part of a frame arrives. This part is not
        yielded. None means that the child has ended.
        """
        events = dict(self._poll.poll(None if timeout is None else timeout * 1000))
        if not events:
            raise TimeoutError
        if self._frames in events:
            piece = os.read(self._frames, _PIECE)
            self._partial += piece
            yield from self._whole_frames()
        if self._records in events:
            record = _read_exactly(self._records, _RECORD.size)
            yield None if record is None else Record(*_RECORD.unpack(record))

    def drain(self) -> Iterator[bytes]:
        """Yield the complete frames of a child that has ended."""
        while select.select([self._frames], [], [], 0)[0]:
            piece = os.read(self._frames, _PIECE)
            if not piece:
                break
            self._partial += piece
        yield from self._whole_frames()
        self._partial.clear()

    def _whole_frames(self) -> Iterator[bytes]:
        while len(self._partial) >= _LENGTH.size:
            stop = _LENGTH.size + _LENGTH.unpack_from(self._partial)[0]
            if len(self._partial) < stop:
                return
            frame = bytes(self._partial[_LENGTH.size : stop])
            del self._partial[:stop]
            yield frame


def _read_exactly(fd: int, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        piece = os.read(fd, min(size - len(parts), _PIECE))
        if not piece:
            return None
        parts += piece
    return bytes(parts)
