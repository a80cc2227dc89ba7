"""A mechanism kept to itself: what it prints is counted; what it warns of and sets is its own business."""

import contextlib
import io
import warnings
from collections.abc import Iterator

from audit.subject.surroundings import put_back


class Printed(io.TextIOBase):
    """A text stream that keeps nothing but the number of characters.

    Examples
    --------
    >>> stream = Printed()
    >>> print("noise", file=stream)
    >>> stream.count
    6
    """

    encoding = "utf-8"

    def __init__(self) -> None:
        self.count = 0

    def write(self, text: str, /) -> int:
        """Count `text`."""
        self.count += len(text)
        return len(text)

    def writable(self) -> bool:
        """Tell that it can be written to."""
        return True


@contextlib.contextmanager
def quiet() -> Iterator[Printed]:
    """Swallow what is printed inside, ignore warnings, and put back the settings that are changed.

    Examples
    --------
    >>> with quiet() as printed:
    ...     print("noise")
    >>> printed.count
    6
    """
    printed = Printed()
    with (
        put_back(),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("ignore")
        yield printed
