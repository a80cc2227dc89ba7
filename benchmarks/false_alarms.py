"""Audits of mechanisms that meet their claim with equality: how many refute.

    python benchmarks/false_alarms.py [AUDITS] [SEED] [--search]

With ``--search`` no pair is given, and the audits look for their databases in a domain.

Betting refutes far less often than the significance allows, so counting false alarms has little power.
The mean of V = min(final wealth, 20) says more. It is at most 1 for a sound audit, and rises if a stake
depends on the runs that it bets on.
"""

import contextlib
import math
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import Relation
from audit.databases.domain import describe
from audit.databases.paths import lengths
from audit.sampling import Sampler
from audit.self_audit.judging import log_e_value
from audit.self_audit.measures.false_alarms import capped_wealth
from audit.self_audit.subjects.exact import geometric
from audit.self_audit.subjects.tight import Tight, noisy_counts, randomized_response, tight_cases
from audit.subject.subject import adapt
from audit.verdict.betting import Betting, NeverAnswers
from audit.verdict.terms import Terms

SIGNIFICANCE = 0.05
BUDGET = 2_000
ALPHA = math.exp(-1.0)
CAP = 20.0
#: The chance that the count of refutations accuses a sound auditor, and the chance that the mean does. Of
#: 2,000 audits at most 144 may refute.
ALARM_LEVEL = 9e-6
MEAN_LEVEL = 1e-7
#: The chance that the count of refutations accuses a sound auditor, if each mechanism is judged separately.
EACH_LEVEL = 1e-7


def forgetful_response(database, rng):
    """Randomized response that runs out of memory in a fifth of its runs."""
    if rng.random() < 0.2:
        raise MemoryError
    return randomized_response(database, rng)


def threshold_release(database, rng):
    """The noisy count of "k" if it is above 3, otherwise nothing.

    Its δ is Pr[noise ≥ 3].
    """
    if not database:
        return ()
    noisy = len(database) + int(rng.geometric(1 - ALPHA)) - int(rng.geometric(1 - ALPHA))
    return (("k", noisy),) if noisy > 3 else ()


class Case(Tight):
    """A mechanism, and pairs on which it meets its claim with equality."""

    def where(self, seed):
        """Return the keywords of an audit that give the pairs of databases."""
        del seed
        return {"pairs": self.pairs}


@dataclass(frozen=True)
class Domain:
    """A mechanism that meets its claim (ε, δ) with equality on some neighbours."""

    mechanism: Any
    relation: Any
    epsilon: float
    delta: float = 0.0
    records: tuple[Any, ...] | None = (0, 1)
    size: tuple[int, int] = (1, 4)

    @property
    def databases(self):
        """The databases of an audit of this domain."""
        return describe(self.relation, pairs=None, records=self.records, size=self.size, databases=None)

    def where(self, seed):
        """Return the keywords of an audit that say where to look for pairs of databases."""
        databases, sources = self.databases, np.random.SeedSequence([99, seed]).spawn(2)
        steps = lengths(self.epsilon, self.delta)
        proposing, varying = map(np.random.default_rng, sources)
        return {
            "pairs": databases.proposals(proposing),
            "vary": lambda pair: databases.vary(pair, varying),
            "further": lambda pair: databases.further(pair, steps),
        }


CASES = {
    **{name: Case(**vars(case)) for name, case in tight_cases().items()},
    "threshold release": Case(threshold_release, (([], ["k"]),), 1.0, ALPHA**3 / (1 + ALPHA)),
    "several pairs": Case(geometric().mechanism, tuple(([k], [k + 1]) for k in range(8)), 1.0),
    "forgetful response": Case(forgetful_response, (([0], [1]),), math.log(3)),
}


class NoisySum:
    """The sum of the records with noise of one kind, at scale 1."""

    def __init__(self, noise):
        self.noise = noise

    def __call__(self, database, rng):
        return float(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        return float(sum(database)) + getattr(rng, self.noise)(size=size)


class NoisyCount:
    """The number of records with two-sided geometric noise of ε = 1."""

    def __call__(self, database, rng):
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        return geometric().mechanism.sample([len(database)], size, rng)


class ExponentialNoisyMax:
    """The index of the largest answer with exponential noise of scale 2.

    The loss is 1 if one answer leads by 2.
    """

    def __call__(self, database, rng):
        return int(self.sample(database, 1, rng)[0])

    def sample(self, database, size, rng):
        noise = rng.exponential(2, size=(size, len(database)))
        return np.argmax(np.asarray(database) + noise, axis=1)


def each_response(database, rng):
    """Randomized response of every record, as one text."""
    return "".join("ny"[(record == 1) == (rng.random() < 0.75)] for record in database)


def label_response(database, rng):
    """The records with their labels, each label flipped with probability 1/4."""
    return tuple((x, y if rng.random() < 0.75 else 1 - y) for x, y in database)


def wandering_response(database, rng):
    """Randomized response of a parity.

    The sum of the records decides which draw is used, so coupled runs may differ.
    """
    rng.random(sum(database))
    return randomized_response([sum(database) % 2], rng)


REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE
SEARCHED = {
    "laplace sum": Domain(NoisySum("laplace"), REPLACE, 1.0),
    "geometric count": Domain(NoisyCount(), ADD, 1.0, size=(0, 4)),
    "gaussian sum": Domain(NoisySum("normal"), REPLACE, 1.0, CASES["gaussian"].delta),
    "each response": Domain(each_response, REPLACE, math.log(3)),
    "threshold release": Domain(
        threshold_release, ADD, 1.0, CASES["threshold release"].delta, records=("k",), size=(0, 6)
    ),
    "histogram": Domain(noisy_counts(), ADD, 1.0, records=(0, 1, 2), size=(0, 4)),
    "noisy max": Domain(ExponentialNoisyMax(), Relation.QUERY_ANSWERS, 1.0, records=None, size=(2, 4)),
    "labels": Domain(
        label_response,
        Relation.REPLACE_LABEL,
        math.log(3),
        records=tuple((x, y) for x in "ab" for y in (0, 1)),
        size=(1, 3),
    ),
    "forgetful response": Domain(forgetful_response, Relation.LOCAL, math.log(3), size=(1, 1)),
    "wandering": Domain(wandering_response, REPLACE, math.log(3), size=(1, 6)),
}


def audit(case, seed, *, betting=Betting, budget=BUDGET, **terms):
    """Audit a case and return the log wealth at the stop."""
    options = Terms(case.epsilon, case.delta, SIGNIFICANCE, budget, **terms)
    with Sampler(adapt(case.mechanism), seed=seed) as sampler:
        run = betting(sampler, terms=options, **case.where(seed))
        with contextlib.suppress(NeverAnswers):  # the audit then stops without a refutation
            run.run()
    return run.log_wealth


def audit_all(audits, *, seed=0, cases=CASES, budget=BUDGET):
    """Return the log wealths of `audits` audits, which take the cases in turn."""
    names = list(cases)
    return {
        name: [audit(cases[name], seed + k, budget=budget) for k in range(i, audits, len(names))]
        for i, name in enumerate(names)
    }


@dataclass(frozen=True)
class Judgement:
    """What audits of mechanisms that meet their claim with equality reveal."""

    audits: int
    refuted: int
    mean: float
    log_e_value: float
    level: float = ALARM_LEVEL

    @property
    def most_refuted(self):
        from scipy.stats import binom

        return int(binom.isf(self.level, self.audits, SIGNIFICANCE))

    @property
    def sound(self):
        """Whether neither criterion accuses the auditor."""
        return self.refuted <= self.most_refuted and self.log_e_value < -math.log(MEAN_LEVEL)


def judge(log_wealths, *, level=ALARM_LEVEL):
    """Return the judgement of audits by two criteria.

    The criteria are the number of audits that refute, and the mean of V = min(wealth, 20). If each mean
    of V is at most 1, the e-value of `audit.self_audit.judging` passes 1e7 with probability at most 1e-7.
    Power: if the wealth ends at 20 in 8 % of the audits and at ½ otherwise (mean 2.06), the e-value
    passes 1e7 after some 450 audits.
    """
    values = capped_wealth(log_wealths, CAP)
    return Judgement(
        len(values),
        int((np.asarray(log_wealths) >= -math.log(SIGNIFICANCE)).sum()),
        float(values.mean()),
        log_e_value(values),
        level,
    )


def accused(log_wealths):
    """Return whether the e-value of the mean wealth passes 1e7 after an audit.

    If each mean is at most 1 given the past, the e-value is a supermartingale. It then ever passes 1e7
    with probability at most 1e-7 (Ville).
    """
    taken = []
    for log_wealth in log_wealths:
        taken.append(log_wealth)
        if judge(taken).log_e_value >= -math.log(MEAN_LEVEL):
            return True
    return False


def main(audits=2_000, seed=0, *, search=False):
    start = time.monotonic()
    found = audit_all(audits, seed=seed, cases=SEARCHED if search else CASES)
    print(f"{'mechanism':22}{'audits':>8}{'refuted':>9}{'mean of min(wealth, 20)':>26}")
    for name, wealths in found.items():
        judged = judge(wealths)
        print(f"{name:22}{judged.audits:8}{judged.refuted:9}{judged.mean:26.3f}")
    judged = judge([wealth for wealths in found.values() for wealth in wealths])
    print(f"{'all':22}{judged.audits:8}{judged.refuted:9}{judged.mean:26.3f}")
    print(f"at most {judged.most_refuted} refuted; log e-value against a mean of at most 1:")
    print(f"{judged.log_e_value:.1f} (limit {-math.log(MEAN_LEVEL):.1f}); {time.monotonic() - start:.0f} s")
    print("sound" if judged.sound and judged.mean <= 1 else "NOT SOUND")
    return 0 if judged.sound and judged.mean <= 1 else 1


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word != "--search"]
    sys.exit(main(*numbers, search="--search" in sys.argv))
