"""Code that every layer uses: outcomes of runs, equality and texts of values, progress events, lazy imports.

Here are also the sizes of outputs in bytes, calls of higher layers by name, and patches of other libraries.
Nothing here imports another layer. Import from its modules, because the package itself exports nothing.
"""
