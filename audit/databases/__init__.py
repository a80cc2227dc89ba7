"""The databases of an audit, their neighbours, and paths between them.

`domain` turns the audit's arguments into the domain, a `chosen.Databases`.

The package imports from `relations`; `search` and `verdict` import from it.
"""
