"""The search for cuts between which few records lie: one run, many runs, and its exact law.

`interval_cuts` is the subject; `dyadic` holds the intervals that the search looks at.
"""
