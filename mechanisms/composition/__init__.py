"""Mechanisms made of mechanisms: in turn, side by side, processed; what they claim together, and the budget.

`accounting` computes the claims and `budget` keeps one from being overspent. Neither knows a mechanism.
"""
