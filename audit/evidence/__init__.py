"""Evidence against a claim: bets (e-values), counts of past runs, power, several audits judged together.

Above `events`; below `search`, which chooses pairs by this evidence, and `verdict`, which decides by it.
"""
