"""Starting a Python process that finds our package and the user's modules."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Our package is loaded from its own file, and what it needs from where this process found it, before the
# user's folders take over: they may hold an `audit.py` of their own.
_START: Final = """
import importlib.util, json, os, sys
package, ours, theirs = json.loads(sys.argv[1])
sys.path[:] = ours
spec = importlib.util.spec_from_file_location("audit", package)
sys.modules["audit"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["audit"])
from {module} import {function}
sys.path[:] = theirs
{function}({numbers})
os._exit(0)
"""
#: Environment variable that forbids to fork: every process is then started anew.
SPAWN: Final = "DP_AUDIT_SPAWN"
_OURS: Final = tuple(sys.path)
#: One thread of linear algebra in each of the processes that share the cores, unless the user says otherwise:
#: where processes start and end, threads that wait cost more than all else.
_ONE_THREAD: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


class _Cores:
    """Whether this process has the cores for itself."""

    shared = False


def share_cores() -> None:
    """Note that other processes work beside this one, each on a core."""
    _Cores.shared = True


def usable_cores() -> int:
    """Return how many cores this process may use: one, if others like it work beside it.

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    if _Cores.shared:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(module: str, pipes: Sequence[int], *, shares_cores: bool) -> subprocess.Popen[bytes]:
    """Return a new process that calls the `main` of one of our modules with these ends of pipes, and ends.

    Parameters
    ----------
    module
        Its full name.
    pipes
        Descriptors. They are closed here: they belong to the process.
    shares_cores
        Whether other processes work beside it, so that linear algebra gets one thread.
    """
    try:
        return subprocess.Popen(  # noqa: S603  our own interpreter
            _command(f"{module}:main", pipes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=pipes,
            env={**_ONE_THREAD, **os.environ} if shares_cores else None,
            start_new_session=True,  # Ctrl-C is the parent's; the process ends with its pipes
        )
    finally:
        for fd in pipes:
            os.close(fd)


def can_fork() -> bool:
    """Return whether processes may fork: not on every system, and not where `DP_AUDIT_SPAWN` is set.

    Examples
    --------
    >>> os.environ["DP_AUDIT_SPAWN"] = "1"
    >>> can_fork()
    False
    >>> del os.environ["DP_AUDIT_SPAWN"]
    """
    return hasattr(os, "fork") and not os.environ.get(SPAWN)


def spawn(function: str, numbers: Sequence[int], *, inherited: int) -> int:
    """Return the id of a new process that calls one of our functions, ``module:function``, and ends.

    For a process that `start` has started: what that one inherited is inherited too, and one descriptor more.

    Parameters
    ----------
    function
        Its full name.
    numbers
        Its arguments.
    inherited
        A descriptor; it stays open here.
    """
    os.set_inheritable(inherited, True)  # noqa: FBT003  its only argument
    return os.posix_spawn(sys.executable, _command(function, numbers), os.environ, setpgroup=0)


def _command(function: str, numbers: Sequence[int]) -> list[str]:
    module, _, name = function.partition(":")
    program = _START.format(module=module, function=name, numbers=", ".join(map(str, numbers)))
    return [sys.executable, "-P", "-c", program, _places()]


def _places() -> str:
    """Return where a process finds our package, what that imports, and the user's modules."""
    package = Path(__file__).resolve().parents[2] / "__init__.py"
    return json.dumps([str(package), _OURS, sys.path])
