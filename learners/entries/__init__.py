"""Entries that need a study, or sizes slow to compute; all other entries are beside their class."""
