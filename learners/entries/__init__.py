"""Entries that are not beside their class: they need a study, or sizes that take long to find."""
