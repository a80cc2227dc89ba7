"""Published wrong variants and reported faults: mechanisms as users write them, on plain records.

`mechanisms.entries.gallery` puts them beside right ones.
"""
