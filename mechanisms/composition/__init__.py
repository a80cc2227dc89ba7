"""Mechanisms composed of others (sequential, parallel, post-processed), their joint claims and their budget.

`accounting` computes the claims and `budget` keeps one from being overspent. Neither depends on a particular
mechanism.
"""
