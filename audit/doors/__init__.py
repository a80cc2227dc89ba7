"""The user interfaces.

They are the command line, the pytest fixture, regression tests, the report, the plan and the summary. Only
the command, the pytest plugin and, on first use, public names of `audit` import from here.
"""
