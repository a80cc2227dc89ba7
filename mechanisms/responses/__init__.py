"""Randomized response, which answers truthfully with a known probability.

The answer is yes or no, one of k, or the label of an example whose features are public.
"""
