"""The commands as click sees them; their work is imported when one is called, so that help costs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from audit.catalogue import Entry, matching_entries
from audit.doors.cli.settings import CLAIMS, EFFORT, SCOPE, SET, number_of, with_options
from audit.errors import positive_int

REPORT = click.option("--html", type=click.Path(path_type=Path), metavar="FILE", help="Write a report.")


@click.group(
    name="dp-audit",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing refuted; 1 something refuted (suite: an expectation failed); 2 usage; "
    "3 an audit could not be carried out or was inconclusive.",
)
@click.version_option(package_name="dp-audit")
def group() -> None:
    """Audit privacy mechanisms: from a mechanism and its claim to a verdict with evidence."""


@group.command(name="list", short_help="Show the catalogue.")
@click.argument("pattern", required=False)
def list_command(pattern: str | None) -> None:
    """Show the catalogue, or the names in it that match PATTERN: which claims are audited, and what they are.

    A claim of which an audit should find that it fails is marked "(flawed)"; the others should hold.
    """
    entries = matching_entries(pattern)
    claims = {entry.name: _claims(entry) for entry in entries}
    widths = [max(map(len, column), default=0) for column in (claims.keys(), claims.values())]
    for entry in entries:
        source = f"[{entry.reference}]" if entry.reference else ""
        named = f"{entry.name:<{widths[0]}}  {claims[entry.name]:<{widths[1]}}"
        click.echo(f"{named}  {' '.join(filter(None, (entry.summary, source)))}".rstrip())


def _claims(entry: Entry) -> str:
    """Return the claims of an entry that are audited, each with whether it is flawed.

    Examples
    --------
    >>> _claims(Entry("m", list, expected="refuted", utility={}))
    'privacy (flawed), utility'
    """
    return ", ".join(f"{kind} (flawed)" if kind in entry.flaws else kind for kind in entry.audits)


@group.command(name="run", short_help="Audit one subject: its privacy, and its utility if it claims any.")
@click.argument("target")
@with_options(*SCOPE, *CLAIMS, *EFFORT, SET)
@REPORT
@click.option(
    "--json", "saved", metavar="FILE|-", help="Save the result; - puts it on stdout instead of text."
)
@click.option("--mutate", is_flag=True, help="Repeat it at smaller claims: from where would it have noticed?")
@click.option("--explain", is_flag=True, help="Print the plan and the cost of a call; audit nothing.")
def run_command(
    target: str,
    *,
    settings: tuple[str, ...],
    html: Path | None,
    saved: str | None,
    mutate: bool,
    explain: bool,
    **given: Any,
) -> int:
    """Audit TARGET: module:object, path.py:object or a name of the catalogue.

    A subject that claims privacy and utility is audited for both.
    """
    from audit.doors.cli.run import explain_target, run  # numpy and more, only for an audit

    if explain:
        if html or saved or mutate:
            raise click.UsageError("--explain audits nothing: leave out --html, --json and --mutate.")
        return explain_target(target, settings=settings, given=given)
    return run(target, settings=settings, html=html, saved=saved, mutate=mutate, given=given)


@group.command(name="suite", short_help="Audit the catalogue.")
@click.argument("pattern", required=False)
@with_options(*EFFORT)
@REPORT
@click.option(
    "--json",
    "saved",
    type=click.Path(path_type=Path),
    metavar="FOLDER|FILE.json",
    help="Save each result before the next audit starts; by default in `results` beside the report.",
)
@click.option(
    "--with",
    "attached",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Show in the report what `findings --json FILE` or `study --json FILE` saved; may be repeated.",
)
def suite_command(
    pattern: str | None, html: Path | None, saved: Path | None, attached: tuple[Path, ...], **given: Any
) -> int:
    """Audit the catalogue, or the names in it that match PATTERN, against what is expected of them.

    An entry's own options come before the defaults.
    """
    from audit.doors.cli.suite import run_suite  # numpy and more, only for an audit

    if attached and html is None:
        raise click.UsageError("--with FILE shows it in the report: add --html FILE.")
    if given["jobs"] is not None:
        positive_int(given["jobs"], what="The `jobs`")
    return run_suite(pattern, html=html, saved=saved, attached=attached, given=given)


@group.command(name="findings", short_help="Compute what became of the texts' statements.")
@click.argument("pattern", required=False)
@REPORT
@click.option("--json", "saved", type=click.Path(path_type=Path), metavar="FILE", help="Save them.")
@click.option("--full", is_flag=True, help="Tell all that is said of each, as with a PATTERN.")
@click.option("--list", "listed", is_flag=True, help="Name them; compute nothing.")
def findings_command(
    pattern: str | None, *, html: Path | None, saved: Path | None, full: bool, listed: bool
) -> int:
    """Compute the findings on the source texts: a line each, claimed beside found.

    PATTERN is a name (E12), what a name begins with (E9, BNS) or a pattern ('N*'), in any case of letters:
    those that match are told in full.
    """
    from audit.doors.cli.findings import list_findings, show_findings  # numpy and more, only to compute

    if listed and (html or saved or full):
        raise click.UsageError("--list computes nothing: leave out --html, --json and --full.")
    return list_findings(pattern) if listed else show_findings(pattern, full=full, html=html, saved=saved)


@group.command(name="study", short_help="Find least sample sizes, and how they grow.")
@click.argument("pattern", required=False, metavar="[PRESET|TARGET]")
@REPORT
@click.option("--json", "saved", type=click.Path(path_type=Path), metavar="FILE", help="Save the results.")
@click.option(
    "--cells",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Keep every step here; a study that is started again goes on, unless the code of its learners "
    "changed. By default in `study-cells` beside the results or the report.",
)
@click.option(
    "--values",
    metavar="V,V,…",
    help="Sweep the preset's parameter over these, ascending.  [default: the preset's]",
)
@click.option("--list", "listed", is_flag=True, help="Name the presets, and what each sweeps.")
@click.option("--significance", type=float, help="Of a whole study.  [default: 1e-3]")
@click.option("--budget", type=number_of, metavar="N", help="Most runs of a step.  [default: the preset's]")
@click.option("--seed", type=number_of, metavar="N", help="As in an audit.  [default: 0]")
@click.option("--jobs", type=number_of, metavar="N", help="As in an audit.  [default: 1]")
def study_command(pattern: str | None, *, listed: bool, **given: Any) -> int:
    """Find the least m at which learners are accurate, over a sweep: those of PRESET, or all there are.

    PRESET is a name or a pattern; TARGET is a study of your own, module:object or path.py:object: a `Study`,
    or a function without arguments that returns one. Beside each m stands the
    sample size that the theorem asks for.
    """
    from audit.doors.cli.studies import list_studies, show_studies  # numpy and more, only to compute

    return list_studies(pattern) if listed else show_studies(pattern, **given)


@group.command(name="replay", short_help="Repeat saved refutations.")
@click.argument("named", nargs=-1, required=True, metavar="WITNESS.json... [TARGET]")
@SET
@click.option("--convert", metavar="MODULE:FUNCTION", help="As in the audit.")
@click.option("--problems", metavar="MODULE:OBJECT", help="As in a utility audit.")
@click.option("--fresh", is_flag=True, help="Draw new runs instead of the same ones.")
@click.option(
    "--trust", is_flag=True, help="Import and call the subject and the --convert that the files name."
)
def replay_command(named: tuple[str, ...], **given: Any) -> int:
    """Draw the runs of saved refutations again and see whether they stand, on TARGET or with --trust.

    The new runs alone decide. TARGET is called on the databases of a file, with the parameters in it; what a
    file itself names is imported and called with --trust only.
    """
    from audit.doors.cli.replay import replay  # numpy and more, only for an audit

    return replay(named, **given)
