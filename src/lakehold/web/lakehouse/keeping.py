"""The result of a query kept as a table: its name and layer are asked for, and a run fills it."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import CurrentPlatform, PendingRequest
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.runs import queries, worker_client
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.cookies import Flash
from lakehold.web.lakehouse.frames import need_lakehouse
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.lakehouse import saved_queries

routes = router("/workspaces")

_MOST = 200
_MENDABLE = (InvalidInputError, ConflictError, DeniedError, QueryError, RefusedQueryError)


@routes.post("/{uid:path}/sql/table")
def keep(request: Request, platform: CurrentPlatform, uid: str, sent: SubmittedForm) -> Response:
    """Ask for name and layer, then make the table. What the query reads, the worker tells."""
    reading = PendingRequest(request, read_credentials(request), writes=False)
    place = reading.run(lambda ctx: queries.open_scope(ctx, uid))
    sql, name, layer = (str(sent.get(field, "")).strip() for field in ("sql", "name", "layer"))
    if "name" not in sent:
        return reading.run(lambda ctx: _page(request, ctx, uid, sql))
    try:
        found = worker_client.describe_query(platform, place.caller, workspace=place.name, text=sql)
        _, run = PendingRequest(request, read_credentials(request), writes=True).run(
            lambda ctx: saved_queries.save_result_as_table(ctx, layer, name, sql, found.reads)
        )
    except _MENDABLE as error:
        told = error
        return reading.run(lambda ctx: _page(request, ctx, uid, sql, name=name, layer=layer, error=told))
    return pages.redirect(request, urls.run(run.id), Flash(f"{name} is being filled."))


def _page(
    request: Request,
    ctx: RequestContext,
    uid: str,
    sql: str,
    *,
    name: str = "",
    layer: str = "",
    error: LakeholdError | None = None,
) -> Response:
    found = ctx.session.list(ctx.asker, "create_table", "lakehouse.layer", within=uid, limit=_MOST)
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "SQL", "Save as a table"),
        "space": need_lakehouse(ctx, uid),
        "sql": sql,
        "name": name,
        "layer": layer,
        "layers": [(each.uid, each.name) for each in found.items],
        "error": error,
    }
    return pages.render(request, "lakehouse/sql_table.html", values, status=422 if error else 200)
