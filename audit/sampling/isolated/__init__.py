"""Runs in other processes: workers, children that may hang or die, fresh ones that remake the subject."""
