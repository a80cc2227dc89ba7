"""What a saved file names is imported and called only if its reader says that the file is trusted.

Loading a file imports nothing and calls nothing of the user's. Replaying it calls the subject and the
`convert` that the caller gives, on the databases of the file. A file names both, too: a name may be
anybody's, ``os:system`` for one, and what it is called with stands in the file.
"""

from __future__ import annotations

from audit.errors import AuditError


def require_trust(name: object, *, what: str, trust: bool) -> None:
    """Refuse to import what a file names unless the file is trusted.

    Parameters
    ----------
    name
        The name that the file gives.
    what
        What it names, as the caller may give it.
    trust
        Whether the file is trusted.

    Raises
    ------
    AuditError
        It is not.

    Examples
    --------
    >>> require_trust("os:system", what="`convert`", trust=False)
    Traceback (most recent call last):
    audit.errors.AuditError: The saved result names `os:system` as its `convert`, and a replay would import
    and call it; give `convert`, or trust the file (`trust=True`, `--trust`).
    """
    if not trust:
        raise AuditError(
            f"The saved result names `{name}` as its {what}, and a replay would import and call it; "
            f"give {what}, or trust the file (`trust=True`, `--trust`)."
        )
