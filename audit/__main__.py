"""``python -m audit``: the command ``dp-audit``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the working directory, as for `dp-audit`: it may hold packages called like ours
    from audit.doors.cli import main

    main()
