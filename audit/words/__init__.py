"""The text of a privacy result, and what the texts of all results share: for terminal, page and failed tests.

Above `results`; below `utility` and the doors. A function of results alone. The `reason` of a result is
written in `verdict`, its assumptions and notes are those of `values.said`; other results keep their texts
beside them (`utility.text`, `findings.text`).
"""
