"""What runs say against a claim: the bets, what is remembered of a pair, and what would have been seen.

Above `events`; below `search`, which asks it where to look, and `verdict`, which decides by it.
"""
