"""Mechanisms with a known true ε, limits for all auditors, and files of cases."""
