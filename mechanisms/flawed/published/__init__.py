"""Published wrong variants and reported faults: mechanisms as users write them, on plain records."""
