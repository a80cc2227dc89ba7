"""The text of a privacy result, and the sentences that all results share: for terminal, page, failed tests.

Above `results`; below `utility` and the doors. These texts depend on the result alone. `verdict` writes a
result's `reason`; its assumptions and notes come from `values.said`. Other kinds of results keep their texts
beside them (`utility.text`, `findings.text`).
"""
