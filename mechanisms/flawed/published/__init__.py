"""Published variants and reported faults of mechanisms, on plain records."""
