"""What is wrong with a refuted subject: recorded runs of it on the simplest pair, and rules that name it.

Above `words` and `verdict`, whose verdict it explains and never changes; below `utility` and `privacy`. The
process that examines a subject imports `examiner` and what that needs, which is little.
"""
