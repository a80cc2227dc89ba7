"""Mechanisms whose true ε is known from laws or closed forms, limits for all auditors, and files of cases."""
