"""Mechanisms that choose one of many solutions by a score: exponential, choosing, A_dist.

Beside them: how scores are given, how far a score may grow, and the databases on which choosing is hardest.
"""
