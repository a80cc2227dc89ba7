"""What stops a block of runs."""

from audit.errors import AuditError


class MutatedInput(AuditError):  # noqa: N818  it is a fact about the mechanism, not a failure of ours
    """The mechanism changed the database that it was given; each run needs a copy of its own.

    Examples
    --------
    >>> issubclass(MutatedInput, AuditError)
    True
    """


class TimeLimit(BaseException):  # as KeyboardInterrupt: not for a mechanism's `except Exception`
    """A run passed its time limit."""
