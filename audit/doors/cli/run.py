"""The work of ``dp-audit run``."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import TYPE_CHECKING, Any

import click

from audit.codec.files import check_apart, check_writable, source_of, write_text
from audit.doors.carry_out import carry_out
from audit.doors.cli.exits import NOTHING_REFUTED, exit_code, worst_exit_code
from audit.doors.explain import explain
from audit.doors.options import read_claim, read_options, read_parameters, read_utility_claim
from audit.doors.report_link import render_report
from audit.doors.summary import carried_out, warning
from audit.errors import AuditError
from audit.mutation.check import check_scalable, mutation_check
from audit.options import shared
from audit.privacy import make_task
from audit.results.result import AuditResult
from audit.results.saved import layout
from audit.subject.claimed import claims
from audit.subject.subject import adapt
from audit.subject.targets import resolve_target
from audit.values.progress import terminal_progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from audit.subject.targets import Target
    from audit.utility.saved import Saved

DATABASES = frozenset({"pairs", "suggested_pairs", "records", "size", "databases"})
UTILITY = ("alpha", "beta", "problems", "only")


def run(
    target: str,
    *,
    settings: Iterable[str],
    html: Path | None,
    saved: str | None,
    mutate: bool,
    given: Mapping[str, Any],
) -> int:
    """Audit one target, print and save what was found, and return the exit code."""
    places = [place for place in (html, saved) if place is not None and place != "-"]
    check_apart(*places)
    for place in places:
        check_writable(place)
    parameters = read_parameters(settings)
    if mutate:  # what will be refused then is refused before hours of work
        found, claim, _ = _read(target, parameters, given)
        _check_mutable(found, claim, given)
    results = audit_target(target, parameters, given)
    result = next((each for each in results if isinstance(each, AuditResult)), None)
    document = results[0].to_json()
    if len(results) > 1:
        document["utility"] = results[1].to_json()
    try:
        try:
            _save(document, saved)
            if html is not None:
                render_report([document], html)
            _say_written(saved, html)
        finally:
            if saved != "-":
                click.echo("\n\n".join(map(str, results)))
            warn(results)
        if mutate and result is not None:
            document["mutation"] = _mutate(result, target, parameters, given, quiet=saved == "-")
            _save(document, saved)
            if html is not None:  # again, with the check in it
                render_report([document], html)
    finally:  # neither a full disk nor Ctrl-C must take the result along
        if saved == "-":
            click.echo(json.dumps(document))
    return worst_exit_code([exit_code(each) for each in results])


def warn(results: Iterable[Saved]) -> None:
    """Say on stderr what the results should be warned of."""
    for said in filter(None, map(warning, results)):
        click.echo(f"warning: {said}", err=True)


def _save(document: Mapping[str, Any], saved: str | None) -> None:
    if saved is not None and saved != "-":
        write_text(saved, layout(document) + "\n")


def _say_written(*places: Path | str | None) -> None:
    """Say on stderr where the result went; stdout holds the result itself."""
    for place in places:
        if place is not None and place != "-":
            click.echo(f"wrote {place}", err=True)


def explain_target(target: str, *, settings: Iterable[str], given: Mapping[str, Any]) -> int:
    """Print the plan of an audit, which is not carried out."""
    found, claim, options = _read(target, read_parameters(settings), given)
    _check_private(found, claim, options)
    click.echo(
        explain(make_task(found.subject, claim, **options), name=None if found.entry is None else found.name)
    )
    return NOTHING_REFUTED


def _mutate(
    result: AuditResult,
    target: str,
    parameters: Mapping[str, Any],
    given: Mapping[str, Any],
    *,
    quiet: bool,
) -> dict[str, Any] | None:
    """Print whether a false claim would have been noticed, and return that as JSON."""
    if result.refuted or not carried_out(result):
        click.echo(
            "\nNo mutation check: it tests only audits that reached a verdict and refuted nothing.", err=quiet
        )
        return None
    found, _, options = _read(target, parameters, given)
    with terminal_progress() as progress:
        check = mutation_check(found.subject, result.claim, **options, progress=progress)
    click.echo(f"\n{dataclasses.replace(check, subject=result.subject)}", err=quiet)
    return check.to_json()


def _read(
    target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]
) -> tuple[Target, Any, dict[str, Any]]:
    """Return the subject, the claim (None for its own) and the options of `audit_privacy`."""
    texts = {name: value for name, value in given.items() if name not in UTILITY}
    claim = read_claim(texts.pop("epsilon", None), texts.pop("delta", None))
    chosen = read_options(texts)
    found = resolve_target(target, parameters)
    options = {**found.options_for("privacy"), **chosen, "isolate": True}
    own_claim = options.pop("claim", None)
    return found, own_claim if claim is None else claim, options


def audit_target(target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> list[Saved]:
    """Return the results of auditing a target in a child process: its privacy, its utility, or both."""
    found, claim, options = _read(target, parameters, given)
    utility_claim, utility = _read_utility(found, given)
    kinds = claims(found.subject, {"claim": claim} if claim is not None else {})
    if (utility_claim is not None or "problems" in utility) and "utility" not in kinds:
        kinds = [*(kind for kind in kinds if claim is not None or adapt(found.subject).claim), "utility"]
    if given.get("only"):
        kinds = [given["only"]]
    if "privacy" in kinds:
        _check_private(found, claim, options)
    command = command_line(target, parameters, given)
    told = {"privacy": (claim, options), "utility": (utility_claim, utility)}
    results = []
    with terminal_progress() as progress:
        for kind in kinds:
            claimed, chosen = told[kind]
            result = carry_out(kind, found.subject, claimed, options=chosen, progress=progress)
            result = dataclasses.replace(result, expected=found.expects(kind))
            results.append(_named(result, found, parameters, command, given.get("convert")))
    return results


def _check_private(found: Target, claim: Any, options: Mapping[str, Any]) -> None:
    """Refuse, with a way on, to audit the privacy of what claims utility alone and says no databases."""
    if claims(found.subject, {}) != ["utility"]:
        return
    subject = adapt(found.subject)
    known = {name for name in DATABASES if getattr(subject, name, None) is not None}
    if claim is None or not known.union(DATABASES.intersection(options)):
        raise AuditError(
            f"`{found.name}` claims only utility. To audit that, leave out `--epsilon`, "
            "`--delta` and `--only privacy`. To audit its privacy, give `--epsilon` and the databases, by "
            "`--pair LEFT RIGHT`, or `--records` and `--size`, or `--databases`."
        )


def _check_mutable(found: Target, claim: Any, given: Mapping[str, Any]) -> None:
    """Refuse a mutation check where no privacy is audited, or its claim cannot be made smaller."""
    only_utility = claim is None and claims(found.subject, {}) == ["utility"]
    if only_utility or given.get("only") == "utility":
        why = f"`{found.name}` claims only utility" if only_utility else "`--only utility` audits none"
        raise AuditError(f"`--mutate` needs a privacy claim to make smaller; {why}: leave it out.")
    check_scalable(adapt(found.subject).claim if claim is None else claim)


def _named(
    result: Saved, found: Target, parameters: Mapping[str, Any], command: str, convert: str | None
) -> Saved:
    """Return a result that says what was audited and how to do so again, by which `convert` too."""
    source = source_of(found.text)
    told = {"source": source, "command": command, "convert": convert}
    return dataclasses.replace(
        result,
        subject=result.subject if found.entry is None else found.name,
        target=found.text,
        reference=(found.entry.reference if found.entry else "") or result.reference,
        parameters={**result.parameters, **parameters},
        environment={**result.environment, **{name: said for name, said in told.items() if said}},
    )


def _read_utility(found: Target, given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the utility claim (None for the subject's own) and the options of `audit_utility`."""
    texts = {**shared(given), "problems": given.get("problems")}
    utility = {**found.options_for("utility"), **read_options(texts), "isolate": True}
    own = utility.pop("claim", None)
    if given.get("alpha") is not None or given.get("beta") is not None:
        known = getattr(found.subject, "utility_claim", None) if own is None else own
        own = read_utility_claim(given.get("alpha"), given.get("beta"), own=known)
    return own, utility


def command_line(target: str, parameters: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Return the command that repeats an audit.

    Examples
    --------
    >>> command_line("m.py:f", {"k": 2}, {"epsilon": 1.0, "pair": (("[0]", "[1]"),), "time_limit": None})
    "dp-audit run m.py:f --set k=2 --epsilon 1.0 --pair '[0]' '[1]'"
    """
    words = ["dp-audit", "run", target]
    for name, value in parameters.items():
        words += ["--set", f"{name}={value}"]
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        sides = value if isinstance(value, tuple) else () if value is None else ((value,),)
        for each in sides:
            words += [option, *map(str, each)]
    return shlex.join(words)
