"""The search for cuts between which few records lie: one run, many runs, and the exact law of a run.

`interval_cuts` holds the search as a mechanism to audit, `dyadic` the intervals that the search looks at.
"""
