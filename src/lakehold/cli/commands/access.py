"""Commands that ask the access engine: check, explain, who, can, review; and those of the audit log."""

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Annotated

import typer

from lakehold.cli.commands.noun import Noun, compact
from lakehold.cli.commands.resources import RESOURCE_COLUMNS
from lakehold.cli.errors import ExitCode, ResponseError
from lakehold.cli.output import CommandContext, command
from lakehold.cli.transport import Json

_Member = Annotated[str, typer.Argument(help="Member ID, or `me`.")]
_Action = Annotated[str, typer.Argument(help="Action, for example edit.")]
_Resource = Annotated[str, typer.Argument(help="Resource ID.")]
_At = Annotated[str | None, typer.Option(help="Evaluate at this time: 2031-05-04T10:30:00Z.")]


@command
def check(cmd: CommandContext, member: _Member, action: _Action, resource: _Resource, at: _At = None) -> None:
    """Check whether a member may perform an action. Exit code 0 for yes, 1 for no."""
    result = cmd.request("POST", "/api/v1/access/check", body=_question(member, action, resource, at))
    cmd.print_result(result, "yes" if result["allowed"] else "no")
    if not result["allowed"]:
        raise typer.Exit(ExitCode.NO)


@command
def explain(cmd: CommandContext, member: _Member, action: _Action, resource: _Resource, at: _At = None) -> None:
    """Explain why a member may or may not perform an action, and what would change it."""
    result = cmd.request("POST", "/api/v1/access/explain", body=_question(member, action, resource, at))
    cmd.print_value(result, human=lambda: _print_explanation(result))


@command
def who(cmd: CommandContext, action: _Action, resource: _Resource, at: _At = None) -> None:
    """List members who may perform an action on a resource."""
    query = {"action": action, "resource": resource, "at": at}
    cmd.print_list("/api/v1/access/who", {"name": "member", "id": "id"}, "Nobody.", query)


@command
def can(
    cmd: CommandContext,
    member: _Member,
    *,
    resource: Annotated[str | None, typer.Option(help="List all actions on this resource.")] = None,
    action: Annotated[str, typer.Option(help="With --kind: the action.")] = "see",
    kind: Annotated[str | None, typer.Option(help="List resources of this kind: lakehouse.table.")] = None,
    within: Annotated[str | None, typer.Option(help="With --kind: only in this layer, workspace, …")] = None,
    search: Annotated[str, typer.Option(help="With --kind: filter by part of the name.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="With --kind: maximum number of results; 0 for all.")] = 100,
    at: _At = None,
) -> None:
    """List a member's actions on a resource, or the resources of a kind on which they may perform an action."""
    if (resource is None) == (kind is None):
        raise typer.BadParameter("Use either --resource or --kind.")
    about = {"subject": _subject(member), "at": at}
    if resource is not None:
        result = cmd.request("GET", "/api/v1/access/can/actions", query={**about, "resource": resource})
        cmd.print_result(result, ", ".join(result["actions"]) or "Nothing.")
        return
    query = {**about, "action": action, "kind": kind, "within": within, "search": search}
    cmd.print_list("/api/v1/access/can/resources", RESOURCE_COLUMNS, "Nothing.", query, limit)


def _question(member: str, action: str, resource: str, at: str | None) -> Json:
    return {"subject": _subject(member), "action": action, "resource": resource, "at": at}


def _subject(member: str) -> str | None:
    return None if member == "me" else member


def _print_explanation(explanation: Json) -> None:
    from rich.console import Console  # noqa: PLC0415 - scripts do not need it
    from rich.markup import escape  # noqa: PLC0415
    from rich.tree import Tree  # noqa: PLC0415

    answer = "[green]may[/green]" if explanation["allowed"] else "[red]may not[/red]"
    subject, action, resource = (escape(explanation[key]) for key in ("subject", "action", "resource"))
    tree = Tree(f"[bold]{subject}[/bold] {answer} {action} {resource}")

    def branch(above: Tree, reason: Json) -> None:
        inner = above.add(f"{_mark(reason['held'])} {escape(reason['text'])}")
        for fact in reason["facts"]:
            inner.add(f"[dim]{escape(_fact_text(fact))}[/dim]")
        for part in reason["parts"]:
            branch(inner, part)

    for path in (*explanation["paths"], *(gate for gate in explanation["gates"] if not gate["held"])):
        above = tree.add(
            f"{_mark(path['held'])} [cyan]{escape(path['rule'])}[/cyan]  [dim]{escape(path['place'])}[/dim]"
        )
        if explanation["allowed"] or path in explanation["gates"]:
            branch(above, path["reason"])
    for way in explanation["ways"]:
        would = tree.add("[yellow]would do[/yellow]")
        for needed in way["needed"]:
            people = ", ".join(giver["name"] for giver in needed["givers"]) or "nobody visible to you"
            more = f" and {needed['more_givers']} more" if needed["more_givers"] else ""
            would.add(escape(f"{needed['text']}: granted by {people}{more}"))
    Console().print(tree, highlight=False)


def _fact_text(fact: Json) -> str:
    """Return a fact by its ids, as other commands accept them."""
    match fact["fact"]:
        case "grant":
            return f"{fact['subject']} is {fact['role']} on {fact['resource']}"
        case "edge" if fact["name"] == "member_of":
            return f"{fact['source']} is in {fact['target']}"
        case "edge":
            return f"{fact['source']} has {fact['target']} as its {fact['name']}"
        case _:
            whose = f" for {fact['member']}" if fact["member"] else ""
            return f"{fact['resource']}: {fact['name']} is {fact['value']}{whose}"


def _mark(held: Json) -> str:
    return "[green]✓[/green]" if held else "[red]✗[/red]"


_PAUSE = 0.5
_REVIEWS = "/api/v1/access/reviews"


@command
def review(
    cmd: CommandContext,
    file: Annotated[Path, typer.Argument(help="Output file: .parquet, .csv or .arrow.")],
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; repeatable.")] = None,
    inside: Annotated[str | None, typer.Option(help="Only resources inside this one.")] = None,
) -> None:
    """Export all effective permissions to a file."""
    ending = file.suffix.removeprefix(".")
    if ending not in {"parquet", "csv", "arrow"}:
        raise typer.BadParameter("The file name must end in .parquet, .csv or .arrow.", param_hint="FILE")
    job = cmd.request("POST", _REVIEWS, body=compact(format=ending, kinds=kind, inside=inside))
    job = _wait_until_done(cmd, job)
    if job["state"] != "done":
        raise ResponseError(500, "failed", "The review failed.", job["error"])
    size = _download(cmd, f"{_REVIEWS}/{job['id']}/result", file)
    cmd.print_result({**job, "file": str(file), "bytes": size}, f"{job['rows']:,} rows in {file}")


def _wait_until_done(cmd: CommandContext, job: Json) -> Json:
    """Poll a job until it has ended, with a progress bar on a terminal; nothing for scripts."""
    from rich.console import Console  # noqa: PLC0415 - loaded by this verb only
    from rich.progress import Progress  # noqa: PLC0415

    # Here or in a worker: either way its progress is polled.
    thread = Thread(target=cmd.transport.run_job, args=(job["id"],))
    thread.start()
    with Progress(console=Console(stderr=True), disable=cmd.json, transient=True) as progress:
        task = progress.add_task("waiting", total=100)
        while job["state"] not in {"done", "failed"}:
            progress.update(task, completed=job["progress"], description=job["doing"] or job["state"])
            time.sleep(_PAUSE)
            job = cmd.request("GET", f"{_REVIEWS}/{job['id']}")
    thread.join()
    return job


def _download(cmd: CommandContext, path: str, file: Path) -> int:
    """Download to a temporary file, then rename it, so that the file is complete. Return its size."""
    beside = file.with_name(f".{file.name}.part")
    try:
        with beside.open("wb") as out:
            size = sum(out.write(part) for part in cmd.transport.stream(path))
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)
    return size


audit = Noun("/api/v1/access/audit", "The audit log: changes, sign-ins, denied attempts, and who read what.")

_ByMember = Annotated[str | None, typer.Option(help="Only entries of this member.")]
_OnResource = Annotated[str | None, typer.Option(help="Only entries of this resource.")]
_DidAction = Annotated[str | None, typer.Option(help="Only this action.")]
_Outcome = Annotated[str | None, typer.Option(help="done or denied.")]
_Since = Annotated[str | None, typer.Option(help="From this time: 2031-05-04T10:30:00Z.")]
_Until = Annotated[str | None, typer.Option(help="Before this time.")]
_Reads = Annotated[bool, typer.Option("--reads", help="Who read which tables and files, instead of changes.")]


@audit.verb("list")
def list_entries(
    cmd: CommandContext,
    *,
    member: _ByMember = None,
    resource: _OnResource = None,
    action: _DidAction = None,
    outcome: _Outcome = None,
    since: _Since = None,
    until: _Until = None,
    reads: _Reads = False,
    limit: Annotated[int, typer.Option(min=0, help="Maximum number of results; 0 for all.")] = 50,
) -> None:
    """List entries, newest first."""
    filters = _filters(member, resource, action, outcome, since, until, reads=reads)
    columns = {"n": "n", "at": "when", "member_name": "who", "action": "did", "resource_name": "what"}
    columns |= {"after": "read"} if reads else {"outcome": "outcome"}
    columns |= {"reason": "reason"}
    cmd.print_list(audit.path, columns, "Nothing.", filters, limit)


@audit.verb()
def export(
    cmd: CommandContext,
    file: Annotated[Path | None, typer.Argument(help="Output file; default: standard output.")] = None,
    *,
    member: _ByMember = None,
    resource: _OnResource = None,
    action: _DidAction = None,
    outcome: _Outcome = None,
    since: _Since = None,
    until: _Until = None,
    reads: _Reads = False,
) -> None:
    """Export all entries as JSON Lines, oldest first, with number and hash."""
    filters = _filters(member, resource, action, outcome, since, until, reads=reads)
    parts = cmd.transport.stream(f"{audit.path}/export", filters)
    if file is None:
        sys.stdout.buffer.writelines(parts)
        return
    lines = 0
    with file.open("wb") as out:
        for part in parts:
            out.write(part)
            lines += part.count(b"\n")
    cmd.print_result({"file": str(file), "entries": lines}, f"{lines:,} entries in {file}")


@audit.verb()
def verify(
    cmd: CommandContext,
    *,
    kept: Annotated[Path | None, typer.Option(help="A file that `audit head` wrote, to compare with.")] = None,
) -> None:
    """Verify both hash chains. Exit code 1 if an entry was altered, removed, reordered or truncated.

    They are compared with the anchor that the server keeps outside of its database; with --kept also with heads that
    were kept elsewhere.
    """
    heads = {} if kept is None else {each["log"]: each for each in json.loads(kept.read_bytes())["items"]}
    found = {log: _verify_log(cmd, log, heads.get(log, {})) for log in ("changes", "reads")}
    lines = [
        f"{log}: whole, {each['entries']:,} entries" if each["whole"] else f"{log}: broken: {each['fault']}"
        for log, each in found.items()
    ]
    whole = all(each["whole"] for each in found.values())
    cmd.print_result({**found["changes"], "whole": whole, "reads": found["reads"]}, "\n".join(lines))
    if not whole:
        raise typer.Exit(ExitCode.NO)


def _verify_log(cmd: CommandContext, log: str, kept: Mapping[str, object]) -> Json:
    query = {"log": log, "entries": kept.get("entries"), "head": kept.get("head")}
    return cmd.request("GET", f"{audit.path}/verify", query=query)


@audit.verb()
def head(cmd: CommandContext, file: Annotated[Path, typer.Argument(help="Output file.")]) -> None:
    """Write number and hash of the last entries to a file, to keep it elsewhere and compare later: `verify --kept`."""
    found = cmd.request("GET", f"{audit.path}/head")
    file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    heads = ", ".join(f"{each['log']} {each['entries']:,}" for each in found["items"])
    cmd.print_result(found, f"{heads or 'nothing'}, in {file}")


def _filters(*values: str | None, reads: bool) -> Mapping[str, object]:
    names = ("member", "resource", "action", "outcome", "since", "until")
    return {**dict(zip(names, values, strict=True)), "log": "reads" if reads else "changes"}
