"""Verdicts: the exact and the statistical path, confirmation in fresh processes, replays of saved witnesses.

Above `search`, `sampling` and `results`; below `words`, `utility` and the doors.
"""
