"""Evidence against a claim: bets (e-values), counts of past runs, power, several audits judged together.

Above `events`; below `search`, which looks where its numbers point, and `verdict`, which decides by it.
"""
