"""The texts of a privacy result, and the sentences that all results share: for terminal, page, failed tests.

Imports from `results`; `utility` and the doors import from it. These texts depend on the result alone.
`verdict` writes the `reason` of a result; assumptions and notes come from `values.said`. The texts of other
kinds of results are in their own packages (`utility.text`, `findings.text`).
"""
