"""The measures, one module each. Its `rows` yields the rows; its `judged` returns how many are judged."""
