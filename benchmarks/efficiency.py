"""How many pairs of runs a refutation takes, as a multiple of the least possible.

The least is for independent sides. The settings and the limit are those of `dp-audit self-audit`
(`audit.self_audit.measures.efficiency`).

Usage: python benchmarks/efficiency.py [--seeds N]
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import TYPE_CHECKING

from figures import Figure, show

from audit import PureDP, audit_privacy
from audit.self_audit.audits import Audits
from audit.self_audit.measures.efficiency import SHARES, SIGNIFICANCE, carried_out, limit, multiples, settings

if TYPE_CHECKING:
    from audit.self_audit.subjects.exact import Setting


def figure(setting: Setting, share: float, *, seeds: int) -> Figure:
    used = multiples(carried_out(Audits(), setting, share, seeds), limit(setting, share))
    middle = median(used)
    what = f"{setting.name}, claim {share:g} of true ε {setting.epsilon:.3f}"
    note = f"{min(used):.2f} to {max(used):.2f}; limit {limit(setting, share):,.0f} pairs"
    return Figure(what, f"{middle:.2f}", "<= 2.5 (aim 2.0)", middle <= 2.5, note)


def leak() -> Figure:
    result = audit_privacy(lambda database: database[0], PureDP(1.0), pairs=[([0], [1])])
    runs = result.samples_to_refutation
    met = runs is not None and runs <= 250
    return Figure("outright leak, p = 1 and q = 0, claim 1", f"{runs} runs", "<= 250 runs", met)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=11)
    seeds = options.parse_args().seeds
    figures = [figure(setting, share, seeds=seeds) for setting in settings() for share in SHARES]
    show(
        f"Pairs used as a multiple of the limit, significance {SIGNIFICANCE:g}, median of {seeds} seeds",
        [*figures, leak()],
    )


if __name__ == "__main__":
    main()
