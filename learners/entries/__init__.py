"""Entries kept apart from their class: they need a study, or sizes that are slow to compute."""
