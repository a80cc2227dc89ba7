"""Copies of a subject in this process, and its import or pickling for another process."""
