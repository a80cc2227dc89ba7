"""Entries that do not stand beside their class: they span folders, or their pairs take a while to find."""
