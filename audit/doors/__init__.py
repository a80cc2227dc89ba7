"""The ways in: command line, pytest fixture, regression tests, report; plans of audits and many in few lines.

Nothing but the pytest plugin imports from here.
"""
