"""Evidence against a claim: bets (e-values), counts of past runs, power, several audits judged together.

Imports from `events`. `search` and `verdict` import from it: `search` chooses pairs of databases by this
evidence, and `verdict` decides by it.
"""
