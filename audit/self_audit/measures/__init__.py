"""The measures of a self-audit.

`rows` yields the rows of a measure. `JUDGED` is the number of judged rows.
"""
