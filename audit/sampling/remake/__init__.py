"""Copies of a subject, and ways to make it in other processes."""
