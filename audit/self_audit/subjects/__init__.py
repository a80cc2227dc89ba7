"""Mechanisms with a known true ε, limits that hold for all auditors, and files of cases."""
