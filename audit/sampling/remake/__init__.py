"""Copies of a subject for this process, and ways to import or pickle the subject for other processes."""
