"""Mechanisms composed of others (sequential, parallel, post-processed), their joint claims, and a budget.

`accounting` computes the claims; `budget` refuses mechanisms that would overspend a budget. Neither depends
on a particular mechanism.
"""
