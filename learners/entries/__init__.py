"""Entries that need a study, or sizes that are slow to compute."""
