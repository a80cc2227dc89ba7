"""The search for cuts between which few records lie: one run, many runs, and the exact law of a run.

`interval_cuts` is the subject; `dyadic` holds the intervals that the search looks at.
"""
