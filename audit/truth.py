"""Values without a truth value: `assert result` would pass whatever was found."""

from typing import ClassVar, NoReturn

from audit.errors import InvalidKind

__all__ = ["NoTruth"]


class NoTruth:
    """A value whose `bool` raises `InvalidKind`, with what to write instead.

    Examples
    --------
    >>> class Result(NoTruth):
    ...     _instead = "`result.verdict`"
    >>> assert Result()
    Traceback (most recent call last):
    audit.errors.InvalidKind: A `Result` is neither true nor false: look at `result.verdict`.
    """

    _instead: ClassVar[str]

    def __bool__(self) -> NoReturn:
        raise InvalidKind(f"A `{type(self).__name__}` is neither true nor false: look at {self._instead}.")
