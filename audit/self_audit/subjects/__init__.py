"""Mechanisms whose truth is known without the auditor: laws, closed forms, limits; and files of cases."""
