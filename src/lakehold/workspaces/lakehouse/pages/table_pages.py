"""The views of a table that only a lakehouse has: snapshots, the runs that write it, maintenance and rollback."""

from collections.abc import Iterator
from contextlib import suppress

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceRef
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import need_confirmation
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import RUNS
from lakehold.web.runs.run_list import run_rows
from lakehold.web.table_pages import current_metadata, table_frame
from lakehold.workspaces.lakehouse import lineage, maintenance
from lakehold.workspaces.lakehouse.pages.page_frame import need_table

routes = router("/resources")

_MOST_RUNS = 30
_ROLLBACK_WARNING = "Newer snapshots are kept until they expire."


@routes.post("/{uid:path}/snapshots/upkeep")
def keep(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Start a run that compacts the files of the table and expires old snapshots."""
    found = need_table(ctx, uid, "write")
    run = maintenance.maintain_table(ctx, uid)
    return pages.redirect(request, urls.run(run.id), f"{found.name} is being optimized.")


@routes.post("/{uid:path}/snapshots/rollback")
def roll_back(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str, sent: SubmittedForm) -> Response:
    """Start a run that rolls the table back to a snapshot, after a confirmation."""
    found, number = need_table(ctx, uid, "rollback"), str(sent.get("snapshot", ""))
    if not number.lstrip("-").isascii() or not number.lstrip("-").isdigit():
        raise InvalidInputError("Unknown snapshot.", "Choose one from the list.")
    back = urls.resource(uid, "snapshots")
    question = f"Roll back {found.name} to this snapshot?"
    need_confirmation(request, sent, question, _ROLLBACK_WARNING, do="Roll back", back=back)
    run = maintenance.roll_back_table(ctx, lake, uid, int(number))
    return pages.redirect(request, urls.run(run.id), f"{found.name} is being rolled back.")


@routes.get("/{uid:path}/snapshots")
def table_snapshots(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render the snapshots of the table, newest first."""
    found = need_table(ctx, uid, "read")
    now = current_metadata(ctx, lake, uid)
    keep_up = PageAction("Optimize", urls.resource(uid, "snapshots/upkeep"), "post", "sparkles")
    # Each with the run that wrote it.
    states = [(each, each.mark.partition("/")[0]) for each in reversed(now.snapshots if now else ())]
    values: dict[str, object] = {
        "states": states,
        "current": now.current if now else None,
        "seen": _visible_runs(ctx, [run for _, run in states[:_MOST_RUNS] if run.startswith("run_")]),
        "may_roll_back": ctx.session.check(ctx.principal, "rollback", uid),
        "rollback_warning": _ROLLBACK_WARNING,
        "keeping": resource_header.actions_of(ctx, uid, {"write": keep_up}),
    }
    return pages.render(request, "lakehouse/snapshots.html", table_frame(ctx, found, "snapshots") | values)


@routes.get("/{uid:path}/written")
def table_runs(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the runs that write the table, newest first."""
    found = need_table(ctx, uid, "see_runs")
    writers, hidden = lineage.writers(ctx, uid)
    runs = sorted(_writer_runs(ctx, [*writers, ResourceRef(uid, found.kind, found.name)]), key=lambda run: -run.made_at)
    values: dict[str, object] = {
        "wrote": run_rows(ctx, runs[:_MOST_RUNS]),
        "writers": writers,
        "hidden": hidden,
    }
    return pages.render(request, "lakehouse/written.html", table_frame(ctx, found, "written") | values)


def _visible_runs(ctx: RequestContext, runs: list[str]) -> frozenset[str]:
    """Return those of the runs that the caller may see."""
    seen = set()
    for run in dict.fromkeys(runs):
        with suppress(LakeholdError):
            seen.add(RUNS.get(ctx, run).id)
    return frozenset(seen)


def _writer_runs(ctx: RequestContext, writers: list[ResourceRef]) -> Iterator[Run]:
    for writer in writers:
        if writer.kind in RUNS.runnables:
            with suppress(DeniedError):
                yield from RUNS.page(ctx, resource=writer.uid, limit=_MOST_RUNS)
