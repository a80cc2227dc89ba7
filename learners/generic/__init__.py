"""Learners of any finite class: by the exponential mechanism, private in the labels alone, by compression.

Beside the class and the sample they need no more than `learners.finite` holds.
"""
