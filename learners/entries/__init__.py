"""Catalogue entries that need a study or are slow to compute."""
