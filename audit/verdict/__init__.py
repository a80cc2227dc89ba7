"""Verdicts on privacy claims: by exact laws or by runs, with confirmation, and replays of saved witnesses.

This package imports from `search`, `sampling` and `results`; `words`, `utility` and the user interfaces
(`doors`) import from it.
"""
