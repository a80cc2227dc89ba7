"""Learners and sanitizers of the source texts as subjects."""
