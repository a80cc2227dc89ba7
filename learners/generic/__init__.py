"""Learners of any finite class: by the exponential mechanism, private in the labels alone, by compression.

They need only the class, the sample and `learners.finite`.
"""
