"""The databases of an audit: the domain, its extremes, neighbouring pairs, steps and paths between them.

`domain` turns the audit's arguments into the domain, a `chosen.Databases`.
"""
