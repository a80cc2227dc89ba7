"""What is measured, a module each: `rows` yields the rows, `judged` says how many are held to a limit."""
