"""The options of the command line, shared by the commands."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from audit.options import Options, words_of


def number_of(text: str) -> int:
    """Return a whole number that may be written 200000, 200_000 or 2e5.

    Examples
    --------
    >>> number_of("2e5")
    200000
    """
    for kind in (int, float):
        with suppress(ValueError, OverflowError):  # NaN and infinity are not whole numbers
            number = kind(text)
            if number == int(number):
                return int(number)
    raise click.BadParameter(f"{text!r} is not a whole number.")


def option_of(name: str) -> Callable[[Any], Any]:
    """Return the command-line option for one of an audit's `Options`."""
    declared = Options.__dataclass_fields__[name]
    if declared.type is bool:
        return click.option(f"--{name}/--no-{name}", default=None, help=words_of(name))
    kind: Any = getattr(declared.metadata["check"], "words", None)
    if kind is not None:
        kind = click.Choice(kind)
    else:
        kind = number_of if declared.type in (int, int | None) else float
    return click.option(
        f"--{name.replace('_', '-')}", type=kind, metavar=declared.metadata["metavar"], help=words_of(name)
    )


_LIMIT_NAMES = ("budget", "confirm_budget", "time_limit", "run_time_limit", "significance", "seed")
#: Limits of an audit (runs, time, error probability) and its seed.
LIMITS = tuple(map(option_of, _LIMIT_NAMES))
#: Where the work is done: in several processes of this machine, or on a cluster.
WORKERS = (
    click.option(
        "--jobs",
        type=number_of,
        metavar="N",
        help="Number of processes, which does not affect the result.  [default: one for each core]",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Use the workers of this Dask scheduler. They need dp-audit and the code that is audited.",
    ),
)
#: The privacy claim, the databases, and how a mechanism is made and attacked.
PRIVACY = (
    click.option("--epsilon", "--claim-epsilon", "epsilon", type=float, help="Epsilon of the claim."),
    click.option("--delta", "--claim-delta", "delta", type=float, help="Delta of the claim."),
    click.option(
        "--relation",
        metavar="NAME",
        help="replace-one, add-or-remove-one, …, or module:object.  [default: the subject's, or replace-one]",
    ),
    click.option(
        "--records",
        metavar="LIST|MODULE:STRATEGY",
        help="Records that a database can contain: a list, a strategy or a function that returns one.",
    ),
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
        "--valid", metavar="MODULE:FUNCTION", help="Returns whether a database belongs to the domain."
    ),
    *map(option_of, ("numerics", "until", "unfinished", "recorded")),
)
#: The utility claim, its problems, and which claim is audited.
UTILITY = (
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
#: Parameters of the subject.
PARAMETERS = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the subject."
)


def with_options(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that adds the options in their order.

    Examples
    --------
    >>> command = click.command()(with_options(*LIMITS)(lambda **options: None))
    >>> command.params[0].name
    'budget'
    """

    def decorate(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
