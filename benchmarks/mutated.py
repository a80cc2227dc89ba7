"""The mutations for `mutations.py`, each a changed constant of a system.

The systems are those of the source texts. The file is longer than 400 lines because it is one table of 90
rows.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["MUTATIONS", "Mutation"]


class Mutation(NamedTuple):
    """One changed constant, and the audits and tests that should notice it.

    `old` occurs exactly once in the file. `kind` is "privacy" if the privacy loss or its accounting
    changes by 10 % or more. It is "utility" if only sample sizes or accuracy change.
    """

    rows: str
    kind: str
    path: str
    old: str
    new: str
    entries: tuple[str, ...]
    tests: tuple[str, ...]


def _at(path: str, entries: str, tests: str, *changes: tuple[str, str, str, str]) -> list[Mutation]:
    """Return the mutations of one file.

    Each of `changes` is (rows, kind, old, new) for one mutation.
    """
    run = tuple(f"tests/{test}.py" for test in tests.split())
    return [
        Mutation(rows, kind, path, old, new, tuple(entries.split()), run) for rows, kind, old, new in changes
    ]


_P, _U = "privacy", "utility"
_HALVES = "scale, gaps = 1.0 / (self.epsilon * chunk)"

MUTATIONS: list[Mutation] = [
    *_at(
        "mechanisms/noise/laplace.py",
        "laplace laplace-histogram",
        "mechanisms/test_laplace",
        ("M1", _P, "return self.sensitivity / self.epsilon", "return self.sensitivity / self.epsilon / 1.1"),
        (
            "M1",
            _P,
            "return answer + rng.laplace(0.0, self.scale)\n",
            "return answer + rng.laplace(0.0, self.scale / 1.1)\n",
        ),
        ("M1", _P, "return self.sensitivity / self.epsilon", "return self.sensitivity / self.epsilon / 2.0"),
    ),
    *_at(
        "mechanisms/noise/mean.py",
        "laplace-mean laplace-mean-clamped",
        "mechanisms/test_mean",
        (
            "M1",
            _P,
            "return self.upper / self.size / self.epsilon",
            "return self.upper / (self.size + 1) / self.epsilon",
        ),
        (
            "M1",
            _P,
            "self.answer(database) + rng.laplace(0.0, self.scale)",
            "self.answer(database) + rng.laplace(0.0, 0.9 * self.scale)",
        ),
        (
            "M1",
            _P,
            "np.where(np.isnan(values), 0.0, values), 0.0, self.upper)",
            "np.where(np.isnan(values), 0.0, values), 0.0, 1.5 * self.upper)",
        ),
    ),
    *_at(
        "mechanisms/noise/noises.py",
        "laplace geometric truncated-geometric saturating-sum",
        "mechanisms/test_geometric mechanisms/test_noise",
        ("M2", _P, "stop = -math.expm1(-self.rate)", "stop = -math.expm1(-1.1 * self.rate)"),
        (
            "M2",
            _P,
            "Countable.geometric(answer, 1.0 / self.rate)",
            "Countable.geometric(answer, 0.9 / self.rate)",
        ),
        ("M1", _U, "return -self.scale * math.log(beta)\n", "return -1.1 * self.scale * math.log(beta)\n"),
    ),
    *_at(
        "mechanisms/noise/counts.py",
        "counts",
        "mechanisms/test_catalogue_entries",
        (
            "M1",
            _P,
            "rng.laplace(0.0, 1.0 / self.epsilon, self.categories)",
            "rng.laplace(0.0, 0.9 / self.epsilon, self.categories)",
        ),
    ),
    *_at(
        "mechanisms/selection/exponential.py",
        "exponential",
        "mechanisms/test_exponential",
        (
            "M3",
            _P,
            "return self.epsilon / self.sensitivity / 2.0",
            "return self.epsilon / self.sensitivity / 1.8",
        ),
        (
            "M3",
            _U,
            "math.log(len(self.solutions)) - math.log(beta)) / self.weight",
            "math.log(len(self.solutions)) - 1.2 * math.log(beta)) / self.weight",
        ),
    ),
    *_at(
        "mechanisms/selection/stability.py",
        "stable-selection-gaps tight-stable-selection-gaps",
        "mechanisms/test_stability",
        ("M4", _P, "return 4.0 / self.epsilon\n\n", "return 3.6 / self.epsilon\n\n"),
        (
            "M4",
            _P,
            "return 2.0 - self.scale * math.log(self.delta)\n",
            "return 1.8 - self.scale * math.log(self.delta)\n",
        ),
        (
            "M4",
            _P,
            "return 2.0 - self.scale * math.log(self.delta)\n",
            "return 2.0 - self.scale * math.log(1.5 * self.delta)\n",
        ),
        (
            "M4",
            _P,
            "return 2.0 - self.scale * math.log(2.0 * self.delta)\n",
            "return 2.0 - self.scale * math.log(2.4 * self.delta)\n",
        ),
    ),
    *_at(
        "mechanisms/selection/choosing.py",
        "choosing-small choosing-scores",
        "mechanisms/test_choosing",
        (
            "M5",
            _P,
            "return ThresholdTest(4.0 / self.epsilon, self.alpha * self._m / 2.0)",
            "return ThresholdTest(3.5 / self.epsilon, self.alpha * self._m / 2.0)",
        ),
        (
            "M5",
            _P,
            "return ThresholdTest(4.0 / self.epsilon, self.alpha * self._m / 2.0)",
            "return ThresholdTest(4.0 / self.epsilon, self.alpha * self._m / 3.0)",
        ),
    ),
    *_at(
        "mechanisms/selection/choosing_round.py",
        "choosing-small choosing-scores",
        "mechanisms/test_choosing",
        ("M5", _P, "bound = 16.0 / alpha / epsilon *", "bound = 14.0 / alpha / epsilon *"),
        ("M5", _P, "] = self.weight * (scores", "] = 1.1 * self.weight * (scores"),
    ),
    *_at(
        "mechanisms/concave/bounds.py",
        "concave-promise concave-promise-tight",
        "mechanisms/test_concave_promise",
        ("M6", _P, "[PureDP(epsilon)] * (rounds + 1)", "[PureDP(epsilon)] * rounds"),
        ("M6", _P, "spread * epsilon + 6 * depth * epsilon", "spread * epsilon + 3 * depth * epsilon"),
        (
            "M6",
            _U,
            "return (2 / alpha) ** depth * 16 / (alpha * epsilon) * failure",
            "return (2 / alpha) ** depth * 14 / (alpha * epsilon) * failure",
        ),
    ),
    *_at(
        "mechanisms/concave/recursion.py",
        "concave-promise-tight",
        "mechanisms/test_concave_promise",
        (
            "M6",
            _P,
            "log_choice(self.quality.values_at(points), epsilon=self.settings.epsilon)",
            "log_choice(self.quality.values_at(points), epsilon=self.settings.epsilon / 0.9)",
        ),
        ("M6", _U, "quarter = 4 << power", "quarter = 2 << power"),
        ("M6", _U, "alpha / 2.0 * promise", "alpha / 3.0 * promise"),
    ),
    *_at(
        "mechanisms/responses/kary.py",
        "randomized-response kary-randomized-response",
        "mechanisms/test_randomized_response",
        (
            "M7",
            _P,
            "return self.epsilon - math.log(self.categories - 1)",
            "return 1.1 * self.epsilon - math.log(self.categories - 1)",
        ),
        (
            "M7",
            _P,
            "honest = rng.random(shape) < self.truth",
            "honest = rng.random(shape) < 1.05 * self.truth",
        ),
    ),
    *_at(
        "mechanisms/responses/labels.py",
        "label-response",
        "mechanisms/test_catalogue_entries",
        (
            "M7, L16",
            _P,
            "others = (self.labels - 1) * math.exp(-self.epsilon)",
            "others = (self.labels - 1) * math.exp(-1.1 * self.epsilon)",
        ),
    ),
    *_at(
        "mechanisms/local/algorithms.py",
        "local-interactive local-interactive-by-runs",
        "mechanisms/test_local_protocols",
        (
            "M8",
            _P,
            "RandomizedResponse(epsilon=epsilon / 2.0)).tolist()",
            "RandomizedResponse(epsilon=epsilon / 1.5)).tolist()",
        ),
        (
            "M8",
            _P,
            "share = 0.25 if 2 * len(denied) > size else 0.5",
            "share = 0.25 if 2 * len(denied) > size else 0.4",
        ),
    ),
    *_at(
        "mechanisms/local/oracle.py",
        "local-interactive local-noninteractive",
        "mechanisms/test_local_oracle",
        (
            "M8",
            _P,
            "return np.broadcast_to(finite_number(epsilon, what=what, above=0), size)",
            "return np.broadcast_to(1.1 * finite_number(epsilon, what=what, above=0), size)",
        ),
    ),
    *_at(
        "mechanisms/local/laplace.py",
        "local-laplace local-laplace-vector local-laplace-one-hot",
        "mechanisms/test_local_randomizers",
        (
            "M9",
            _P,
            "return self._bounded.sensitivity / self.epsilon",
            "return self._bounded.sensitivity / self.epsilon / 1.1",
        ),
    ),
    *_at(
        "mechanisms/local/averaging/sizes.py",
        "local-laplace-average-query local-sign-average-query",
        "mechanisms/test_local_averages",
        ("M9", _U, "LEMMA_CONSTANT: Final = 34.0", "LEMMA_CONSTANT: Final = 30.0"),
        ("M9", _U, "return _least(2.0 / kept if kept", "return _least(1.8 / kept if kept"),
    ),
    *_at(
        "mechanisms/composition/accounting.py",
        "count-and-survey counts-of-halves point-sanitizer",
        "mechanisms/test_composition",
        (
            "M10",
            _P,
            "return _claim(math.fsum(c.epsilon for c in told), math.fsum(c.delta for c in told))",
            "return _claim(0.9 * math.fsum(c.epsilon for c in told), math.fsum(c.delta for c in told))",
        ),
        ("M10", _P, "math.sqrt(-2.0 * math.log(slack)", "math.sqrt(-1.6 * math.log(slack)"),
    ),
    *_at(
        "mechanisms/queries/oracles/chunks.py",
        "private-query-answers-many",
        "mechanisms/test_queries_samples",
        (
            "M11",
            _U,
            "whole(ratio * ratio * math.log(2.0 / beta) / 2.0)",
            "whole(ratio * ratio * math.log(2.0 / beta) / 2.5)",
        ),
    ),
    *_at(
        "mechanisms/queries/runs/private_answers.py",
        "private-query-answers",
        "mechanisms/test_queries_private",
        (
            "M12",
            _P,
            "widths / (self.epsilon * self.chunk_size)",
            "widths / (1.1 * self.epsilon * self.chunk_size)",
        ),
    ),
    *_at(
        "mechanisms/queries/oracles/private.py",
        "private-sq-algorithm private-query-answers-many",
        "mechanisms/test_queries_private",
        (
            "M12",
            _P,
            "return query.width / (self.epsilon * self.chunk_size(query))",
            "return query.width / (1.1 * self.epsilon * self.chunk_size(query))",
        ),
        ("M12", _U, "noise = whole(2.0 * (width / tau)", "noise = whole(1.6 * (width / tau)"),
    ),
    *_at(
        "mechanisms/queries/simulations/rejection.py",
        "simulated-local-protocol",
        "mechanisms/test_queries_simulation",
        (
            "M14, M15",
            _U,
            "return self.phi * math.exp(-2.0 * self.epsilon)",
            "return 1.3 * self.phi * math.exp(-2.0 * self.epsilon)",
        ),
        ("M14, M15", _U, "return 2.0 * math.sinh(self.epsilon)", "return 1.8 * math.sinh(self.epsilon)"),
    ),
    *_at(
        "learners/by_queries/noisy_labels.py",
        "noisy-conjunction-learner",
        "learners/test_noisy_labels",
        ("M13, L5", _P, _HALVES, _HALVES.replace("1.0 /", "0.9 /")),
    ),
    *_at(
        "learners/generic/agnostic.py",
        "generic-learner vc-learner",
        "learners/test_generic",
        (
            "L1",
            _P,
            "            epsilon=self.epsilon,\n            score=lambda database",
            "            epsilon=1.1 * self.epsilon,\n            score=lambda database",
        ),
        ("L1, L2", _U, "per_nat = 6.0 * max(", "per_nat = 5.0 * max("),
        (
            "L1",
            _U,
            "math.log(hypotheses) + math.log(3.0 / beta)",
            "math.log(hypotheses) + math.log(1.0 / beta)",
        ),
    ),
    *_at(
        "learners/generic/labels.py",
        "label-private-learner",
        "learners/test_labels",
        (
            "L16",
            _P,
            "            epsilon=self.epsilon,\n            score=lambda scores",
            "            epsilon=1.1 * self.epsilon,\n            score=lambda scores",
        ),
        ("L16", _U, "size * alpha / 2.0 * math.log(2.0)", "size * alpha / 1.6 * math.log(2.0)"),
    ),
    *_at(
        "learners/generic/compression.py",
        "compression-learner",
        "learners/test_compression",
        (
            "L19",
            _P,
            "            epsilon=self.epsilon,\n            score=lambda scores",
            "            epsilon=1.3 * self.epsilon,\n            score=lambda scores",
        ),
        ("L19", _P, "return 1.0 / (self.epsilon * it.tested)", "return 0.9 / (self.epsilon * it.tested)"),
        ("L19", _U, "return 2.0 * self.alpha / 3.0", "return 2.2 * self.alpha / 3.0"),
    ),
    *_at(
        "learners/parity/rates.py",
        "parity parity-tight parity-amplified-retry",
        "learners/test_parity",
        ("L3", _P, "return cls(epsilon / 4.0, 0.5)", "return cls(epsilon / 3.6, 0.5)"),
        ("L3", _P, "return cls(p, (1.0 - p) / (3.0 - p))", "return cls(p, 0.8 * (1.0 - p) / (3.0 - p))"),
        (
            "L3",
            _U,
            "return max(0, math.ceil(log / -math.log1p(-self.inclusion * alpha)))",
            "return max(0, math.ceil(0.9 * log / -math.log1p(-self.inclusion * alpha)))",
        ),
    ),
    *_at(
        "learners/parity/amplified.py",
        "parity-amplified-retry",
        "learners/test_parity_amplified",
        (
            "L4",
            _P,
            "share = self.epsilon / self.plan.candidates if",
            "share = 1.2 * self.epsilon / self.plan.candidates if",
        ),
    ),
    *_at(
        "learners/parity/choices.py",
        "parity-amplified-held-out parity-amplified-selection",
        "learners/test_parity_amplified",
        (
            "L4",
            _P,
            "rng.laplace(0.0, count / epsilon, (runs, count))",
            "rng.laplace(0.0, 0.5 * count / epsilon, (runs, count))",
        ),
        (
            "L4",
            _P,
            "LaplaceNoisyMax(epsilon=2.0 * epsilon / len(mistakes)",
            "LaplaceNoisyMax(epsilon=2.2 * epsilon / len(mistakes)",
        ),
        (
            "L4",
            _P,
            "np.exp(-epsilon / 2.0 * (mistakes - mistakes.min()))",
            "np.exp(-epsilon / 1.8 * (mistakes - mistakes.min()))",
        ),
    ),
    *_at(
        "learners/by_queries/chunks.py",
        "conjunction-learner conjunction-learner-local masked-parity-learner",
        "learners/test_conjunctions learners/test_masked_learner",
        ("L5, L6, L20", _P, "width / (self.epsilon * chunk))", "width / (1.1 * self.epsilon * chunk))"),
        (
            "L5, L6",
            _P,
            "            epsilon=self._noise.epsilon,\n",
            "            epsilon=1.1 * self._noise.epsilon,\n",
        ),
    ),
    *_at(
        "learners/masked/learner.py",
        "masked-parity-learner",
        "learners/test_masked_learner",
        (
            "L6",
            _P,
            "return ChunkNoise(self.model, self.epsilon)\n",
            "return ChunkNoise(self.model, 1.05 * self.epsilon)\n",
        ),
        (
            "L6",
            _U,
            "threshold=0.25 / self.dimension, chunk=chunk",
            "threshold=0.3 / self.dimension, chunk=chunk",
        ),
    ),
    *_at(
        "learners/masked/algorithms.py",
        "sq-masked-parity masked-parity-learner",
        "learners/test_masked_queries",
        ("L6, L7", _U, "return 1.0 / (4 * dimension + 1)", "return 1.0 / (3 * dimension + 1)"),
    ),
    *_at(
        "learners/approximate/point.py",
        "point-learner point-learner-64-lumped point-learner-64-tight point-learner-64",
        "learners/test_approximate",
        (
            "L9",
            _P,
            "return kind(epsilon=self.epsilon, delta=self.delta, leaders",
            "return kind(epsilon=1.1 * self.epsilon, delta=self.delta, leaders",
        ),
        (
            "L9",
            _P,
            "return kind(epsilon=self.epsilon, delta=self.delta, leaders",
            "return kind(epsilon=self.epsilon, delta=1.2 * self.delta, leaders",
        ),
        ("L9", _U, "mass = 0.75 * alpha", "mass = 0.85 * alpha"),
    ),
    *_at(
        "learners/approximate/budgets.py",
        "interval-learner-64-budget interval-learner-64-budget-stated interval-learner-levels",
        "learners/test_approximate_budgets",
        ("L10", _P, "stable = delta / (2 * rounds)\n", "stable = delta / rounds\n"),
        ("L10", _P, "+ 4.0 * sure / (room", "+ 2.0 * sure / (room"),
        ("L10", _P, "return 2.0 * nats[0] / gap + outer", "return outer"),
        ("L10", _U, "share = failure / (2 * rounds + 1)", "share = failure / (rounds + 1)"),
    ),
    *_at(
        "learners/pure/proper.py",
        "pure-point-learner pure-interval-learner",
        "learners/test_pure",
        (
            "L11",
            _P,
            "-errors.values, top=self.top), self.epsilon)",
            "-errors.values, top=self.top), 1.1 * self.epsilon)",
        ),
        (
            "L11",
            _U,
            "rate = -math.log1p(alpha * math.expm1(-epsilon / 2.0))",
            "rate = -math.log1p(alpha * math.expm1(-epsilon / 1.5))",
        ),
    ),
    *_at(
        "learners/pure/hashed.py",
        "hashed-point-learner",
        "learners/test_pure",
        ("L11", _P, "if hashed else self.epsilon\n", "if hashed else 1.2 * self.epsilon\n"),
    ),
    *_at(
        "learners/sanitizers/base.py",
        "point-sanitizer interval-sanitizer",
        "learners/test_sanitizers learners/test_sanitizers_parts",
        ("L12, L13", _U, "NOISE_SHARE = 0.125", "NOISE_SHARE = 0.15"),
    ),
    *_at(
        "learners/sanitizers/points.py",
        "point-sanitizer",
        "learners/test_sanitizers",
        (
            "L12",
            _P,
            "return GeometricNoise(NOISE_SHARE * self.epsilon / 2.0)",
            "return GeometricNoise(NOISE_SHARE * self.epsilon)",
        ),
        ("L12", _P, "* self.rounds + [noise],", "* (self.rounds - 1) + [noise],"),
        ("L12", _P, "weight=step / 4.0, rounds", "weight=step / 3.6, rounds"),
        ("L12", _P, "return self.delta / 2.0 / self.rounds", "return self.delta / 1.5 / self.rounds"),
    ),
    *_at(
        "learners/sanitizers/intervals.py",
        "interval-sanitizer",
        "learners/test_sanitizers",
        (
            "L13",
            _P,
            "return GeometricNoise(NOISE_SHARE * self.epsilon / 2.0)",
            "return GeometricNoise(NOISE_SHARE * self.epsilon)",
        ),
    ),
    *_at(
        "learners/sanitizers/cuts/interval_cuts.py",
        "interval-cuts",
        "learners/test_sanitizers",
        (
            "L13",
            _P,
            "return [*rec, ApproximateDP(step, self.choosing_delta)] * self.rounds",
            "return [*rec] * self.rounds",
        ),
        ("L13", _P, "weight=self.spending.step / 4.0", "weight=self.spending.step / 3.6"),
        (
            "L13",
            _P,
            "epsilon=self.spending.step,\n            delta=self.choosing_delta,\n            top",
            "epsilon=1.2 * self.spending.step,\n            delta=self.choosing_delta,\n            top",
        ),
    ),
    *_at(
        "learners/sanitizers/generic.py",
        "generic-sanitizer sanitizing-learner",
        "learners/test_sanitizers",
        (
            "L14",
            _P,
            "            epsilon=self.epsilon,\n            score=lambda database",
            "            epsilon=1.1 * self.epsilon,\n            score=lambda database",
        ),
        (
            "L14",
            _U,
            "return math.ceil(4.0 / self.alpha / self.epsilon * nats",
            "return math.ceil(3.5 / self.alpha / self.epsilon * nats",
        ),
    ),
    *_at(
        "learners/sanitizers/reduction.py",
        "sanitizing-learner",
        "learners/test_sanitizers",
        (
            "L15",
            _P,
            "                epsilon=self.epsilon,\n",
            "                epsilon=2.5 * self.epsilon,\n",
        ),
        (
            "L15",
            _U,
            "low=2.0 * alpha, high=3.0 * alpha",
            "low=1.8 * alpha, high=3.0 * alpha",
        ),
    ),
    *_at(
        "learners/by_queries/chunked_run.py",
        "k-means perceptron",
        "learners/test_perceptron learners/test_kmeans",
        (
            "L20",
            _P,
            "noise = ChunkNoise(self.model, self.epsilon)\n        return",
            "noise = ChunkNoise(self.model, 1.2 * self.epsilon)\n        return",
        ),
        (
            "L20",
            _P,
            "noise = ChunkNoise(self.model, self.epsilon)\n        oracle",
            "noise = ChunkNoise(self.model, 1.2 * self.epsilon)\n        oracle",
        ),
    ),
    *_at(
        "learners/by_queries/perceptron.py",
        "perceptron sq-perceptron",
        "learners/test_perceptron",
        ("L20", _U, "tau=self.alpha / 4.0", "tau=self.alpha / 3.0"),
    ),
]
