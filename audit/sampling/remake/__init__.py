"""Copies of a subject for this process, and its import or pickling for other processes."""
