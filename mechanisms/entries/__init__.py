"""Entries that are not beside their class: they use several folders, or their pairs take long to find."""
