"""The views of a table that only a lakehouse has: snapshots, the runs that write it, maintenance and rollback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceRef, ResourceView
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import to_moment
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.table_metadata import IcebergSnapshot
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import labels
from lakehold.web.runs.run_list import run_rows
from lakehold.web.runs.services import RUNS
from lakehold.web.table_pages import current_metadata, table_frame
from lakehold.workspaces.lakehouse import lineage, maintenance
from lakehold.workspaces.lakehouse.pages.page_frame import need_table

routes = router("/resources")

_MOST_RUNS = 30
_ROLLBACK_WARNING = "Newer snapshots are kept until they expire."


def rollback_action(ctx: RequestContext, uid: str, each: IcebergSnapshot) -> PageAction | None:
    """Return the action that rolls the table back to a snapshot, or None if the caller may not."""
    if not ctx.session.check(ctx.principal, "rollback", uid):
        return None
    return PageAction(
        "Roll back",
        urls.resource(uid, "snapshots/rollback"),
        "post",
        "undo-2",
        fields=(("snapshot", str(each.id)),),
        confirm=f"Roll back to this snapshot? {_ROLLBACK_WARNING}",
    )


@routes.post("/{uid:path}/snapshots/upkeep")
def keep(request: Request, ctx: WriteContext, uid: str) -> Response:
    """Start a run that compacts the files of the table and expires old snapshots."""
    found = need_table(ctx, uid, "write")
    return pages.redirect(
        request, urls.run(maintenance.maintain_table(ctx, uid).id), Flash(f"{found.name} is being optimized.")
    )


@routes.post("/{uid:path}/snapshots/rollback")
def roll_back(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str, sent: SubmittedForm) -> Response:
    """Start a run that rolls the table back to a snapshot, after a confirmation."""
    found, number = need_table(ctx, uid, "rollback"), str(sent.get("snapshot", ""))
    if not number.lstrip("-").isascii() or not number.lstrip("-").isdigit():
        raise InvalidInputError("Unknown snapshot.", "Choose one from the list.")
    back = urls.resource(uid, "snapshots")
    question = f"Roll back {found.name} to this snapshot?"
    if page := confirm(request, sent, question, _ROLLBACK_WARNING, do="Roll back", back=back):
        return page
    run = maintenance.roll_back_table(ctx, lake, uid, int(number))
    return pages.redirect(request, urls.run(run.id), Flash(f"{found.name} is being rolled back."))


@routes.get("/{uid:path}/snapshots")
def table_snapshots(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render the snapshots of the table, newest first."""
    found = need_table(ctx, uid, "read")
    now = current_metadata(ctx, lake, uid)
    keep_up = PageAction("Optimize", urls.resource(uid, "snapshots/upkeep"), "post", "sparkles")
    # Each with the run that wrote it, and how the table becomes so again.
    states = (
        [
            (each, each.mark.partition("/")[0], None if each == now.current else rollback_action(ctx, uid, each))
            for each in reversed(now.snapshots)
        ]
        if now
        else []
    )
    values: dict[str, object] = {
        "states": states,
        "current": now.current if now else None,
        "seen": _visible_runs(ctx, [run for _, run, _ in states[:_MOST_RUNS] if run.startswith("run_")]),
        "moment": to_moment,
        "size": labels.format_size,
        "keeping": resource_header.actions_of(ctx, uid, {"write": keep_up}),
    }
    return _page(request, ctx, found, "snapshots", values)


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
        "tones": labels.TONES,
        "signs": labels.ICONS,
    }
    return _page(request, ctx, found, "written", values)


def _page(request: Request, ctx: RequestContext, found: ResourceView, part: str, values: dict[str, object]) -> Response:
    return pages.render(request, f"lakehouse/{part}.html", table_frame(ctx, found, part) | values)


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
