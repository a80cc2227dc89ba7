"""The user interfaces: command line, pytest fixture, regression tests, report, plan and summary of audits.

No layer below imports from here: only the command, the pytest plugin and, on first use, two public names of
`audit` do.
"""
