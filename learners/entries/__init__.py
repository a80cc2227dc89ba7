"""Entries that do not stand beside their class: they need a study, or sizes that take a while to find."""
