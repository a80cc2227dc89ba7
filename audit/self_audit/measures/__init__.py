"""The measures, one module each. `rows` yields the rows, and `judged` returns how many rows are judged."""
