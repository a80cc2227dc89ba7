"""Averages of all entries' local answers, which answer one statistical query."""
