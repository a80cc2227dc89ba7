"""Laws and sizes of the mechanisms, written from the source texts alone.

Nothing here imports a mechanism. A function that returns `Formulas` takes a mechanism, but reads only its
parameters.
"""
