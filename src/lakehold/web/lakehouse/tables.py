"""The views of a table: its fields, its first rows, what it was before, and the runs that write it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.catalog import resource_usage
from lakehold.api.http.dependencies import CurrentPlatform, ReadContext
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceRef, ResourceView, VisibleRefs
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import Moment, to_moment
from lakehold.kit.errors import LakeholdError, UnavailableError
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.lake.previews import PreviewOptions, read_preview
from lakehold.lake.readable_tables import READABLE
from lakehold.lake.table_metadata import IcebergMetadata, IcebergSnapshot
from lakehold.runs.service import Run
from lakehold.web import pages
from lakehold.web.components import PageAction
from lakehold.web.labels import format_count
from lakehold.web.lakehouse import grids, saying, upkeeping
from lakehold.web.lakehouse.doing import RUNS
from lakehold.web.lakehouse.frames import need_rows, need_table, shell
from lakehold.web.lakehouse.grids import Grid
from lakehold.web.routing import router
from lakehold.workspaces.lakehouse import lineage

routes = router("/resources")

_ROWS = 100
_MOST_RUNS = 30


@dataclass(frozen=True, slots=True)
class Was:
    """A state that the table has had."""

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
class Wrote:
    """A run that writes the table, and what was run."""

    run: Run
    what: ResourceRef
    by: ResourceRef | None
    cause: saying.Cause
    took: str


@routes.get("/{uid:path}/fields")
def table_fields(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Name, type and description of each."""
    found = need_rows(ctx, uid)
    now = _now(ctx, lake, uid)
    fields = [(field, grids.field_type(field.type)) for field in (now.fields if now else ())]
    return _page(request, ctx, found, "fields", {"fields": fields, "stats": _stats(now)})


@routes.get("/{uid:path}/sample")
def table_sample(
    request: Request, ctx: ReadContext, platform: CurrentPlatform, lake: CurrentLake, uid: str
) -> Response:
    """The first rows, without Spark."""
    found = need_rows(ctx, uid)
    values: dict[str, object] = {"grid": None, "more": False, "now": None, "trouble": None, "viewing": False}
    if ctx.caller.impersonator:
        return _page(request, ctx, found, "sample", values | {"viewing": True})
    values["now"] = now = _now(ctx, lake, uid)
    if now is not None:
        resource_usage.record(platform, ctx, READABLE[found.kind], uid)
        try:
            values["grid"], values["more"] = _sample(ctx, lake, uid)
        except LakeholdError as error:
            values["trouble"] = error
    return _page(request, ctx, found, "sample", values)


@routes.get("/{uid:path}/snapshots")
def table_snapshots(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """What the table was, the newest first."""
    found = need_table(ctx, uid, "read")
    now = _now(ctx, lake, uid)
    states = [_was(ctx, uid, each, now) for each in reversed(now.snapshots)] if now else []
    values: dict[str, object] = {
        "states": states,
        "seen": _seen_runs(ctx, states),
        "keeping": upkeeping.keeping(ctx, uid),
    }
    return _page(request, ctx, found, "snapshots", values)


@routes.get("/{uid:path}/written")
def table_runs(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The runs of what writes it and its own, the newest first."""
    found = need_table(ctx, uid, "see_runs")
    writers, hidden = lineage.writers(ctx, uid)
    wrote = sorted(
        _wrote(ctx, [*writers, ResourceRef(uid, found.kind, found.name)]),
        key=lambda each: each.run.made_at,
        reverse=True,
    )[:_MOST_RUNS]
    return _page(
        request,
        ctx,
        found,
        "written",
        {"wrote": wrote, "writers": writers, "hidden": hidden, "tones": saying.TONES, "signs": saying.SIGNS},
    )


def _page(request: Request, ctx: RequestContext, found: ResourceView, part: str, values: dict[str, object]) -> Response:
    return pages.render(request, f"lakehouse/{part}.html", shell(ctx, found, part) | values)


def _now(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> IcebergMetadata | None:
    """What the table is now; None if nothing was written yet."""
    try:
        return lake.current_metadata(readable_tables.identifier_of(ctx, uid))
    except OSError as error:
        raise UnavailableError("Files of the table are missing.", "Ask an administrator to look after it.") from error


def _sample(ctx: RequestContext, lake: IcebergCatalog, uid: str) -> tuple[Grid, bool]:
    found = read_preview(lake, readable_tables.identifier_of(ctx, uid), PreviewOptions(rows=_ROWS))
    return grids.grid(found.rows.schema, found.rows.to_batches()), found.more


def _stats(now: IcebergMetadata | None) -> list[tuple[str, str]]:
    if now is None or now.current is None:
        return []
    current = now.current
    return [
        ("Fields", format_count(len(now.fields))),
        ("Rows", format_count(current.count("total-records"))),
        ("Size", saying.size(current.count("total-files-size"))),
        ("Files", format_count(current.count("total-data-files"))),
    ]


def _was(ctx: RequestContext, uid: str, each: IcebergSnapshot, now: IcebergMetadata) -> Was:
    is_current = now.current == each
    return Was(
        to_moment(each.at),
        each.operation,
        each.count("added-records"),
        each.count("deleted-records"),
        each.count("total-records"),
        saying.size(each.count("total-files-size")),
        each.mark.partition("/")[0],
        is_current=is_current,
        back=None if is_current else upkeeping.rolling_back(ctx, uid, each),
    )


def _seen_runs(ctx: RequestContext, states: list[Was]) -> frozenset[str]:
    """Those of the runs that made them that the caller may see."""
    seen = set()
    for run in dict.fromkeys(each.run for each in states[:_MOST_RUNS] if each.run.startswith("run_")):
        try:
            seen.add(RUNS.get(ctx, run).id)
        except LakeholdError:
            continue
    return frozenset(seen)


def _wrote(ctx: RequestContext, writers: list[ResourceRef]) -> Iterator[Wrote]:
    eyes = VisibleRefs(ctx)
    for writer in writers:
        if writer.kind not in RUNS.runnables:
            continue
        try:
            some = RUNS.page(ctx, resource=writer.uid, limit=_MOST_RUNS)
        except DeniedError:
            continue
        for run in some:
            took = saying.took(run.started_at, run.ended_at, ctx.at)
            yield Wrote(run, writer, saying.whom(eyes, run.started_by), saying.cause(ctx, run), took)
