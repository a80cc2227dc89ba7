"""Catalogue entries that need several folders, or pairs of databases that take long to find."""
