"""Where numbers are cut so that few records lie between cuts: the search, many runs of it, its exact law.

`interval_cuts` is the subject; `dyadic` holds the intervals that the search looks at.
"""
