"""The runs of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.runs.service import Run
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.labels import humanize
from lakehold.web.lakehouse import saying
from lakehold.web.lakehouse.doing import RUN_AGAIN, RUNS
from lakehold.web.lakehouse.frames import LAKEHOUSE
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.routing import router

routes = router("/workspaces")

COLUMNS = [
    ListColumn("What"),
    ListColumn("State"),
    ListColumn("For", wide=True),
    ListColumn("Begun", wide=True),
    ListColumn("Took", number=True),
]
_STATES = tuple((state, humanize(state)) for state in saying.TONES)
_LOOKED_AT = 200
_MOST_OPTIONS = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A run in a list."""

    run: Run
    thing: ResourceRef
    whom: ResourceRef | None
    cause: saying.Cause
    took: str


@routes.get("/{uid:path}/runs")
def runs_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Those that the caller may see, the newest first."""
    workspaces.need_workspace(ctx, uid)
    listing = ListState.from_request(
        request, ("-made",), (ListFilter("state", "State", _STATES), _pipelines(ctx, uid), _who(ctx, uid))
    )
    found = _found(ctx, uid, listing)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Runs"),
        "pipelines": _pipelines_at(ctx, uid),
        "listing": listing,
        "columns": COLUMNS,
        "rows": rows(ctx, found[: listing.size]),
        "after": found[listing.size - 1].id if len(found) > listing.size else "",
        "tones": saying.TONES,
        "signs": saying.SIGNS,
    }
    return pages.render(request, "lakehouse/runs.html", values)


def rows(ctx: RequestContext, found: Sequence[Run]) -> list[Row]:
    """Runs as rows of a list."""
    eyes = VisibleRefs(ctx)
    return [
        Row(
            run,
            ctx.session.read_view(lambda view, uid=run.resource: make_ref(view, uid)),  # type: ignore[misc]
            saying.whom(eyes, run.started_by),
            saying.cause(ctx, run),
            saying.took(run.started_at, run.ended_at, ctx.at),
        )
        for run in found
    ]


def _pipelines_at(ctx: RequestContext, uid: str) -> str:
    """Where its pipelines are; empty for a workspace that has none."""
    is_lake = kinds.schema_of(ctx.view, uid).id == LAKEHOUSE
    return urls.workspace(uid, "pipelines") if is_lake else ""


def _found(ctx: RequestContext, uid: str, listing: ListState) -> list[Run]:
    """One more than a page."""
    chosen = listing.chosen
    asked = {"state": chosen["state"] or None, "resource": chosen["pipeline"] or None, "by": chosen["who"] or None}
    limit, search = listing.size + 1, listing.search
    try:
        return RUNS.page(ctx, within=uid, search=search, before=listing.after or None, limit=limit, **asked)
    except NotFoundError:
        return RUNS.page(ctx, within=uid, search=search, limit=limit, **asked)


def _pipelines(ctx: RequestContext, uid: str) -> ListFilter:
    found: list[tuple[str, str]] = []
    for kind in RUN_AGAIN:
        sight = ctx.view.policy.kind(kind).schema.visible
        some = ctx.session.list(ctx.asker, sight, kind, within=uid, limit=_MOST_OPTIONS).items
        found += [(item.uid, item.name) for item in some]
    return ListFilter("pipeline", "Of", tuple(sorted(found, key=lambda pair: pair[1].casefold())))


def _who(ctx: RequestContext, uid: str) -> ListFilter:
    """Whom the latest runs are for, of those whom the caller may know of."""
    members = dict.fromkeys(run.started_by for run in RUNS.page(ctx, within=uid, limit=_LOOKED_AT))
    return ListFilter("who", "For", tuple((found.uid, found.name) for found in VisibleRefs(ctx).refs(members)))
