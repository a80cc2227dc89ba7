"""Averages of all entries' local answers, each the answer to one statistical query.

The subjects are in `averages`. The other modules say how many entries an average needs, how often it misses
its tolerance, and which law a sum of Laplace noises has.
"""
