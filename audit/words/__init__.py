"""The texts of a privacy result, and the sentences that all results share.

The terminal, the page and failed tests show these texts. The texts depend on the result alone. This package
imports from `results`. `utility` and the user interfaces (`doors`) import from it. `verdict` writes the
`reason` of a result. Assumptions and notes come from `values.said`. The texts of other kinds of results are
in their own packages (`utility.text`, `findings.text`).
"""
