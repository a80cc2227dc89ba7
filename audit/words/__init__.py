"""The texts of a privacy result, and the sentences that all results share: for terminal, page, failed tests.

This package imports from `results`; `utility` and the user interfaces (`doors`) import from it. The texts
depend on the result alone. `verdict` writes the `reason` of a result; assumptions and notes come from
`values.said`. The texts of other kinds of results are in their own packages (`utility.text`,
`findings.text`).
"""
