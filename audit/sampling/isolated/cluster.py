"""Calls on the workers of a Dask cluster.

A thread of a Dask worker hands its call to a process of its own on that machine (`Processes`): there the
call has the main thread and the interpreter for itself, as it has here. Dask makes the calls of a worker that
dies again on others.
"""

import logging
import platform
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from typing import Any, Final

from audit.errors import AuditError, InvalidKind, Parameter
from audit.sampling.isolated.elsewhere import everywhere_on
from audit.sampling.isolated.processes import Processes

#: What decides the bytes of a result, beside the seed.
_PACKAGES: Final = ("dp-audit", "numpy", "scipy")
#: Seconds in which a scheduler answers, and in which it has a worker.
_PATIENCE: Final = 10
#: More calls at once than any worker has threads.
_THREADS: Final = 1024


@contextmanager
def cluster(client: Any) -> Iterator[None]:
    """Carry out audits on the workers of a Dask cluster while this context lasts.

    Many audits (``dp-audit suite``, ``study`` and ``findings``) go there whole; of a single one, the runs of
    a subject that its seed reproduces go there, in blocks. Results have the same bytes as on one core. What a
    worker that dies was at is carried out again by another.

    Parameters
    ----------
    client : distributed.Client
        Connected to the cluster, and not asynchronous. Its workers need the same versions of Python,
        dp-audit, numpy and scipy, and what the audited subjects import.

    Raises
    ------
    AuditError
        Dask is not installed, the cluster has no workers, or one of them has other versions.

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
        raise InvalidKind(
            "The ",
            Parameter("client"),
            f" must be a `distributed.Client` that is not asynchronous; got {type(client).__name__}.",
        )
    _check_workers(client)
    with everywhere_on(_OnCluster(client)):
        yield


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Carry out audits on the cluster of the Dask scheduler at this address while this context lasts.

    Raises
    ------
    AuditError
        It does not answer, or for the reasons of `cluster`.
    """
    distributed = _distributed()
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what it says is said in our one line
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:  # a TimeoutError is an OSError
        raise AuditError(
            "No Dask scheduler answers at ", Parameter("scheduler"), f" {address}: {error}"
        ) from None
    with client, cluster(client):
        yield


def _distributed() -> Any:
    try:
        import distributed  # only for a cluster
    except ImportError:
        raise AuditError("A cluster needs Dask: `pip install 'dp-audit[cluster]'`.") from None
    return distributed


class _OnCluster(Executor):
    """Carries out calls on the workers of a cluster."""

    def __init__(self, client: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self.workers = max(1, sum(client.nthreads().values()))

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        """Return the future of a call."""
        assert not keywords
        found: Future[Any] = self._executor.submit(_carried_out, function, arguments)
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002
        """End; what is under way goes on until the client leaves."""


def _carried_out(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return what a function gives in a process beside this worker."""
    return _processes().submit(function, *arguments).result()


@cache
def _processes() -> Processes:
    return Processes(_THREADS)


def _check_workers(client: Any) -> None:
    """Refuse workers that there are none of, or with other versions than ours."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except OSError:
        raise AuditError("The cluster has no workers; start one with `dask worker ADDRESS`.") from None
    ours = _versions_here(_PACKAGES)
    for address, theirs in client.run(_asker(), _PACKAGES).items():
        for name, version in ours.items():
            if theirs[name] != version:
                raise AuditError(
                    f"The worker {address} has {name} {theirs[name] or 'not installed'}, this process has "
                    f"{version}; results would differ. Install the same on all workers."
                )


def _asker() -> Callable[[tuple[str, ...]], Mapping[str, str]]:
    """Return a function that travels whole: a worker without dp-audit could not import it."""

    def versions(names: tuple[str, ...]) -> dict[str, str]:
        found = {"Python": platform.python_version()}
        for name in names:
            try:
                found[name] = metadata.version(name)
            except metadata.PackageNotFoundError:
                found[name] = ""
        return found

    return versions


def _versions_here(names: tuple[str, ...]) -> Mapping[str, str]:
    return _asker()(names)
