"""The measures, one module each. A module's `rows` yields its rows; `judged` returns how many are judged."""
