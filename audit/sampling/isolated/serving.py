"""The main function of a process that makes calls one after another."""

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
    """A call raised an error that is not an `AuditError`.

    Examples
    --------
    >>> str(CallFailed("ValueError: no such table"))
    'ValueError: no such table'
    """


def main(requests: int, answers: int) -> None:
    """Read calls from one pipe and write their results to another.

    This ends when the first pipe is closed.

    Parameters
    ----------
    requests
        The file descriptor of calls. Each call is a working directory, the module search path, the packed
        function and its packed arguments.
    answers
        The file descriptor for pairs: whether the call returned, and its result or error.
    """
    share_cores()
    threading.Thread(target=_end_with, args=(requests,), daemon=True).start()
    while (frame := read_frame(requests)) is not None:
        write_frame(answers, pack_outputs(_answer(frame)))


def _end_with(requests: int) -> None:
    """End this process as soon as the process that started it ends."""
    poll = select.poll()
    poll.register(requests, 0)  # reports only that the other side has closed
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
