"""Averages of all entries' local answers, each the answer to one statistical query."""
