"""The work of ``dp-audit run``."""

import dataclasses
import json
import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from audit.codec.files import check_apart, check_writable, source_of, write_text
from audit.doors.carry_out import carry_out
from audit.doors.cli.exits import INTERRUPTED, NOTHING_REFUTED, exit_code, worst_exit_code
from audit.doors.cli.reading import read_claim, read_options, read_parameters, read_utility_claim
from audit.doors.explain import explain
from audit.doors.report_link import render_report
from audit.doors.side_by_side import processes_for
from audit.doors.summary import carried_out, warning
from audit.errors import AuditError
from audit.mutation.check import check_scalable, mutation_check
from audit.options import Kind, taken
from audit.privacy import make_task
from audit.results.result import AuditResult
from audit.results.saved import layout, load
from audit.sampling import stop_asked
from audit.sampling.stopping import ctrl_c_ends_time
from audit.subject.claimed import claims
from audit.subject.subject import adapt
from audit.subject.targets import Target, resolve_target
from audit.utility.saved import Saved
from audit.values.progress import terminal_progress

DATABASES = frozenset({"pairs", "suggested_pairs", "records", "size", "databases"})
UTILITY = ("alpha", "beta", "problems", "only")


@dataclasses.dataclass(frozen=True)
class Asked:
    """What the command line asks for.

    Parameters
    ----------
    found
        The subject.
    parameters
        The parameters that it was built with.
    given
        The options of the command as they were given.
    claim
        The privacy claim; None for the subject's own.
    options
        The options of `audit_privacy`.
    """

    found: Target
    parameters: Mapping[str, Any]
    given: Mapping[str, Any]
    claim: Any
    options: Mapping[str, Any]

    @property
    def only_utility(self) -> bool:
        """Whether the subject claims only utility."""
        return claims(self.found.subject, {}) == ["utility"]


def read(target: str, settings: Iterable[str], given: Mapping[str, Any]) -> Asked:
    """Return what the command line asks for."""
    parameters = read_parameters(settings)
    texts = {name: value for name, value in given.items() if name not in UTILITY}
    claim = read_claim(texts.pop("epsilon", None), texts.pop("delta", None))
    chosen = read_options(texts)
    found = resolve_target(target, parameters)
    own_claim, options = _audit_of(found, "privacy", chosen)
    return Asked(found, parameters, given, own_claim if claim is None else claim, options)


def _audit_of(found: Target, kind: Kind, chosen: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the claim and the options of an audit. Chosen options override those of the entry."""
    options = {**found.options_for(kind), **chosen, "isolate": True}
    options["jobs"] = processes_for(chosen.get("jobs"))
    return options.pop("claim", None), options


def run(
    target: str,
    *,
    settings: Iterable[str],
    html: Path | None,
    saved: str | None,
    mutate: bool,
    extend: Path | None,
    remember: Path | None = None,
    **given: Any,
) -> int:
    """Audit one target, print and save the results, and return the exit code."""
    earlier, saved = _earlier(extend), saved or (None if extend is None else str(extend))
    places = [place for place in (saved, html) if place is not None and place != "-"]
    check_apart(*places)
    asked = read(target, settings, given)
    for place in places:  # may make a folder, so only after `read` has refused misspelt options
        check_writable(place)
    if mutate:  # raise the error now, not after hours of work
        _check_mutable(asked)
    if extend is not None:
        _check_private(asked)
    asked = dataclasses.replace(asked, given={**given, "extend": extend, "remember": remember})
    with ctrl_c_ends_time(_tell_stopping):
        results = audit_target(asked, earlier)
        stopped = stop_asked()
    result = next((each for each in results if isinstance(each, AuditResult)), None)
    document = results[0].to_json() if result is None else result.to_json(extend=bool(places))
    if len(results) > 1:
        document["utility"] = results[1].to_json()
    try:
        try:
            _keep(document, saved, html)
            for place in places:  # on stderr, because stdout holds the result
                click.echo(f"wrote {place}", err=True)
        finally:
            if saved != "-":
                click.echo("\n\n".join(map(str, results)))
            warn(results)
        if mutate and result is not None and not stopped:
            document["mutation"] = _mutate(result, asked, quiet=saved == "-")
            _keep(document, saved, html)  # again, now with the mutation check
    finally:  # neither a full disk nor Ctrl-C may lose the result
        if saved == "-":
            click.echo(json.dumps(document))
    return INTERRUPTED if stopped else worst_exit_code([exit_code(each) for each in results])


def _tell_stopping() -> None:
    """Write to stderr that an audit ends early. A signal handler calls this and may not use `print`."""
    os.write(2, b"\nstopping with the verdict so far; press Ctrl-C again to end without one\n")


def _earlier(extend: Path | None) -> AuditResult | None:
    """Return the saved audit to continue. If the file does not exist, print so on stderr and return None."""
    if extend is None or extend.exists():
        return None if extend is None else load(extend)
    click.echo(f"{extend} does not exist yet: a first audit", err=True)
    return None


def warn(results: Iterable[Saved]) -> None:
    """Print the warnings about these results on stderr."""
    for said in filter(None, map(warning, results)):
        click.echo(f"warning: {said}", err=True)


def _keep(document: Mapping[str, Any], saved: str | None, html: Path | None) -> None:
    if saved is not None and saved != "-":
        write_text(saved, layout(document) + "\n")
    if html is not None:
        render_report([document], html)


def explain_target(target: str, *, settings: Iterable[str], **given: Any) -> int:
    """Print the plan of an audit without carrying it out."""
    asked = read(target, settings, given)
    _check_private(asked)
    found = asked.found
    task = make_task(found.subject, asked.claim, **asked.options)
    click.echo(explain(task, name=None if found.entry is None else found.name))
    return NOTHING_REFUTED


def _mutate(result: AuditResult, asked: Asked, *, quiet: bool) -> dict[str, Any] | None:
    """Print which smaller claims the audit refutes, and return the check as JSON."""
    if result.refuted or not carried_out(result):
        click.echo(
            "\nNo mutation check: it tests only audits that reached a verdict and refuted nothing.", err=quiet
        )
        return None
    with terminal_progress() as progress:
        check = mutation_check(asked.found.subject, result.claim, **asked.options, progress=progress)
    click.echo(f"\n{dataclasses.replace(check, subject=result.subject)}", err=quiet)
    return check.to_json()


def audit_target(asked: Asked, earlier: AuditResult | None = None) -> list[Saved]:
    """Return the results of auditing a target's claims in a child process.

    If an earlier audit is given, the privacy audit continues it.
    """
    found, claim, given = asked.found, asked.claim, asked.given
    utility_claim, utility = _read_utility(found, given)
    kinds = claims(found.subject, {"claim": claim} if claim is not None else {})
    if (utility_claim is not None or "problems" in utility) and "utility" not in kinds:
        kinds = [*(kind for kind in kinds if claim is not None or adapt(found.subject).claim), "utility"]
    if given.get("only") or given.get("extend"):
        kinds = [given.get("only") or "privacy"]
    if "privacy" in kinds:
        _check_private(asked)
    private = {**asked.options, "extend": earlier, "remember": given.get("remember")}
    told = {"privacy": (claim, private), "utility": (utility_claim, utility)}
    results = []
    with terminal_progress() as progress:
        for kind in kinds:
            if stop_asked():
                click.echo(f"interrupted; its {kind} was not audited", err=True)
                break
            claimed, chosen = told[kind]
            result = carry_out(kind, found.subject, claimed, options=chosen, progress=progress)
            results.append(_named(dataclasses.replace(result, expected=found.expects(kind)), asked))
    return results


def _check_private(asked: Asked) -> None:
    """Raise an error if the subject's privacy cannot be audited.

    Such a subject claims only utility and declares no databases.
    """
    if not asked.only_utility:
        return
    subject = adapt(asked.found.subject)
    known = {name for name in DATABASES if getattr(subject, name, None) is not None}
    if asked.claim is None or not known.union(DATABASES.intersection(asked.options)):
        raise AuditError(
            f"`{asked.found.name}` claims only utility. To audit that, leave out `--epsilon`, "
            "`--delta` and `--only privacy`. To audit its privacy, give `--epsilon` and the databases, by "
            "`--pair LEFT RIGHT`, or `--records` and `--size`, or `--databases`."
        )


def _check_mutable(asked: Asked) -> None:
    """Raise an error if a mutation check cannot be made.

    It needs a privacy audit and a claim that can be made smaller.
    """
    found, claim = asked.found, asked.claim
    only_utility = claim is None and asked.only_utility
    if only_utility or asked.given.get("only") == "utility":
        why = f"`{found.name}` claims only utility" if only_utility else "`--only utility` audits none"
        raise AuditError(f"`--mutate` needs a privacy claim to make smaller; {why}: leave it out.")
    check_scalable(adapt(found.subject).claim if claim is None else claim)


def _named(result: Saved, asked: Asked) -> Saved:
    """Return a result that names its target and the command that repeats it."""
    found, given = asked.found, dict(asked.given)
    if not getattr(result, "remembered", ()):  # omit the folder: by then it may hold pairs
        given.pop("remember", None)
    command = command_line(["run", found.text], asked.parameters, given)
    told = {"source": source_of(found.text), "command": command, "convert": asked.given.get("convert")}
    return dataclasses.replace(
        result,
        subject=result.subject if found.entry is None else found.name,
        target=found.text,
        reference=(found.entry.reference if found.entry else "") or result.reference,
        parameters={**result.parameters, **asked.parameters},
        environment={**result.environment, **{name: said for name, said in told.items() if said}},
    )


def _read_utility(found: Target, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the utility claim and the options of `audit_utility`.

    The claim is None if the subject's own is audited.
    """
    own, utility = _audit_of(found, "utility", read_options(taken("utility", given)))
    if given.get("alpha") is not None or given.get("beta") is not None:
        known = getattr(found.subject, "utility_claim", None) if own is None else own
        own = read_utility_claim(given.get("alpha"), given.get("beta"), own=known)
    return own, utility


def command_line(words: Iterable[str], parameters: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return a command of `dp-audit` as a text.

    It has these words, then the options that are neither None nor False.

    Examples
    --------
    >>> given = {"epsilon": 1.0, "pair": (("[0]", "[1]"),), "time_limit": None, "fresh": True}
    >>> command_line(["run", "m.py:f"], {"k": 2}, given)
    "dp-audit run m.py:f --set k=2 --epsilon 1.0 --pair '[0]' '[1]' --fresh"
    """
    command = ["dp-audit", *words]
    for name, value in parameters.items():
        command += ["--set", f"{name}={value}"]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            command.append(option)
        elif value is not None and value is not False:
            for each in value if isinstance(value, tuple) else ((value,),):
                command += [option, *map(str, each)]
    return shlex.join(command)
