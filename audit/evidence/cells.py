"""Bets on all cells of a table at once, with stakes aimed at the last run.

A table cuts the outputs into cells. Let p_k and q_k be estimates of a cell's probability on the left and on
the right, from past runs. Let R = e^ε. Let (P, Q) be the pair of laws that keeps the claim and minimises KL(p
‖ P) + KL(q ‖ Q). This is the pair closest to (p, q). For some μ and ν with μ + ν = 2 this pair has

- P_k = R·t_k and Q_k = t_k, t_k = (p_k + q_k)/(Rμ + ν), in cells where p is too large for the claim;
- P_k = t_k and Q_k = R·t_k, t_k = (p_k + q_k)/(μ + Rν), in cells where q is too large;
- P_k = p_k/μ and Q_k = q_k/ν elsewhere.

A fair coin draws the side of a call. The bet on the call pays 1 + λ·D, where

    D = p_k/P_k − 1 on the left,  D = q_k/Q_k − 1 on the right,  for an output in cell k.

**Guarantee.** E[1 + λ·D | past] ≤ 1 for every pair of laws that keeps ε-DP, if μ is in (0, 2) and ν = 2 − μ.
Write D + 1 = μ + a_k on the left and ν − b_k on the right. Where p is too large, R·p_k/P_k + q_k/Q_k = Rμ +
ν, so b_k = R·a_k with a_k ≥ 0. Let P*, Q* be the true laws of the subject. Then 2·E[D + 1] is the sum of
P*_k·(μ + a_k) + Q*_k·(ν − b_k) over all cells. This is μ + ν = 2, plus the sum of P*_k·a_k − Q*_k·b_k. In a
cell where p is too large, this difference is (P*_k − R·Q*_k)·a_k, which is at most 0 by ε-DP. Where q is too
large, the same holds with the sides exchanged. In all other cells a_k = b_k = 0.

With δ > 0, the claim ensures only P*(f) ≤ R·Q*(f) + δ for the soft event f = a_k/max a. The same holds with
the sides exchanged. So every payoff is reduced by δ/2 times the sum of the largest a of both directions. The
stake λ is fixed before the calls, and below 1/(−min D).

**The stake.** Let w be the wealth and v = (remaining calls)·E[D²]. For small effects the best stake is λ =
φ(Φ⁻¹(wα))/(√v·wα). It has the best chance to grow w to 1/α by the last call. It is the hedge of an option
that pays 1/α if a normal variable with variance v is large enough. The guarantee does not depend on this
choice: any stake is allowed that is a function of the past.
"""

import math
from collections.abc import Sequence
from operator import itemgetter

import numpy as np
from scipy.linalg.lapack import dptsv
from scipy.special import ndtri

from audit.distributions.law import Flags, Floats, Ints

_STEPS = 12
#: A larger ε counts as this one, so that the square of e^ε stays finite. No runs can show a difference.
CAP = 300.0
#: The claim and smaller ones, as multiples of ε. They are tried in turn until past runs break one by √_CLEAR
#: standard errors.
_POWERS = (1.0, 0.8, 0.5, 0.0)
_CLEAR = 4.0
#: A mean square of D up to this counts as rounding, and nothing is bet.
NOTHING = 1e-18
#: Smaller: μ is more exact but takes longer. The search stops when μ changes by at most this.
_EXACT = 1e-10
_EDGE = 0.01
#: Candidate variances, beside 0, of the step of the log-ratio from one cell to the next.
_SPREADS = 10.0 ** np.arange(-8, 2)
#: Number of heights tried for cutting off the soft weights if δ > 0. Each is 0.6 times the height before it.
_CAPS = 16
#: Larger: tables with few runs are chosen later. Number of standard errors that are subtracted from the
#: evidence of a table.
CAUTION = 1.0


def smoothed(x: Floats, y: Floats, *, ordered: int) -> tuple[Floats, Floats]:
    """Return estimated cell probabilities of both sides, with shrunk log-ratios.

    The log-ratios of the `ordered` leading cells are smoothed along the cells. All other log-ratios are
    shrunk towards 0. A log-ratio with a large sampling variance is shrunk more.

    Parameters
    ----------
    x, y
        Past runs by cell, left and right, shape (cells,).
    ordered
        How many leading cells are in numeric order.

    Returns
    -------
    pair of arrays, each of shape (cells,), positive, with sum 1
    """
    size = len(x)
    total_x, total_y = x.sum() + 0.5 * size, y.sum() + 0.5 * size
    ratio = np.log((x + 0.5) / total_x) - np.log((y + 0.5) / total_y)
    error = 1 / (x + 0.5) + 1 / (y + 0.5)
    ratio = np.concatenate(
        [_along(ratio[:ordered], error[:ordered]), _shrunk(ratio[ordered:], error[ordered:])]
    )
    both = (x + y + 1) / (total_x + total_y)
    p, q = both / (1 + np.exp(-ratio)), both / (1 + np.exp(ratio))
    return p / p.sum(), q / q.sum()


def _shrunk(values: Floats, errors: Floats) -> Floats:
    """Return values of mean 0 shrunk towards 0.

    `errors` are variances. Value v becomes v·s/(s + error). Here s is the part of the variance of all values
    that the errors do not explain. A value too large to be an error has an s of its own: v² less what an
    error may reach.
    """
    if not len(values):
        return values
    spread = max(0.0, float(np.average(values**2 - errors, weights=1 / errors)))
    by_chance = 2 * math.log(2 * len(values)) * errors
    spreads = np.maximum(spread, values**2 - by_chance)
    return values * spreads / (spreads + errors)


def _along(values: Floats, errors: Floats) -> Floats:
    """Return log-ratios smoothed along their cells; `errors` are variances.

    The result is a shape plus the posterior mean of a random walk. There are three shapes:

    - a constant;
    - a constant plus a multiple of the cells' normal scores, as for a shift of normal noise;
    - a constant plus a step at the median, roughly as for a shift of Laplace noise.

    The likeliest shape is taken. The size of the multiple or step is shrunk. Its likelihood is about that of
    a normal prior with the likeliest variance. An inexact choice costs power, not validity.
    """
    if len(values) < 2:
        return values
    weights = 1 / errors
    level = np.full(len(values), np.average(values, weights=weights))
    scores = ndtri((np.cumsum(weights) - weights / 2) / weights.sum())
    found = [_walk(values, level, weights)]
    for shape in (scores, np.sign(scores)):
        centred = shape - np.average(shape, weights=weights)
        precision = max(float(weights @ centred**2), 1e-300)
        slope = float(weights @ (centred * values)) / precision
        if (sure := slope**2 * precision) > 1:
            shrunk = slope * (1 - 1 / sure)
            cost, mean = _walk(values, level + shrunk * centred, weights)
            found.append((cost + 1 + math.log(sure), mean))
    return min(found, key=itemgetter(0))[1]


def _walk(values: Floats, shape: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return −2 log-likelihood, up to a constant, and the posterior mean of a random walk around a shape.

    The step variance is fitted. Only steps are shrunk, not the common level. The inverse covariance is
    tridiagonal. One solution gives the mean, and its pivots give the likelihood of the step variance.
    """
    size, rest = len(values), values - shape
    pull = weights * rest
    neighbours = np.full(size, 2.0)
    neighbours[[0, -1]] = 1.0
    costs, means = [0.0], [np.zeros(size)]  # for step variance 0
    for spread in _SPREADS:
        off = np.full(size - 1, -1 / spread)
        pivots, _, mean, _ = dptsv(weights + neighbours / spread, off, pull)
        determinant = np.log(pivots).sum() + (size - 1) * math.log(spread) - math.log(weights.sum())
        costs.append(determinant - pull @ mean)
        means.append(mean)
    best = int(np.argmin(costs))
    return float(pull @ rest) + costs[best], shape + means[best]


def payoffs(p: Floats, q: Floats, ratio: Floats, delta: Floats, *, past: float = np.inf) -> Floats:
    """Return D, the gain of a stake of 1, in each cell.

    There is a gain for a call on the left and for a call on the right.

    Parameters
    ----------
    p, q
        Estimated probabilities of the cells, shape (cells,).
    ratio, delta
        e^ε and δ of claims, shape (claims,).
    past
        Number of runs behind the estimates. If these do not clearly break a claim, the weights of the cells
        are those of a smaller claim.

    Returns
    -------
    array of shape (claims, 2, cells)
    """
    won = np.zeros((len(ratio), 2, len(p)))
    left = np.arange(len(ratio))
    for power in _POWERS:
        smaller = ratio[left] ** power
        weights = _weights(p, q, smaller)
        here = own = _against(p, q, ratio[left], delta[left], weights, evened=power < 1)
        if power < 1:  # the weights come from the smaller claim: is it clearly broken?
            own = _against(p, q, smaller, delta[left], weights)
        mean = (own[:, 0] @ p + own[:, 1] @ q) / 2
        square = (own[:, 0] ** 2 @ p + own[:, 1] ** 2 @ q) / 2
        clear = (mean * np.abs(mean) > _CLEAR / past * square) & (square > NOTHING)
        if power == _POWERS[-1]:
            clear = square > NOTHING
        won[left[clear]] = here[clear]
        left = left[~clear]
        if not len(left):
            break
    return won


def _against(
    p: Floats,
    q: Floats,
    ratio: Floats,
    delta: Floats,
    weights: tuple[Floats, Floats, Floats],
    *,
    evened: bool = False,
) -> Floats:
    """Return the payoffs D against claims, for given weights of the cells.

    If `evened`, the weights come from smaller claims, and the payoffs of both sides get equal means.
    """
    left_out, right_out, mu = weights
    ratio, delta = ratio[:, None], delta[:, None]
    lean = _even(left_out, right_out, p, q, ratio) if evened else mu - 1
    if delta.any():  # claims with δ = 0 keep their weights, also if another one has δ > 0
        left_out = np.where(delta > 0, _capped(left_out, p, q, ratio, delta), left_out)
        right_out = np.where(delta > 0, _capped(right_out, q, p, ratio, delta), right_out)
        lean = np.where(delta > 0, _even(left_out, right_out, p, q, ratio), lean)
    most = left_out.max(axis=-1, keepdims=True) + right_out.max(axis=-1, keepdims=True)
    on_left = lean + left_out - ratio * right_out - delta * most / 2
    on_right = -lean - ratio * left_out + right_out - delta * most / 2
    return np.stack([on_left, on_right], axis=1)


def _even(left_out: Floats, right_out: Floats, p: Floats, q: Floats, ratio: Floats) -> Floats:
    """Return the shift that makes the mean gains of both sides equal.

    The shift is added to payoffs on the left and subtracted on the right.
    """
    on_left = left_out @ p - ratio[:, 0] * (right_out @ p)
    on_right = right_out @ q - ratio[:, 0] * (left_out @ q)
    return (on_right - on_left)[:, None] / 2


def _weights(p: Floats, q: Floats, ratio: Floats) -> tuple[Floats, Floats, Floats]:
    """Return `left_out`, `right_out` and μ of the closest laws that keep each claim.

    `left_out` is a_k in the cells where p is too large for the claim; `right_out` is the same for q. Both are
    0 in all other cells.
    """
    ratio = ratio[:, None]
    mu, low, high = np.ones_like(ratio), np.full_like(ratio, _EDGE), np.full_like(ratio, 2 - _EDGE)
    # each claim stops at its own step, so its answer does not depend on the others
    rows = np.arange(len(ratio))
    for _ in range(_STEPS):  # an inexact μ costs power, not validity
        here = mu[rows]
        excess, slope = _excess(p, q, here, ratio[rows])
        low[rows] = np.where(excess > 0, here, low[rows])
        high[rows] = np.where(excess > 0, high[rows], here)
        newton = here - excess / slope
        inside = (low[rows] <= newton) & (newton <= high[rows])
        mu[rows] = np.where(inside, newton, (low[rows] + high[rows]) / 2)
        rows = rows[np.abs(mu[rows] - here)[:, 0] > _EXACT]
        if not len(rows):
            break
    left, _, up, down, is_left, is_right = _trial(p, q, mu, ratio)
    law = np.where(is_left, ratio * (p + q) / up, np.where(is_right, (p + q) / down, left))
    gain = p / law - mu  # below 0 where q is too large
    return np.maximum(gain, 0), np.maximum(-gain / ratio, 0), mu


def _trial(
    p: Floats, q: Floats, mu: Floats, ratio: Floats
) -> tuple[Floats, Floats, Floats, Floats, Flags, Flags]:
    """Return p/μ, q/ν, Rμ + ν, μ + Rν for a trial μ, and two flags of each cell.

    The flags say whether p is too large and whether q is too large.
    """
    nu = 2 - mu
    left, right = p / mu, q / nu
    return left, right, ratio * mu + nu, mu + ratio * nu, left > ratio * right, right > ratio * left


def _excess(p: Floats, q: Floats, mu: Floats, ratio: Floats) -> tuple[Floats, Floats]:
    """Return the sum of the left law minus that of the right law, and its slope in μ.

    Both results have shape (claims, 1). The excess falls with μ and is 0 at the solution.
    """
    left, right, up, down, is_left, is_right = _trial(p, q, mu, ratio)
    both, more = p + q, ratio - 1
    apart = np.where(is_left, more * both / up, np.where(is_right, -more * both / down, left - right))
    elsewhere = left / mu + right / (2 - mu)
    falls = np.where(
        is_left, (more / up) ** 2 * both, np.where(is_right, (more / down) ** 2 * both, elsewhere)
    )
    return apart.sum(axis=-1, keepdims=True), np.minimum(-falls.sum(axis=-1, keepdims=True), -1e-9)


def _capped(out: Floats, p: Floats, q: Floats, ratio: Floats, delta: Floats) -> Floats:
    """Return soft weights cut off at the height with the largest expected growth.

    The growth at height h is net of the cost δ·h.

    Parameters
    ----------
    out
        The weights a_k, shape (claims, cells).
    p, q
        Probabilities of the cells: on the side whose probability is too large if a_k > 0, and on the other.
    ratio, delta
        e^ε and δ, shape (claims, 1).
    """
    caps = out.max(axis=-1, keepdims=True) * 0.6 ** np.arange(_CAPS)
    cut = np.minimum(out[:, None, :], caps[:, :, None])
    mean = cut @ p - ratio * (cut @ q) - delta * caps
    square = cut**2 @ p + ratio**2 * (cut**2 @ q)
    promise = np.where(mean > 0, mean**2 / np.maximum(square, 1e-300), 0.0)
    best = np.argmax(promise, axis=-1)[:, None]
    chosen = np.take_along_axis(cut, best[:, :, None], axis=1)[:, 0]
    return np.where(np.take_along_axis(promise, best, axis=1) > 0, chosen, 0.0)


def strengths(tables: Sequence[Floats], levels: Floats, delta: float) -> Floats:
    """Return how strongly the cells of each table together break each claim, in standard errors.

    This is a quick estimate from counts. Let z_k be the excess of a cell's share over the claim, in standard
    errors. Sum z_k² over the cells above the claim, and subtract ½ per cell for chance. The square root of
    the sum is about the gain of the best bet on all cells, in standard errors. Near ε = 0 chance adds ½ per
    cell in both directions, and only one of them is subtracted: there the number is too large.

    Parameters
    ----------
    tables
        For each table the past runs by cell, left and right, shape (2, cells).
    levels, delta
        The ε of claims, shape (claims,), and the δ of all of them.

    Returns
    -------
    at least 0, shape (claims, tables)
    """
    widths = np.array([counts.shape[1] for counts in tables])
    starts, counts = np.cumsum(widths) - widths, np.concatenate(tables, axis=1)
    runs = np.maximum(np.add.reduceat(counts, starts, axis=1), 1.0)
    m, n = np.repeat(runs, widths, axis=1)
    p, q = counts / (m, n)
    ratio = np.exp(np.minimum(levels, CAP))[:, None]
    total = np.tile(-widths / 2, (len(levels), 1))
    for x, y, many_x, many_y in ((p, q, m, n), (q, p, n, m)):
        over = np.maximum(x - ratio * y, 0.0)
        squares = over**2 / np.maximum(x / many_x + ratio**2 * y / many_y, 1e-300)
        beyond = np.add.reduceat(over, starts, axis=1)
        share = np.clip(1 - delta / np.maximum(beyond, 1e-300), 0.0, 1.0)
        total += np.add.reduceat(squares, starts, axis=1) * share**2
    return np.asarray(np.sqrt(np.maximum(total, 0.0)))


def most_broken(tables: Sequence[Floats], levels: Floats, delta: float) -> Ints:
    """Return, for each claim, the table whose cells together break it most.

    The tables are compared by their `strengths`, lowered by `CAUTION` and squared with the sign kept, for
    each run. The parameters are those of `strengths`; the result has shape (claims,).
    """
    sure = strengths(tables, levels, delta) - CAUTION
    runs = np.array([max(counts.sum(), 1.0) for counts in tables])
    return np.asarray((sure * np.abs(sure) / runs).argmax(axis=1))
