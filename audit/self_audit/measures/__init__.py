"""The measures, one module each: `rows` yields the rows; `judged` returns how many of them are judged."""
