"""Runs in other processes."""
