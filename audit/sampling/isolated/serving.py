"""The process that carries out calls, one after another, for the process that started it."""

import os
import select
import sys
import threading
import traceback
from typing import Any

from audit.errors import AuditError
from audit.sampling.isolated.pipes import read_frame, write_frame
from audit.sampling.isolated.starting import share_cores
from audit.sampling.shipping import pack_outputs, unpack


class CallFailed(AuditError):  # noqa: N818  says what happened, as `CorruptFile` does
    """A call raised an error that is none of ours.

    Examples
    --------
    >>> str(CallFailed("ValueError: no such table"))
    'ValueError: no such table'
    """


def main(requests: int, answers: int) -> None:
    """Answer the calls that come on one pipe on another, until the first is closed.

    Parameters
    ----------
    requests
        Descriptor that calls come from: each a working directory, where modules are found, the packed
        function, and its packed arguments.
    answers
        Descriptor for pairs: whether the call returned, and what; else the error.
    """
    share_cores()
    threading.Thread(target=_end_with, args=(requests,), daemon=True).start()
    while (frame := read_frame(requests)) is not None:
        write_frame(answers, pack_outputs(_answer(frame)))


def _end_with(requests: int) -> None:
    """End this process with the one that started it, whatever it is doing."""
    poll = select.poll()
    poll.register(requests, 0)  # only the end of the other side is reported
    poll.poll()
    os._exit(0)


def _answer(frame: bytes) -> tuple[bool, Any]:
    try:
        directory, paths, call = unpack(frame)
        os.chdir(directory)
        sys.path[:] = paths
        function, arguments = unpack(call)
        return True, function(*arguments)
    except AuditError as error:
        return False, error
    except BaseException as error:  # noqa: BLE001  whatever the user's code raises
        failed = CallFailed(f"{type(error).__name__}: {error}")
        failed.add_note("".join(traceback.format_exception(error)))
        return False, failed
