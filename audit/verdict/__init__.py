"""Verdicts on privacy claims, by exact laws or by runs.

Refutations are confirmed, and saved witnesses are replayed.

This package imports from `search`, `sampling` and `results`; `words`, `utility` and the user interfaces
(`doors`) import from it.
"""
