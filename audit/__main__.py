"""``python -m audit`` runs the command ``dp-audit``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # drop the working directory, as `dp-audit` does: it may hold packages with our names
    from audit.doors.cli import main

    main()
