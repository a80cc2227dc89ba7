"""Utility audits, which test whether a learner is as accurate as it claims.

This package imports from `words`. `privacy`, `studies` and the user interfaces (`doors`) import from it.
"""
