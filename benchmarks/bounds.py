"""How close the bound on ε comes to the true ε, if the pair is given.

The significance is 1e-3, and the table shows the median of 5 seeds. The audits are those of
`dp-audit self-audit` (`audit.self_audit.measures.tightness`), with up to 2,000,000 runs a side.

Usage: python benchmarks/bounds.py [--seeds N]
"""

from __future__ import annotations

import argparse
from statistics import median

from figures import Figure, show

from audit.self_audit.audits import Audits
from audit.self_audit.measures.tightness import DELTA, SIGNIFICANCE, bounds
from audit.self_audit.subjects.exact import Setting, gaussian, geometric, laplace, randomized_response

SIDES = {20_000: 0.88, 200_000: 0.955, 2_000_000: 0.985}


def figure(setting: Setting, *, least: float, side: int, seeds: int) -> Figure:
    found = bounds(Audits(), setting, side=side, repeats=seeds)
    middle = median(found)
    what = f"{setting.name}, true ε {setting.epsilon:g}, {side:,} runs a side"
    spread = f"{min(found):.4f} to {max(found):.4f}"
    return Figure(what, f"{middle:.4f}", f">= {least:g}", middle >= least, spread)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=5)
    seeds = options.parse_args().seeds
    figures = []
    for setting, slack in ((laplace(), 0.0), (geometric(), 0.02), (randomized_response(), 0.02)):
        for side, least in SIDES.items():
            figures.append(figure(setting, least=round(least - slack, 3), side=side, seeds=seeds))
    for true in (1.0, 2.0):
        least = round(0.9 * true, 3)
        figures.append(figure(gaussian(true, DELTA), least=least, side=2_000_000, seeds=seeds))
    show(
        f"Bound on ε at significance {SIGNIFICANCE:g}, median of {seeds} seeds (Gaussian: δ = {DELTA:g})",
        figures,
    )


if __name__ == "__main__":
    main()
