"""The user interfaces: command line, pytest fixture, regression tests, report, plan and summary of audits.

Only the command, the pytest plugin and, on first use, public names of `audit` import from here.
"""
