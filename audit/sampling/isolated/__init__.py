"""Runs in other processes: workers, a child that may hang or die, fresh ones that rebuild the subject."""
