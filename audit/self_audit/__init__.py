"""The auditor audited: false alarms, runs to a refutation, efficiency, tightness, coverage, each from a run.

`run` carries out the `measures/` on `subjects/` whose truth is known, and `judging` holds what came out to
what the auditor promises; `row` is what is handed back, in words (`text`) and in a file (`saved`). Above
`privacy`; below the doors.
"""
