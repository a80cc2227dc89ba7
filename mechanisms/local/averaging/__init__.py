"""A_g: the average of all entries' local answers, which answers one statistical query.

How large a sample it needs, how often it misses its tolerance, and the exact law of a sum of Laplace noises.
"""
