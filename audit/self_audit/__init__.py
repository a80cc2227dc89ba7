"""The self-audit, which audits the auditor.

It measures false alarms, runs to a refutation, efficiency, tightness and coverage. `run` applies the
`measures/` to the `subjects/`, whose true ε is known. `judging` compares the figures with the auditor's
promises. `row` holds the results, `text` their texts and `saved` their files. The package imports from
`privacy`. Only `doors` imports from it.
"""
