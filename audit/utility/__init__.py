"""Utility audits: tests of a learner's claim (α, β) on the problems on which it is most likely to fail.

It imports from `words`; `privacy`, `studies` and the user interfaces (`doors`) import from it.
"""
