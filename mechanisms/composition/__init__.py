"""Mechanisms made of mechanisms: in turn, side by side, processed; their joint claims and their budget.

`accounting` computes the claims and `budget` keeps one from being overspent. Neither knows a mechanism.
"""
