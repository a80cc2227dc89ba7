"""Mechanisms that choose one of many solutions by a score: exponential, choosing, A_dist.

Other modules check scores and their growth, and give the databases on which choosing is hardest.
"""
