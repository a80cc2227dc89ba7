"""Which databases an audit looks at: a domain read, its edges, neighbours, steps and paths between them.

Above `relations`; below `search` and `verdict`. `chosen.Databases` is what an audit is given.
"""
