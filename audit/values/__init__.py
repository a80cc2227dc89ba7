"""Code that every layer uses.

It holds the outcomes of runs, equality and texts of values, progress events and lazy imports. It also holds
the sizes of outputs in bytes, calls of higher layers by name, and patches of other libraries.

Nothing here imports another layer. Import from its modules, because the package itself exports nothing.
"""
