"""run, runs, stop, resume, logs: pipelines from the terminal."""

from __future__ import annotations

from typing import Annotated

import typer

from lakehold.cli.door import Json, at, pages
from lakehold.cli.exits import Exit
from lakehold.cli.naming import PIPELINES, meant
from lakehold.cli.talk import Talk, talk

_RUNS = "/api/v1/runs"
_PAUSE = 0.5
_ENDED = {"succeeded", "failed", "stopped"}
_COLUMNS = {
    "id": "run",
    "resource": "what",
    "state": "state",
    "cause": "why",
    "started_by": "by",
    "made_at": "when",
    "error": "error",
}

RunId = Annotated[str, typer.Argument(help="The run, by its id.", metavar="RUN")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")]


def run(
    ctx: typer.Context,
    resource: Annotated[str, typer.Argument(help="A source, query, history or destination, by its id or name.")],
    *,
    reload: Annotated[bool, typer.Option("--reload", help="All of it anew, not only what is new.")] = False,
    since: Annotated[str, typer.Option("--from", help="Only what its cursor has from here on, anew.")] = "",
    until: Annotated[str, typer.Option("--until", help="Only what its cursor has before this, anew.")] = "",
    wait: Wait = True,
) -> None:
    """Run something, and wait until it has ended."""
    span = {"from": since, "until": until} if since or until else None
    with talk(ctx) as to:
        body = {"resource": meant(to.door, resource, PIPELINES), "reload": reload, "span": span}
        begun = to.door.ask("POST", _RUNS, body=body)
        tell(to, ended(to, begun) if wait else begun)


def runs(
    ctx: typer.Context,
    resource: Annotated[str | None, typer.Argument(help="Only those of this resource, by its id or name.")] = None,
    state: Annotated[str | None, typer.Option(help="Only those in this state.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many at the most.")] = 20,
) -> None:
    """Runs, the newest first."""
    with talk(ctx) as to:
        what = meant(to.door, resource, PIPELINES) if resource else None
        found = pages(to.door, _RUNS, {"resource": what, "state": state}, limit)
        to.table(found, _COLUMNS, "No runs.")


def stop(ctx: typer.Context, run: RunId) -> None:
    """Stop a run. What it has written whole stays."""
    with talk(ctx) as to:
        told = to.door.ask("POST", at(_RUNS, run) + "/stop")
        to.done(told, f"{run} is {told['state']}")


def resume(ctx: typer.Context, run: RunId, *, wait: Wait = True) -> None:
    """Let a run that failed or was stopped go on where it was."""
    with talk(ctx) as to:
        begun = to.door.ask("POST", at(_RUNS, run) + "/resume")
        tell(to, ended(to, begun) if wait else begun)


def logs(ctx: typer.Context, run: RunId) -> None:
    """What a run said."""
    with talk(ctx) as to:
        lines = pages(to.door, at(_RUNS, run) + "/log")
        to.table(lines, {"at": "when", "level": "level", "text": "what"}, "It said nothing.")


def ended(to: Talk, found: Json) -> Json:
    """The run, once it has ended."""
    from threading import Event  # noqa: PLC0415 - loaded by these verbs only

    while found["state"] not in _ENDED:
        Event().wait(_PAUSE)
        found = to.door.ask("GET", at(_RUNS, found["id"]))
    return found


def tell(to: Talk, told: Json) -> None:
    """What became of it; an exit code that says so too."""
    rows = sum(step["rows"] for step in told["steps"])
    words = f"{told['id']} {told['state']}" + (f", {rows:,} rows" if told["state"] == "succeeded" else "")
    to.done(told, f"{words}: {told['error']}" if told["error"] else words)
    if told["state"] in {"failed", "stopped"}:
        raise typer.Exit(Exit.NO)


def add(app: typer.Typer) -> None:
    """Add the verbs."""
    for verb in (run, runs, stop, resume, logs):
        app.command(rich_help_panel="Data")(verb)
