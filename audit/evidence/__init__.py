"""Evidence against a claim: bets (e-values), counts of past runs, power, several audits judged together.

`search` chooses pairs of databases by this evidence, and `verdict` decides by it.
"""
