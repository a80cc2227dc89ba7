"""Verdicts on privacy claims: by exact laws or by runs, with confirmation, and replays of saved witnesses.

Imports from `search`, `sampling` and `results`; `words`, `utility` and the doors import from it.
"""
