"""Evidence against a claim: bets (e-values), counts of past runs, power, several audits judged together.

Above `events`. Below `search`, which chooses pairs by these numbers, and `verdict`, which decides by them.
"""
