"""Mechanisms that choose one of many solutions by a score.

They are the exponential mechanism, the choosing mechanism and A_dist.
"""
