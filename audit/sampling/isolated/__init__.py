"""Runs in other processes: workers, children that may hang or die, fresh processes with a new subject."""
