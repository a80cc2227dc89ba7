"""The keywords of `audit_privacy` as options, shared by the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable


def number_of(text: str) -> int:
    """Return a whole number that may be written 200000, 200_000 or 2e5.

    Examples
    --------
    >>> number_of("2e5")
    200000
    """
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not number.is_integer():
        raise click.BadParameter(f"{text!r} is not a whole number.")
    return int(number)


EFFORT = (
    click.option(
        "--budget",
        type=number_of,
        metavar="N",
        help="Maximum runs of the mechanism, on both databases, search included.  [default: 200,000]",
    ),
    click.option(
        "--confirm-budget", type=number_of, metavar="N", help="Maximum runs to confirm a refutation."
    ),
    click.option(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="Time limit for one audit. The number of runs then depends on the machine.",
    ),
    click.option(
        "--run-time-limit", type=float, metavar="SECONDS", help="Time limit for one run.  [default: 10]"
    ),
    click.option(
        "--significance",
        type=float,
        help="Maximum probability of refuting a claim that holds.  [default: 1e-6]",
    ),
    click.option(
        "--seed",
        type=number_of,
        metavar="N",
        help="Random seed. It fixes the result if the subject draws from `rng` and no time limit ends the "
        "audit.  [default: 0]",
    ),
    click.option(
        "--jobs",
        type=number_of,
        metavar="N",
        help="Number of worker processes. It does not change the result.  [default: 1]",
    ),
)
SCOPE = (
    click.option("--epsilon", "--claim-epsilon", "epsilon", type=float, help="Epsilon of the claim."),
    click.option("--delta", "--claim-delta", "delta", type=float, help="Delta of the claim."),
    click.option(
        "--relation",
        metavar="NAME",
        help="replace-one, add-or-remove-one, …, or module:object.  [default: the subject's, or replace-one]",
    ),
    click.option("--records", metavar="LIST|MODULE:STRATEGY", help="Records that a database can contain."),
    click.option("--size", metavar="N|MIN:MAX", help="Number of records in a database."),
    click.option(
        "--databases", metavar="MODULE:STRATEGY", help="Strategy for whole databases, instead of records."
    ),
    click.option("--pair", nargs=2, multiple=True, metavar="LEFT RIGHT", help="Two neighbouring databases."),
    click.option(
        "--convert",
        metavar="MODULE:FUNCTION",
        help="Converts a list of records to the input of the mechanism.",
    ),
    click.option(
        "--fresh", metavar="MODULE:FUNCTION", help="Makes a new mechanism, or learner, for every run."
    ),
    click.option(
        "--valid", metavar="MODULE:FUNCTION", help="Tells whether a database belongs to the domain."
    ),
    click.option(
        "--numerics",
        type=click.Choice(["ideal", "float"]),
        help="float: also attack the low bits of the outputs.  [default: ideal]",
    ),
    click.option(
        "--until",
        type=click.Choice(["refuted", "budget"]),
        help="budget: spend the whole budget, for tighter bounds.  [default: refuted]",
    ),
    click.option(
        "--unfinished",
        type=click.Choice(["against", "output"]),
        help="How unfinished runs count: against the refutation, or as an output.  [default: against]",
    ),
)
CLAIMS = (
    click.option("--alpha", type=float, help="Alpha of the utility claim: the largest error allowed."),
    click.option(
        "--beta", type=float, help="Beta of the utility claim: the largest probability of a larger error."
    ),
    click.option("--problems", metavar="MODULE:OBJECT", help="Problems for the utility audit."),
    click.option(
        "--only",
        type=click.Choice(["privacy", "utility"]),
        help="Audit only this claim of a subject that has both.  [default: all its claims]",
    ),
)
SET = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the subject."
)


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds the options in their order.

    Examples
    --------
    >>> command = click.command()(with_options(*EFFORT)(lambda **options: None))
    >>> command.params[0].name
    'budget'
    """

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
