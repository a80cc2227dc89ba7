"""Calls on the workers of a Dask cluster.

Each thread of a Dask worker passes its calls to its own process on the same machine (`Processes`). There the
call runs in the main thread, alone in its interpreter, as on this machine. If a worker dies, Dask repeats its
calls on other workers.
"""

import logging
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any, Final

from audit.entry_points import optional
from audit.errors import AuditError, InvalidKind, Parameter
from audit.sampling.isolated.elsewhere import everywhere_on
from audit.sampling.isolated.processes import Elsewhere, Processes

#: Packages whose versions must be equal on all machines: with the seed, they determine the bytes of a result.
_PACKAGES: Final = ("dp-audit", "numpy", "scipy")
#: Seconds to wait for the scheduler's answer, and for a first worker. Increase it for a slow cluster.
_PATIENCE: Final = 10
#: The most calls at once on one worker. It must be larger than any worker's number of threads.
_THREADS: Final = 1024


@contextmanager
def cluster(client: Any) -> Iterator[None]:
    """Run audits on the workers of a Dask cluster while this context lasts.

    Commands with many audits (``dp-audit suite``, ``study`` and ``findings``) send whole audits to the
    workers. A single audit sends blocks of runs if the seed reproduces the subject's runs. Results have the
    same bytes as on one core. If a worker dies, another worker repeats its calls.

    Parameters
    ----------
    client : distributed.Client
        A synchronous client, connected to the cluster. Its workers need the same versions of Python,
        dp-audit, numpy and scipy. They also need the modules that the audited subjects import.

    Raises
    ------
    AuditError
        Dask is not installed, the cluster has no workers, or a worker has other versions of these packages.

    Examples
    --------
    >>> import audit
    >>> with audit.cluster("tcp://127.0.0.1:8786"):
    ...     pass
    Traceback (most recent call last):
    audit.errors.InvalidKind: The `client` must be a `distributed.Client` that is not asynchronous; got str.
    """
    distributed = _distributed()
    if not isinstance(client, distributed.Client) or client.asynchronous:
        wanted = "a `distributed.Client` that is not asynchronous"
        raise Parameter("client").wrong(f"must be {wanted}; got {type(client).__name__}.", kind=InvalidKind)
    _check_workers(client)
    with everywhere_on(_OnCluster(client)):
        yield


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Run audits on the cluster of a Dask scheduler in this context.

    Raises
    ------
    AuditError
        The scheduler does not answer, or `cluster` raises this error.
    """
    distributed = _distributed()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # our error message replaces Dask's
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise AuditError(
            "No Dask scheduler answers at ", Parameter("scheduler"), f" {address}: {error}"
        ) from None
    with client, cluster(client):
        yield


def _distributed() -> Any:
    return optional("distributed", missing="A cluster needs Dask: `pip install 'dp-audit[cluster]'`.")


class _OnCluster(Elsewhere):
    """An executor that makes calls on the workers of a cluster."""

    def __init__(self, client: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self.workers = max(1, sum(client.nthreads().values()))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        assert not keywords
        found: Future[Any] = self._executor.submit(_carried_out, function, arguments)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """Accept no more calls. Running calls continue until the client disconnects."""


def _carried_out(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the result of a call in a process on the worker's machine."""
    return _processes().submit(function, *arguments).result()


@cache
def _processes() -> Processes:
    return Processes(_THREADS)


def _check_workers(client: Any) -> None:
    """Raise an error if a cluster has no workers or other versions than ours."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except OSError:
        raise AuditError("The cluster has no workers; start one with `dask worker ADDRESS`.") from None

    # pickled by value, because it is a local function: workers may lack dp-audit
    def versions(names: tuple[str, ...]) -> dict[str, str]:
        found = {"Python": platform.python_version()}
        for name in names:
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = ""
        return found

    ours = versions(_PACKAGES)
    for address, theirs in client.run(versions, _PACKAGES).items():
        for name, version in ours.items():
            if theirs[name] != version:
                raise AuditError(
                    f"The worker {address} has {name} {theirs[name] or 'not installed'}, this process has "
                    f"{version}; results would differ. Install the same on all workers."
                )
