"""Runs in other processes: workers, a child that may hang or die, fresh ones that make the subject anew."""
