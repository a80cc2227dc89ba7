"""Mechanisms on which published auditors are compared.

The suite is the benchmark of DP-Sniper (Bichsel et al. 2021), but with every ε ten times as large. Every
mechanism claims ε = 1. The true ε of each mechanism is known. Mechanisms are audited on query answers.
Between neighbours, each answer may change by 1. Histograms are audited on records instead, because one record
changes only one count by 1. Their noise would be too small if all answers changed.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit.relations import Relation
from audit.self_audit.subjects.exact import Drawn, randomized_response

Function = Callable[[NDArray[np.float64], int, np.random.Generator], NDArray[Any]]


def on_answers(function: Function) -> Drawn:
    """Return a subject that runs a function on query answers.

    The arguments of the function are answers, size and rng.
    """
    return Drawn("peer", lambda database, size, rng: function(np.asarray(database, dtype=float), size, rng))


def on_records(function: Function) -> Drawn:
    """Return a subject that runs a function on the counts of the records 0 to 4.

    The arguments of the function are counts, size and rng.
    """
    answered = on_answers(function).sample
    return Drawn("peer", lambda database, size, rng: answered(np.bincount(database, minlength=5), size, rng))


@dataclass(frozen=True)
class Peer:
    """A mechanism of the suite, with its true ε. It claims ε = 1.

    Parameters
    ----------
    subject
        The audited subject.
    true_epsilon
        The true ε. A number above 1 may be only a lower bound on it.
    domain
        The arguments of `audit_privacy` that describe the databases. They name no particular pair.
    """

    subject: Drawn
    true_epsilon: float
    domain: dict[str, Any]

    @property
    def flawed(self) -> bool:
        """Whether the claim is false."""
        return self.true_epsilon > 1


def peer_suite() -> dict[str, Peer]:
    """Return the mechanisms of the suite by name, in the order of the paper's table.

    Examples
    --------
    >>> [name for name, peer in peer_suite().items() if not peer.flawed]
    ['laplace', 'trunc_geom', 'noisy_hist1', 'rnm1', 'rnm2', 'svt1', 'rand_resp']
    """
    answers = {"relation": Relation.QUERY_ANSWERS}
    one, five, ten = ({**answers, "size": size} for size in (1, 5, 10))
    counts = {"relation": Relation.ADD_OR_REMOVE_ONE, "records": list(range(5)), "size": (0, 6)}
    bit = {**answers, "records": [0.0, 1.0], "size": 1}
    return {
        "laplace": Peer(on_answers(_noisy(1.0)), 1.0, one),
        "trunc_geom": Peer(on_answers(_truncated_geometric), math.log(1.5), one),
        "noisy_hist1": Peer(on_records(_noisy(1.0)), 1.0, counts),
        "noisy_hist2": Peer(on_records(_noisy(0.01)), 100.0, counts),
        "rnm1": Peer(on_answers(_noisy_max("laplace", place=True)), 1.0, five),
        "rnm2": Peer(on_answers(_noisy_max("exponential", place=True)), 1.0, five),
        "rnm3": Peer(on_answers(_noisy_max("laplace", place=False)), 2.5, five),
        "rnm4": Peer(on_answers(_noisy_max("exponential", place=False)), math.inf, five),
        "svt1": Peer(on_answers(SparseVector(threshold=0.5, query_scale=4.0)), 1.0, ten),
        "svt3": Peer(on_answers(SparseVector(query_scale=2.0, values=True)), 5.0, ten),
        "svt4": Peer(on_answers(SparseVector(threshold_scale=4.0, query_scale=4 / 3)), 1.725, ten),
        "svt5": Peer(on_answers(SparseVector(query_scale=0.0, stops=False)), math.inf, ten),
        "svt6": Peer(on_answers(SparseVector(query_scale=2.0, stops=False)), 4.2, ten),
        "prefix_sum": Peer(on_answers(lambda *drawn: _noisy(1.0)(*drawn).cumsum(axis=1)), 10.0, ten),
        "rand_resp": Peer(randomized_response().mechanism, 1.0, bit),
    }


@dataclass(frozen=True)
class SparseVector:
    """The sparse vector technique of Lyu, Su and Li 2017.

    It says which answers reach a noisy threshold. The parameters give Algorithms 1 and 3 to 6 of that paper.

    Parameters
    ----------
    threshold, threshold_scale
        The threshold, and the scale of its Laplace noise, drawn once per run.
    query_scale
        The scale of the noise on each answer.
    stops
        Whether the mechanism stops at the first answer that reaches the threshold. If so, later entries are
        −1, or −2000 if `values` is true.
    values
        Whether the noisy answer is released instead of 1, and −1000 instead of 0.
    """

    threshold: float = 1.0
    threshold_scale: float = 2.0
    query_scale: float = 2.0
    stops: bool = True
    values: bool = False

    def __call__(self, answers: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return the outputs of `size` runs, an array of shape (size, answers)."""
        rho = rng.laplace(scale=self.threshold_scale, size=size)
        noisy = np.broadcast_to(answers, (size, len(answers)))
        if self.query_scale:
            noisy = noisy + rng.laplace(scale=self.query_scale, size=(size, len(answers)))
        hit = noisy >= (rho + self.threshold)[:, None]
        told = np.where(hit, noisy, -1000.0) if self.values else hit.astype(float)
        if not self.stops:
            return told
        ended = np.cumsum(hit, axis=1) - hit > 0
        return np.where(ended, -2000.0 if self.values else -1.0, told)


def _noisy(scale: float) -> Function:
    """Return a function that adds Laplace noise to answers. With a single answer, an output is a number."""

    def noisy(answers: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        outputs = answers + rng.laplace(scale=scale, size=(size, len(answers)))
        return outputs[:, 0] if len(answers) == 1 else outputs

    return noisy


def _noisy_max(noise: str, *, place: bool) -> Function:
    def largest(answers: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
        noisy = answers + getattr(rng, noise)(scale=2.0, size=(size, len(answers)))
        return np.asarray(noisy.argmax(axis=1).astype(float) if place else noisy.max(axis=1))

    return largest


def _truncated_geometric(answers: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[Any]:
    """Return an answer with geometric noise, clamped to 0 … 5.

    The ratio of the noise is 1 + 2^−k with k = ⌈log(2/ε)⌉ = 1.
    """
    p = 1 - 1 / 1.5
    noisy = int(answers[0]) + rng.geometric(p, size) - rng.geometric(p, size)
    return np.asarray(noisy.clip(0, 5), dtype=float)
