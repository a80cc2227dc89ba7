"""Utility audits: whether a learner keeps its (α, β), on the problems likeliest to break it.

Above `words`; below `privacy`, `studies` and the doors.
"""
