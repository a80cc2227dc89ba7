"""The parts that make a mechanism a subject of an audit: claim, parameters, queries, worst neighbours.

Nothing here adds noise. Every mechanism of this package is built on these modules.
"""
