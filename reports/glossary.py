"""The terms of a report, explained for a reader who knows the field."""

#: For each key of a link: the term and its meaning.
GLOSSARY = {
    "refuted": (
        "refuted",
        "The claim does not hold: exact laws break it, or runs do, at the audit's significance.",
    ),
    "not-refuted": (
        "not refuted",
        (
            "Nothing that breaks the claim was found. This is not a proof. In a utility audit: the claim "
            "was shown to be met on the problems named."
        ),
    ),
    "proved": (
        "proved",
        (
            "The exact output laws of every pair of a named family were compared outcome by outcome, and "
            "all keep the claim. Continuous laws and products are compared in floating point, which does "
            "not count as a proof."
        ),
    ),
    "inconclusive": ("inconclusive", "The audit says nothing for or against the claim; the reason is given."),
    "error": ("error", "The audit could not be carried out; the reason is given."),
    "expected": ("as expected, unexpected", "The verdict is, or is not, the one that the catalogue expects."),
    "claim": (
        "claim, ε, δ",
        "(ε, δ)-differential privacy: on neighbouring databases every event has p ≤ e^ε·q + δ.",
    ),
    "relation": ("relation", "Which databases are neighbours, such as those that differ in one record."),
    "witness": ("witness", "A pair of databases and an event whose probabilities speak against the claim."),
    "event": ("event", "A set of outputs. p and q are its probabilities on the two databases."),
    "fault": ("fault", "What is wrong in the code, as recorded runs show it. No verdict rests on it."),
    "found": (
        "found",
        (
            "ε at the claimed δ, δ at the claimed ε, β of the worst problem. = is the exact worst value "
            "over what was compared, ≥ and ≤ are bounds at the audit's significance."
        ),
    ),
    "detectable": (
        "detectable ε",
        (
            "The smallest true ε that audits like this one catch nine times in ten, on one event of one "
            "pair. It is empty if nothing was left to detect. It is – if no ε can be named, for example "
            "after too few runs."
        ),
    ),
    "ceiling": (
        "most that runs can certify",
        "With this many runs no audit can certify a larger ε, however bad the code.",
    ),
    "evidence": (
        "evidence: exact, statistical",
        "Exact: from output laws that the subject declares. Statistical: from runs.",
    ),
    "numerics": (
        "numerics: ideal, float",
        (
            "Ideal treats the mechanism as if it computed with real numbers; float takes the "
            "floating-point numbers as returned."
        ),
    ),
    "significance": (
        "significance",
        "If the claim holds, the probability that sampling refutes it is at most this.",
    ),
    "wealth": (
        "wealth, bets",
        (
            "The money of a gambler who starts with 1 and bets against the claim at fair odds. If the claim "
            "holds, it rarely grows large."
        ),
    ),
    "profile": (
        "privacy profile",
        "The least δ for each ε, as claimed and as found.",
    ),
    "trade-off": (
        "trade-off curve",
        "The false alarms and misses of an observer who guesses the database from one output.",
    ),
    "accuracy": ("α, β", "A utility claim: an error above α has probability at most β on every problem."),
    "problem": (
        "problem",
        "Where the databases of a utility audit come from, and how an output's error is measured.",
    ),
    "family": ("family", "Which databases, or problems, the audit compared or searched."),
    "runs": ("runs", "Calls of the subject, those of the search included."),
    "mutation": ("mutation check", "The same audit against smaller claims, to see which of them it refutes."),
}
