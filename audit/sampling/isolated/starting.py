"""Start Python processes that can import our package and the user's modules."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

# Our package and its requirements are loaded from where this process found them. Only then are the user's
# folders added to the search path, because these may contain another `audit.py`.
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
#: If this environment variable is set, no process forks; each new process is started separately.
SPAWN: Final = "DP_AUDIT_SPAWN"
_OURS: Final = tuple(sys.path)
#: Each process that shares the cores uses one thread for linear algebra, unless the user sets these
#: variables. If processes start and end often, idle threads would take most of the time.
_ONE_THREAD: Final = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


class _Cores:
    """Whether other processes share the cores with this one."""

    shared = False


def share_cores() -> None:
    """Record that other processes share the cores with this one."""
    _Cores.shared = True


def usable_cores() -> int:
    """Return the number of cores that this process may use.

    If it shares the cores with other processes, return 1.

    Examples
    --------
    >>> usable_cores() >= 1
    True
    """
    if _Cores.shared:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def launch(module: str, pipes: Sequence[int], *, shares_cores: bool) -> subprocess.Popen[bytes]:
    """Start a process without a fork. It otherwise does what `audit.sampling.isolated.forking.start` does."""
    try:
        return subprocess.Popen(  # noqa: S603  our own interpreter
            _command(f"{module}:main", pipes),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=pipes,
            env=environment(shares_cores=shares_cores),
            start_new_session=True,  # the parent handles Ctrl-C; the process ends when its pipes close
        )
    finally:
        for fd in pipes:
            os.close(fd)


def environment(*, shares_cores: bool) -> dict[str, str]:
    """Return the environment variables of a new process.

    Examples
    --------
    >>> "OPENBLAS_NUM_THREADS" in environment(shares_cores=True)
    True
    """
    return {**(_ONE_THREAD if shares_cores else {}), **os.environ}


def can_fork() -> bool:
    """Return whether processes may fork.

    The system must be able to, and `DP_AUDIT_SPAWN` must not be set.

    Examples
    --------
    >>> os.environ["DP_AUDIT_SPAWN"] = "1"
    >>> can_fork()
    False
    >>> del os.environ["DP_AUDIT_SPAWN"]
    """
    return hasattr(os, "fork") and not os.environ.get(SPAWN)


def spawn(function: str, numbers: Sequence[int], *, inherited: int) -> int:
    """Start a process that calls one of our functions, and return its id.

    Call this in a process made by `start`. The new process inherits the descriptors of that process, and
    `inherited`.

    Parameters
    ----------
    function
        The full name of the function.
    numbers
        The arguments of the function.
    inherited
        A file descriptor. It also stays open in this process.
    """
    os.set_inheritable(inherited, True)  # noqa: FBT003  its only argument
    return os.posix_spawn(sys.executable, _command(function, numbers), os.environ, setpgroup=0)


def _command(function: str, numbers: Sequence[int]) -> list[str]:
    module, _, name = function.partition(":")
    program = _START.format(module=module, function=name, numbers=", ".join(map(str, numbers)))
    package = Path(__file__).resolve().parents[2] / "__init__.py"
    return [sys.executable, "-P", "-c", program, json.dumps([str(package), _OURS, sys.path])]
