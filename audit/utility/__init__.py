"""Utility audits: tests of a learner's claim (α, β) on the problems most likely to break it.

Above `words`; below `privacy`, `studies` and the doors.
"""
