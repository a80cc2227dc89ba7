"""What decides: the exact path and the statistical one, confirming in fresh processes, a witness drawn again.

Above `search`, `sampling` and `results`; below `words`, `utility` and the doors.
"""
