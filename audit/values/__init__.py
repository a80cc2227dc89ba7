"""Code that every layer uses: outcomes of runs, equality and texts of values, progress events, lazy imports.

Also sizes of outputs in bytes, functions of higher layers called by name, and patches of other libraries.
Nothing here imports another layer. Import from the modules: this package exports nothing.
"""
