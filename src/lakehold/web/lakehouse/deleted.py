"""Tables that were deleted and whose rows are still there, to be brought back by whoever may."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform
from lakehold.api.iceberg_rest import CurrentLake
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.lake.iceberg_catalog import IcebergCatalog
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.navigation import Breadcrumb
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import dropped_tables
from lakehold.workspaces.lakehouse.dropped_tables import RestorableTable

routes = router("/workspaces")


@dataclass(frozen=True, slots=True)
class Shown:
    """A table that was deleted."""

    table: RestorableTable
    layer: ResourceRef
    until: Moment
    """When its rows go too."""
    held: list[tuple[ResourceRef, str]]
    """Who had which level on it."""


@routes.get("/{uid:path}/deleted")
def deleted_tables(request: Request, ctx: ReadContext, lake: CurrentLake, uid: str) -> Response:
    """Those that the caller may bring back."""
    return _page(request, ctx, lake, uid)


@routes.post("/{uid:path}/deleted")
def restore(request: Request, ctx: WriteContext, lake: CurrentLake, uid: str, sent: SubmittedForm) -> Response:
    """Bring one back, under its own name or another."""
    need_lakehouse(ctx, uid)
    table, name = (str(sent.get(field, "")).strip() for field in ("table", "name"))
    try:
        _, run = dropped_tables.restore_table(ctx, lake, table, name)
    except (ConflictError, InvalidInputError) as error:
        return _page(request, ctx, lake, uid, wrong=(table, name, str(error)))
    return pages.redirect(request, urls.run(run.id), Flash("The table is being restored."))


def _page(
    request: Request, ctx: RequestContext, lake: IcebergCatalog, uid: str, wrong: tuple[str, str, str] = ("", "", "")
) -> Response:
    space, eyes = need_lakehouse(ctx, uid), VisibleRefs(ctx)
    kept = get_platform(request).settings.dropped_days
    there = [(each, eyes.ref(each.layer)) for each in dropped_tables.dropped_tables(ctx, lake, within=uid)]
    values: dict[str, object] = {
        "crumbs": [*resource_header.breadcrumbs(ctx, uid, "Data")[:-1], *_crumbs(uid)],
        "space": space,
        "days": kept,
        "tables": [
            Shown(each, layer, each.dropped_at + kept * DAY, _held(eyes, each))
            for each, layer in there
            if layer is not None
        ],
        "wrong": wrong,
    }
    return pages.render(request, "lakehouse/deleted.html", values, status=422 if wrong[2] else 200)


def _held(eyes: VisibleRefs, each: RestorableTable) -> list[tuple[ResourceRef, str]]:
    return [(ref, role) for uid, role in each.grants if (ref := eyes.ref(uid))]


def _crumbs(uid: str) -> list[Breadcrumb]:
    return [Breadcrumb("Data", urls.workspace(uid, "data")), Breadcrumb("Deleted tables")]
