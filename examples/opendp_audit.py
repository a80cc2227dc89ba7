"""Audits of OpenDP measurements.

    dp-audit run examples/opendp_audit.py:laplace_count

The claim is the value of the measurement's privacy map for neighbouring databases. OpenDP's metrics define
neighbours:

- `symmetric_distance` 1 is one record added or removed;
- `symmetric_distance` 2, on databases of known size, is one record replaced;
- `discrete_distance` 1 is any change of one record.

OpenDP draws its own noise, so a seed does not repeat these runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from declare import declare

from audit import ApproximateDP, PureDP, Relation

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Measured:
    """A measurement as a subject, whose privacy map gives the claim.

    A copy builds its own measurement.

    Parameters
    ----------
    build
        A function that returns the measurement.
    distance
        The distance of neighbouring databases in the measurement's input metric.
    relation
        The neighbouring relation that this distance means.
    pairs
        The neighbouring databases to compare.
    single
        Whether the measurement takes a single record instead of a list.
    expected
        The expected verdict.
    known
        Where a known fault is reported.
    budget
        How many runs `libraries.py` makes.
    """

    build: Callable[[], dp.Measurement]
    distance: Any
    relation: Relation
    pairs: tuple[tuple[Any, Any], ...]
    single: bool = False
    expected: str = "not refuted"
    known: str = ""
    budget: int = 100_000

    @property
    def measurement(self) -> dp.Measurement:
        """The measurement, built on first use."""
        if "built" not in vars(self):
            dp.enable_features("contrib")
            vars(self)["built"] = self.build()
        return vars(self)["built"]

    @property
    def claim(self) -> PureDP | ApproximateDP:
        """The value of the privacy map at `distance`."""
        loss = self.measurement.map(self.distance)
        return ApproximateDP(*loss) if isinstance(loss, tuple) else PureDP(loss)

    @property
    def reference(self) -> str:
        """Where the library makes the claim, or where a known fault is reported."""
        return self.known or f"privacy map of the measurement at distance {self.distance}"

    @property
    def parameters(self) -> dict[str, Any]:
        """No parameters: the report needs none."""
        return {}

    def suggested_pairs(self) -> list[tuple[Any, Any]]:
        """Return the pairs that were given."""
        return list(self.pairs)

    def __call__(self, database: Any) -> Any:
        """Return one release."""
        return self.measurement(database[0] if self.single else list(database))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the built measurement, which cannot be pickled."""
        return {name: value for name, value in vars(self).items() if name != "built"}


def _floats() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def _whole_numbers() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()


def _texts() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()


def _five_in_unit_interval() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0)), size=5), dp.symmetric_distance()


def _clamped() -> Any:
    return _floats() >> dp.t.then_clamp((0.0, 1.0))


def _scores() -> tuple[Any, Any]:
    return dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.linf_distance(T=float)


ADDED = (([], [1.0]), ([0.0, 1.0], [0.0, 1.0, 1.0]), ([0.5] * 4, [0.5] * 4 + [1.0]))
EXTREMES = (([0.0] * 5, [0.0] * 4 + [1.0]), ([0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0]))
ADD = Relation.ADD_OR_REMOVE_ONE
REPLACE = Relation.REPLACE_ONE

# ---------------------------------------------------------------- noise added to a count

laplace_count = Measured(lambda: _floats() >> dp.t.then_count() >> dp.m.then_laplace(1.0), 1, ADD, ADDED)
geometric_count = Measured(lambda: _floats() >> dp.t.then_count() >> dp.m.then_geometric(1.0), 1, ADD, ADDED)
geometric_truncated = Measured(
    lambda: _floats() >> dp.t.then_count() >> dp.m.then_geometric(1.0, bounds=(0, 3)), 1, ADD, ADDED
)
gaussian_count = Measured(
    lambda: dp.c.make_fix_delta(
        dp.c.make_zCDP_to_approxDP(_floats() >> dp.t.then_count() >> dp.m.then_gaussian(2.0)),
        1e-2,
    ),
    1,
    ADD,
    ADDED,
)
canonical_noise = Measured(
    lambda: dp.m.make_canonical_noise(
        dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), 1.0, (1.0, 0.01)
    ),
    1.0,
    Relation.LOCAL,
    (([0.0], [1.0]),),
    single=True,
)
distinct_count = Measured(
    lambda: _texts() >> dp.t.then_count_distinct() >> dp.m.then_laplace(1.0),
    1,
    ADD,
    ((["a", "a"], ["a", "a", "b"]), ([], ["a"])),
)

# ---------------------------------------------------------------- selection and local randomisers

# The first score falls and all others rise: the case that needs the factor 2 of the exponential mechanism.
SCORES = (([1.0] + [0.0] * 20, [0.0] + [1.0] * 20), ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0]))

exponential = Measured(
    lambda: dp.m.make_report_noisy_max_gumbel(*_scores(), scale=2.0), 1.0, Relation.QUERY_ANSWERS, SCORES
)
noisy_max = Measured(
    lambda: dp.m.make_noisy_max(*_scores(), dp.max_divergence(), scale=2.0),
    1.0,
    Relation.QUERY_ANSWERS,
    SCORES,
)
noisy_top_two = Measured(
    lambda: dp.m.make_noisy_top_k(*_scores(), dp.max_divergence(), 2, scale=4.0),
    1.0,
    Relation.QUERY_ANSWERS,
    SCORES,
)
randomized_response = Measured(
    lambda: dp.m.make_randomized_response_bool(0.75),
    1,
    Relation.LOCAL,
    (([True], [False]),),
    single=True,
)
randomized_response_of_three = Measured(
    lambda: dp.m.make_randomized_response(["a", "b", "c"], 0.5),
    1,
    Relation.LOCAL,
    ((["a"], ["b"]), (["a"], ["c"])),
    single=True,
)

# ---------------------------------------------------------------- aggregates of chained steps

total = Measured(lambda: _clamped() >> dp.t.then_sum() >> dp.m.then_laplace(1.0), 1, ADD, ADDED)
total_of_whole_numbers = Measured(
    lambda: _whole_numbers() >> dp.t.then_clamp((0, 10)) >> dp.t.then_sum() >> dp.m.then_laplace(10.0),
    1,
    ADD,
    (([], [10]), ([0, 10], [0, 10, 99])),
)
mean = Measured(
    lambda: _five_in_unit_interval() >> dp.t.then_mean() >> dp.m.then_laplace(0.2), 2, REPLACE, EXTREMES
)
mean_of_unknown_size = Measured(
    lambda: _clamped() >> dp.t.then_resize(5, 0.5) >> dp.t.then_mean() >> dp.m.then_laplace(0.2),
    1,
    ADD,
    (([0.0] * 5, [0.0] * 5 + [1.0]), ([], [1.0]), ([1.0] * 5, [1.0] * 6)),
)
variance = Measured(
    lambda: _five_in_unit_interval() >> dp.t.then_variance() >> dp.m.then_laplace(0.2), 2, REPLACE, EXTREMES
)
histogram = Measured(
    lambda: _texts() >> dp.t.then_count_by_categories(["a", "b"]) >> dp.m.then_laplace(1.0),
    1,
    ADD,
    ((["a", "b"], ["a", "b", "b"]), ([], ["other"]), (["a"] * 5, ["a"] * 4)),
)
histogram_of_numbers = Measured(
    lambda: (
        _floats()
        >> dp.t.then_find_bin([0.25, 0.5, 0.75])
        >> dp.t.then_count_by_categories([0, 1, 2, 3], null_category=False)
        >> dp.m.then_laplace(1.0)
    ),
    1,
    ADD,
    ADDED,
)
histogram_of_unknown_keys = Measured(
    lambda: _texts() >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(1.0, 5),
    1,
    ADD,
    (([], ["a"]), (["a"], ["a", "b"]), (["a"] * 4, ["a"] * 5)),
    expected="refuted",
    known="https://github.com/opendp/opendp/issues/2922",
)
median = Measured(
    lambda: _floats() >> dp.m.then_private_quantile(dp.max_divergence(), [i / 8 for i in range(9)], 0.5, 1.0),
    1,
    ADD,
    # The score of the last candidate rises and all other scores fall.
    (([-1.0, 0.0], [-1.0, 0.0, 0.9]), ([], [0.0]), ([0.5] * 4, [0.5] * 4 + [1.0])),
)
lower_quartile = Measured(
    lambda: (
        _floats() >> dp.m.then_private_quantile(dp.max_divergence(), [i / 8 for i in range(9)], 0.25, 1.0)
    ),
    1,
    ADD,
    (([-1.0, 0.25], [-1.0, 0.25, 0.9]), ([], [0.0]), ([0.5] * 4, [0.5] * 4 + [1.0])),
)


@declare(claim=PureDP(epsilon=1.0), relation=ADD, pairs=ADDED, reference="privacy_loss", budget=1_000)
def context_sum(database):
    """Return a sum through a Context, whose budget each call opens and spends."""
    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=list(database),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        domain=dp.vector_domain(dp.atom_domain(T=float, nan=False)),
    )
    return context.query().clamp((0.0, 1.0)).sum().laplace().release()


for _name, _subject in list(globals().items()):
    if isinstance(_subject, Measured):
        vars(_subject)["name"] = _name  # the name in reports
