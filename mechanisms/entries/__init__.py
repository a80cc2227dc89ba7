"""Catalogue entries outside their class's module: they use several folders, or pairs slow to find."""
