"""Randomized response: a record answers a question truthfully with a known probability.

Yes or no, one of k answers, or the label of an example whose features are public.
"""
