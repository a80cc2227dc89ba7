"""Utility audits: tests of a learner's claim (α, β) on the problems on which it is most likely to fail.

Imports from `words`; `privacy`, `studies` and the doors import from it.
"""
