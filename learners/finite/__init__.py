"""Finite hypothesis classes, their samples, and problems with exact errors."""
