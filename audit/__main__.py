"""``python -m audit``: the command ``dp-audit``."""

from audit.doors.cli import main

if __name__ == "__main__":
    main()
