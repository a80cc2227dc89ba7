"""Utility audits: tests of a learner's claim (α, β) on the problems where the learner is likely to fail.

This package imports from `words`; `privacy`, `studies` and the user interfaces (`doors`) import from it.
"""
