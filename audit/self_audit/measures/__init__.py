"""The measures, one module each. `rows` yields the rows, and `JUDGED` says how many rows are judged."""
