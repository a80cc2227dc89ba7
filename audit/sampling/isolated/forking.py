"""Start processes by forking a template process.

The template has loaded our package and nothing of the user's. So a process forked from it is as new as one
that was started separately. It starts in milliseconds instead of half a second. If processes cannot fork,
each is started separately.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

import numpy as np

from audit.sampling.isolated.pipes import read_frame, write_frame
from audit.sampling.isolated.starting import can_fork, environment, launch

#: The template loads these modules before it forks: those whose `main` it calls.
_LOADED: Final = ("audit.sampling.isolated.child", "audit.sampling.isolated.serving")
_NUMBER: Final = struct.Struct(">q")
#: No request comes with more file descriptors.
_MOST: Final = 16


class Forked:
    """A process that was forked from the template.

    `kill` and `wait` are those of `subprocess.Popen`.

    Parameters
    ----------
    pid
        The process id.
    status
        A file descriptor through which the exit code comes when the process ends.
    """

    def __init__(self, pid: int, status: int) -> None:
        self._pid = pid
        self._status = status
        self._code: int | None = None
        self._waiting = threading.Lock()  # several threads may wait; one of them reads and closes the pipe

    def kill(self) -> None:
        """End the process immediately."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0.0)  # another process may have the number of one that has ended
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code of the process.

        If a signal ended the process, return minus the number of the signal.

        Raises
        ------
        subprocess.TimeoutExpired
            The process still runs after `timeout` seconds.
        """
        late = subprocess.TimeoutExpired(f"process {self._pid}", timeout or 0.0)
        if not self._waiting.acquire(timeout=-1 if timeout is None else timeout):
            raise late
        try:
            if self._code is None:
                if not select.select([self._status], [], [], timeout)[0]:
                    raise late
                told = os.read(self._status, _NUMBER.size)
                os.close(self._status)
                self._code = _NUMBER.unpack(told)[0] if told else -signal.SIGKILL
            return self._code
        finally:
            self._waiting.release()


class _Template:
    """The template process of this process.

    Parameters
    ----------
    shares_cores
        Whether the processes share the cores with others. If so, linear algebra gets one thread.
    """

    def __init__(self, *, shares_cores: bool) -> None:
        self._socket, theirs = socket.socketpair()
        self._process = launch(__name__, [theirs.detach()], shares_cores=shares_cores)

    def fork(self, module: str, pipes: Sequence[int], variables: Mapping[str, str]) -> Forked:
        """Return a new process that calls `main` of `module` with these pipes."""
        status, told = os.pipe()
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(os.close, status)
            try:
                socket.send_fds(self._socket, [b"\0"], [told, *pipes])
                write_frame(self._socket.fileno(), json.dumps([module, dict(variables), sys.path]).encode())
            finally:
                os.close(told)
            answer = read_frame(self._socket.fileno())
            if answer is None:
                raise BrokenPipeError  # the template has ended
            on_failure.pop_all()
        return Forked(_NUMBER.unpack(answer)[0], status)

    def close(self) -> None:
        """End the template but not the processes that it forked."""
        self._socket.close()
        self._process.wait()


#: The templates, by the process that started them (a fork must not use those of its parent) and by whether
#: their processes share the cores.
_TEMPLATES: dict[tuple[int, bool], _Template] = {}
_LOCK = threading.Lock()


def start(module: str, pipes: Sequence[int], *, shares_cores: bool) -> "Forked | subprocess.Popen[bytes]":
    """Return a new process that calls `main` of one of our modules.

    Parameters
    ----------
    module
        The full name of the module.
    pipes
        The file descriptors. They are closed in this process, because the new process owns them.
    shares_cores
        Whether the new process shares the cores with others. If so, linear algebra gets one thread.
    """
    if not can_fork():
        return launch(module, pipes, shares_cores=shares_cores)
    key = os.getpid(), shares_cores
    try:
        with _LOCK:
            for _ in range(2):  # someone may have killed the first
                template = _TEMPLATES.get(key) or _Template(shares_cores=shares_cores)
                _TEMPLATES[key] = template
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    return template.fork(module, pipes, environment(shares_cores=shares_cores))
                _TEMPLATES.pop(key).close()
        raise RuntimeError("The process that starts the audit's other processes ended twice.")
    finally:
        for fd in pipes:
            os.close(fd)


@atexit.register
def _close() -> None:
    for key in [key for key in _TEMPLATES if key[0] == os.getpid()]:
        _TEMPLATES.pop(key).close()


def main(channel: int) -> None:
    """Be a template until the socket is closed.

    Each request over the socket makes it fork a process.

    Parameters
    ----------
    channel
        The file descriptor of the socket.
    """
    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()  # the forked processes share the memory of everything that is loaded
    requests = socket.socket(fileno=channel)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    statuses: dict[int, int] = {}
    while True:
        ready = select.select([channel, wake], [], [])[0]
        if wake in ready:
            os.read(wake, 4096)
            _report_ended(statuses)
        if channel in ready:
            sign, fds, *_ = socket.recv_fds(requests, 1, _MOST)
            frame = read_frame(channel) if sign else None
            if frame is None:
                return
            status, *pipes = fds
            pid = os.fork()
            if pid == 0:
                for fd in (channel, wake, waker, status, *statuses.values()):
                    os.close(fd)
                _become(pipes, *json.loads(frame))
            for fd in pipes:
                os.close(fd)
            statuses[pid] = status
            write_frame(channel, _NUMBER.pack(pid))


def _report_ended(statuses: dict[int, int]) -> None:
    """Send the exit codes of the processes that have ended."""
    while statuses:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        fd = statuses.pop(pid)
        with contextlib.suppress(BrokenPipeError):  # nobody wants to know
            os.write(fd, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(fd)


def _become(pipes: Sequence[int], module: str, variables: dict[str, str], paths: list[str]) -> NoReturn:
    """Call `main` of a module as in a process that was started separately."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()  # the parent handles Ctrl-C; the process ends when its pipes close
        os.environ.clear()
        os.environ.update(variables)
        sys.path[:] = paths
        np.random.seed()  # noqa: NPY002  numpy's global generator, which the fork shares with its brothers
        importlib.import_module(module).main(*pipes)
        code = 0
    except BaseException:  # noqa: BLE001  Python would do the same
        traceback.print_exc()
    finally:
        os._exit(code)
