"""The databases of an audit: the domain, its extremes, neighbouring pairs, steps and paths between them.

It imports from `relations`; `search` and `verdict` import from it.
`domain` turns the audit's arguments into the domain, a `chosen.Databases`.
"""
