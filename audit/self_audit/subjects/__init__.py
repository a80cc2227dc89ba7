"""Mechanisms with independently known truth: laws, closed forms, limits; and files of cases."""
