"""Entries that do not stand beside their class: they span rooms, or their pairs take a while to find."""
