"""The parts that every mechanism needs for an audit, apart from the noise.

They are claims, parameters, queries and the worst neighbours.
"""
