"""Catalogue entries that combine several packages or need slow searches for pairs."""
