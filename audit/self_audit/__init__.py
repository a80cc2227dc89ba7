"""The self-audit: measured false alarms, runs to a refutation, efficiency, tightness and coverage.

`run` applies the `measures/` to `subjects/` with known truth. `judging` compares the figures with the
auditor's promises. `row` holds the results, with their text (`text`) and their files (`saved`). Above
`privacy`; below the doors.
"""
