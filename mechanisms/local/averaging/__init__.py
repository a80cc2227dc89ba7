"""Averages of all entries' local answers, each the answer to one statistical query.

The subjects are in `averages`. The other modules say how large a sample they need, how often they miss their
tolerance, and which law a sum of Laplace noises has.
"""
