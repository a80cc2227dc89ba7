"""The commands as click sees them. Each command imports most code only when it is called, so help is fast."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from audit.catalogue import Entry, matching_entries
from audit.doors.cli.settings import LIMITS, PARAMETERS, PRIVACY, UTILITY, WORKERS, number_of, with_options
from audit.errors import Parameter, positive_int

#: The environment variable that a shell sets to ask for completions.
COMPLETING = "_DP_AUDIT_COMPLETE"
FILE = click.Path(path_type=Path)
REPORT = click.option("--html", type=FILE, metavar="FILE", help="Write an HTML report.")
SPLIT = click.option(
    "--split", is_flag=True, help="Write a separate page for each audit, in a folder beside the report."
)


def _names(_: click.Context, __: click.Parameter, begun: str) -> list[Any]:
    """Return the completions of a word for a shell.

    They are names of the catalogue or, if none fits, files.
    """
    from click.shell_completion import CompletionItem

    named = [entry.name for entry in matching_entries(None) if entry.name.startswith(begun)]
    return [CompletionItem(name) for name in named] or [CompletionItem(begun, type="file")]


@click.group(
    name="dp-audit",
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 nothing refuted; 1 a claim refuted (suite: an unexpected verdict); 2 usage error; "
    "3 an audit could not be carried out or was inconclusive; 130 interrupted.",
)
@click.version_option(package_name="dp-audit")
def group() -> None:
    """Audit claims of differential privacy: give a mechanism and its claim, get a verdict with evidence."""


@group.command(name="list", short_help="List the catalogue.")
@click.argument("pattern", required=False, shell_complete=_names)
def list_command(pattern: str | None) -> None:
    """List the catalogue, or its entries that match PATTERN, with the claims that are audited.

    A claim marked "(flawed)" is known to fail, and an audit should refute it. The others should hold.
    """
    entries = matching_entries(pattern)
    claims = {entry.name: _claims(entry) for entry in entries}
    widths = [max(map(len, column), default=0) for column in (claims.keys(), claims.values())]
    for entry in entries:
        source = f"[{entry.reference}]" if entry.reference else ""
        named = f"{entry.name:<{widths[0]}}  {claims[entry.name]:<{widths[1]}}"
        click.echo(f"{named}  {' '.join(filter(None, (entry.summary, source)))}".rstrip())


def _claims(entry: Entry) -> str:
    """Return the audited claims of an entry as a text. Flawed claims are marked.

    Examples
    --------
    >>> _claims(Entry("m", list, expected="refuted", utility={}))
    'privacy (flawed), utility'
    """
    return ", ".join(f"{kind} (flawed)" if kind in entry.flaws else kind for kind in entry.audits)


def _workers(given: dict[str, Any]) -> AbstractContextManager[None]:
    """Return a context in which the chosen workers do the work. `scheduler` is removed from the options."""
    jobs, scheduler = given["jobs"], given.pop("scheduler")
    if jobs is not None:
        positive_int(jobs, what=Parameter("jobs"))
        if scheduler is not None:
            raise click.UsageError("--jobs counts processes of this machine: leave it out with --scheduler.")
    if scheduler is None:
        return nullcontext()
    from audit.sampling.isolated.cluster import connected  # loads numpy and more: only for a cluster

    return connected(scheduler)


@group.command(name="run", short_help="Audit one subject: its privacy, and its utility if it claims any.")
@click.argument("target", shell_complete=_names)
@with_options(*PRIVACY, *UTILITY, *LIMITS, *WORKERS, PARAMETERS)
@REPORT
@click.option("--json", "saved", metavar="FILE|-", help="Save the result; - prints it instead of the text.")
@click.option(
    "--extend",
    type=FILE,
    metavar="FILE",
    help="Continue the audit saved in FILE with new runs, and save the result of all runs in FILE, or where "
    "--json says. If FILE does not exist, begin. Give the same target and options each time.",
)
@click.option(
    "--remember",
    type=FILE,
    metavar="FOLDER|FILE",
    help="First try the pairs on which this subject was refuted before, saved in FOLDER, and save a new "
    "refutation there. With a FILE, try the pairs that the audit saved in it tried first.",
)
@click.option("--mutate", is_flag=True, help="Repeat the audit with smaller claims, to see which it refutes.")
@click.option("--explain", is_flag=True, help="Print the plan and the cost of a call, without an audit.")
def run_command(target: str, *, explain: bool, **given: Any) -> int:
    """Audit TARGET: module:object, path.py:object or a name from the catalogue.

    A subject that claims privacy and utility is audited for both.
    """
    from audit.subject.targets import find_object

    if ":" not in target:
        find_object(target)  # refuses a misspelt name before anything heavy is imported
    from audit.doors.cli.run import explain_target, run  # loads numpy and more: only for an audit

    if not explain:
        with _workers(given):
            return run(target, **given)
    given.pop("scheduler")
    if any(given.pop(name) for name in ("html", "saved", "mutate", "extend", "remember")):
        raise click.UsageError(
            "--explain runs no audit: leave out --html, --json, --extend, --remember and --mutate."
        )
    return explain_target(target, **given)


@group.command(name="suite", short_help="Audit the catalogue.")
@click.argument("pattern", required=False, shell_complete=_names)
@with_options(*LIMITS, *WORKERS)
@REPORT
@click.option(
    "--json",
    "saved",
    type=FILE,
    metavar="FOLDER|FILE.json",
    help="Save each result as soon as it exists. The same command resumes the suite, and audits again only "
    "what changed: code, options or versions.  [default: `results` next to the report]",
)
@click.option(
    "--full", is_flag=True, help="Without PATTERN, carry out the audits of more than 10 seconds too."
)
@click.option(
    "--with",
    "attached",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Include in the report a file saved by `findings`, `study` or `self-audit --json`. Repeatable.",
)
@SPLIT
def suite_command(pattern: str | None, **given: Any) -> int:
    """Audit the catalogue, or its entries that match PATTERN, and compare each verdict with the expected one.

    Options given here override those of an entry, which override the defaults.
    """
    matching_entries(pattern)  # refuses a misspelt name before anything heavy is imported
    from audit.doors.cli.suite import run_suite  # loads numpy and more: only for an audit

    if given["attached"] and given["html"] is None:
        raise click.UsageError("--with puts files into the report: add --html FILE.")
    if given["split"] and given["html"] is None:
        raise click.UsageError("--split divides the report: add --html FILE.")
    with _workers(given):
        return run_suite(pattern, **given)


@group.command(name="findings", short_help="Check the statements of the source texts.")
@click.argument("pattern", required=False)
@REPORT
@click.option("--json", "saved", type=FILE, metavar="FILE", help="Save the findings.")
@click.option("--full", is_flag=True, help="Print each finding in full, as with a PATTERN.")
@click.option("--list", "listed", is_flag=True, help="List the names and compute nothing.")
@with_options(*WORKERS)
def findings_command(pattern: str | None, *, listed: bool, **given: Any) -> int:
    """Compute the findings on the source texts and print a line for each, with the ratio found ÷ claimed.

    PATTERN is a name (E12), the start of a name (E9, BNS) or a pattern ('N*'), in upper or lower case.
    Findings that match it are printed in full.
    """
    from audit.doors.cli.findings import list_findings, show_findings  # loads numpy and more: only to compute

    if listed and any(given.values()):
        raise click.UsageError("--list computes nothing: leave out the options.")
    if listed:
        return list_findings(pattern)
    with _workers(given):
        return show_findings(pattern, **given)


@group.command(name="study", short_help="Find the least sample sizes, and how they grow.")
@click.argument("pattern", required=False, metavar="[PRESET|TARGET]")
@REPORT
@click.option("--json", "saved", type=FILE, metavar="FILE", help="Save the results.")
@click.option(
    "--cells",
    type=FILE,
    metavar="FOLDER",
    help="Save every step here. The same command resumes the study, unless the code of its learners "
    "changed.  [default: `study-cells` next to the results or the report]",
)
@click.option(
    "--values", metavar="V,V,…", help="Values of the preset's parameter, ascending.  [default: the preset's]"
)
@click.option("--list", "listed", is_flag=True, help="List the presets and the parameter of each.")
@click.option("--significance", type=float, help="Significance of a whole study.  [default: 1e-3]")
@click.option(
    "--budget", type=number_of, metavar="N", help="Maximum runs of a step.  [default: the preset's]"
)
@click.option("--seed", type=number_of, metavar="N", help="Random seed, as in `run`.  [default: 0]")
@with_options(*WORKERS)
def study_command(pattern: str | None, *, listed: bool, **given: Any) -> int:
    """Find the least number of records, m, at which a learner is accurate, for several values of a parameter.

    PRESET is a name or a pattern; without it all presets run. TARGET is a study of your own, module:object or
    path.py:object: a `Study`, or a function without arguments that returns one. The sample size that the
    theorem requires is printed beside each m.
    """
    from audit.doors.cli.studies import list_studies, show_studies  # loads numpy and more: only to compute

    if listed:
        return list_studies(pattern)
    with _workers(given):
        return show_studies(pattern, **given)


@group.command(name="self-audit", short_help="Audit the auditor: false alarms, power, coverage.")
@click.argument("part", required=False)
@click.option("--quick", is_flag=True, help="Measure less: about two minutes instead of half an hour.")
@click.option("--seed", type=number_of, metavar="N", help="Random seed, as in `run`.  [default: 0]")
@click.option(
    "--cases",
    type=FILE,
    metavar="FILE.py",
    help="Also audit the mechanisms in CASES of this file, whose code is run (docs/self-audit.md).",
)
@REPORT
@click.option("--json", "saved", type=FILE, metavar="FILE", help="Save the rows.")
def self_audit_command(part: str | None, **given: Any) -> int:
    """Audit mechanisms whose privacy is known, and compare the results with what the auditor promises.

    PART is false-alarms, runs-to-refutation, efficiency, tightness or coverage; without it all are measured.
    Exit code 1: a limit is exceeded, such as the rate of false alarms. Ctrl-C keeps the finished rows.
    """
    from audit.doors.cli.self_audit import show_self_audit  # loads numpy and more: only for an audit

    return show_self_audit(part, **given)


@group.command(name="replay", short_help="Repeat saved refutations.")
@click.argument("named", nargs=-1, required=True, metavar="WITNESS.json... [TARGET]")
@PARAMETERS
@click.option("--convert", metavar="MODULE:FUNCTION", help="The `--convert` of the audit.")
@click.option("--problems", metavar="MODULE:OBJECT", help="The `--problems` of the utility audit.")
@click.option("--fresh", is_flag=True, help="Draw new runs instead of the same ones.")
@click.option(
    "--trust", is_flag=True, help="Import and call the subject and the --convert that the files name."
)
def replay_command(named: tuple[str, ...], **given: Any) -> int:
    """Check whether saved refutations still stand, by new runs.

    Only the new runs decide. The databases and the parameters come from the file, and TARGET says what to
    call. If you do not give TARGET, give --trust: it lets the command import and call the code that the file
    names.
    """
    from audit.doors.cli.replay import replay  # loads numpy and more: only for an audit

    return replay(named, **given)


@group.command(name="report", short_help="Make a report from saved results, or make an old one again.")
@click.argument("paths", nargs=-1, required=True, type=FILE, metavar="SAVED...")
@click.option(
    "--html", type=FILE, metavar="FILE", help="Where to write it.  [default: in place of the report given]"
)
@SPLIT
def report_command(paths: tuple[Path, ...], **given: Any) -> int:
    """Make a report from SAVED: reports, files that `--json` saved, folders of these. No audit is run."""
    from audit.doors.cli.report import rebuild  # loads numpy and more: only to read results

    return rebuild(paths, **given)


@group.command(name="diff", short_help="Name what changed between two sessions.")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE)
def diff_command(before: Path, after: Path) -> int:
    """Name the verdicts, claims, entries and bounds that changed from BEFORE to AFTER.

    A bound has changed if it moved by more than noise. BEFORE and AFTER are reports, files that `--json`
    saved, or folders of these. Exit code 1: something changed.
    """
    from audit.doors.cli.report import show_changes  # loads numpy and more: only to read results

    return show_changes(before, after)


@group.command(name="completion", short_help="Print the script that completes commands in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands, options and names of the catalogue in SHELL.

    bash: eval "$(dp-audit completion bash)" in ~/.bashrc. zsh: the same in ~/.zshrc. fish: write it to
    ~/.config/fish/completions/dp-audit.fish.
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(group, {}, "dp-audit", COMPLETING).source())
