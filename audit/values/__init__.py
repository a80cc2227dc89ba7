"""What every layer needs: outcomes of a run, equality and short texts of values, progress events, lazy names.

Also the sizes of outputs in bytes, functions of higher layers by name, and patches of other libraries.
Nothing here imports another layer. Import from the modules; this package exports nothing.
"""
