"""The views of a table that only a lakehouse has: snapshots, the runs that write it, maintenance and rollback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, to_moment
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake.table_metadata import IcebergMetadata, IcebergSnapshot
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import PageAction
from lakehold.web.confirmation import confirm
from lakehold.web.cookies import Flash
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.runs import labels
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
    if asked := confirm(request, sent, question, _ROLLBACK_WARNING, do="Roll back", back=back):
        return asked
    run = maintenance.roll_back_table(ctx, lake, uid, int(number))
    return pages.redirect(request, urls.run(run.id), Flash(f"{found.name} is being rolled back."))


@dataclass(frozen=True, slots=True)
class SnapshotRow:
    """A snapshot of the table in the list."""

    at: Moment
    operation: str
    added: int
    removed: int
    total: int
    size: str
    run: str
    is_current: bool
    back: PageAction | None
    """How the table becomes so again."""


@dataclass(frozen=True, slots=True)
class WriterRunRow:
    """A run that writes the table, with the pipeline that was run."""

    run: Run
    what: ResourceRef
    by: ResourceRef | None
    cause: labels.RunCause
    took: str


@routes.get("/{uid:path}/snapshots")
def table_snapshots(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Render the snapshots of the table, newest first."""
    found = need_table(ctx, uid, "read")
    now = current_metadata(ctx, lake, uid)
    keep_up = PageAction("Optimize", urls.resource(uid, "snapshots/upkeep"), "post", "sparkles")
    states = [_snapshot_row(ctx, uid, each, now) for each in reversed(now.snapshots)] if now else []
    values: dict[str, object] = {
        "states": states,
        "seen": _visible_runs(ctx, states),
        "keeping": resource_header.actions_of(ctx, uid, {"write": keep_up}),
    }
    return _page(request, ctx, found, "snapshots", values)


@routes.get("/{uid:path}/written")
def table_runs(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the runs that write the table, newest first."""
    found = need_table(ctx, uid, "see_runs")
    writers, hidden = lineage.writers(ctx, uid)
    wrote = sorted(
        _writer_runs(ctx, [*writers, ResourceRef(uid, found.kind, found.name)]),
        key=lambda each: each.run.made_at,
        reverse=True,
    )[:_MOST_RUNS]
    return _page(
        request,
        ctx,
        found,
        "written",
        {"wrote": wrote, "writers": writers, "hidden": hidden, "tones": labels.TONES, "signs": labels.ICONS},
    )


def _page(request: Request, ctx: RequestContext, found: ResourceView, part: str, values: dict[str, object]) -> Response:
    return pages.render(request, f"lakehouse/{part}.html", table_frame(ctx, found, part) | values)


def _snapshot_row(ctx: RequestContext, uid: str, each: IcebergSnapshot, now: IcebergMetadata) -> SnapshotRow:
    is_current = now.current == each
    return SnapshotRow(
        to_moment(each.at),
        each.operation,
        each.count("added-records"),
        each.count("deleted-records"),
        each.count("total-records"),
        labels.format_size(each.count("total-files-size")),
        each.mark.partition("/")[0],
        is_current=is_current,
        back=None if is_current else rollback_action(ctx, uid, each),
    )


def _visible_runs(ctx: RequestContext, states: list[SnapshotRow]) -> frozenset[str]:
    """Return the ids of the runs behind the snapshots that the caller may see."""
    seen = set()
    for run in dict.fromkeys(each.run for each in states[:_MOST_RUNS] if each.run.startswith("run_")):
        try:
            seen.add(RUNS.get(ctx, run).id)
        except LakeholdError:
            continue
    return frozenset(seen)


def _writer_runs(ctx: RequestContext, writers: list[ResourceRef]) -> Iterator[WriterRunRow]:
    eyes = VisibleRefs(ctx)
    for writer in writers:
        if writer.kind not in RUNS.runnables:
            continue
        try:
            some = RUNS.page(ctx, resource=writer.uid, limit=_MOST_RUNS)
        except DeniedError:
            continue
        for run in some:
            took = labels.run_duration(run.started_at, run.ended_at, ctx.at)
            yield WriterRunRow(
                run, writer, labels.visible_member(eyes, run.started_by), labels.run_cause(ctx, run), took
            )
