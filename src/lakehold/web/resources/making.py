"""Make a resource of any kind."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resources
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.flashes import Flash
from lakehold.web.resources import fields
from lakehold.web.routes import Sent, router

routes = router("/resources/new")


@routes.get("")
def new_form(request: Request, ctx: ReadContext, kind: str = "", within: str = "") -> Response:
    """The form for a new one. The address says `in`, which is no name in Python."""
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    where = request.query_params.get("in", within)
    if where and (own := views.form(where, kind)):
        return pages.go(request, own)
    return _form(request, ctx, schema, where)


@routes.post("")
def make(request: Request, ctx: WriteContext, sent: Sent) -> Response:
    """Make it."""
    schema = kinds.catalog_kind(ctx.view.policy, str(sent.get("kind", "")))
    within = str(sent.get("in", ""))
    name, description = str(sent.get("name", "")), str(sent.get("description", ""))
    edges, values = fields.sent_edges(schema, sent), fields.sent_values(schema, sent)
    wanted = {key: value for key, value in values.items() if value != (schema.attributes[key].default == "true")}
    try:
        made = resources.create(
            ctx, schema.id, name.strip(), edges=edges, attributes=wanted, description=description.strip()
        )
    except (InvalidInputError, ConflictError, HiddenError) as error:
        return _form(request, ctx, schema, within, filled=sent, error=error)
    return pages.go(request, addresses.resource(made), Flash(f"{name} was made."))


def _form(
    request: Request,
    ctx: RequestContext,
    schema: KindSchema,
    within: str,
    *,
    filled: Sent | None = None,
    error: Exception | None = None,
) -> Response:
    if within:
        ctx.need_visible(within)
    chosen = {name: [str(end) for end in filled.getlist(f"edge_{name}")] for name in schema.edges} if filled else {}
    if not filled and schema.parent and within:
        chosen[schema.parent] = [within]
    values: dict[str, object] = {
        "crumbs": acting.crumbs(ctx, within or ctx.caller.tenant, f"New {schema.title.lower()}"),
        "schema": schema,
        "within": within,
        "name": filled.get("name", "") if filled else "",
        "description": filled.get("description", "") if filled else "",
        "pointers": fields.pointers(ctx, schema, chosen, within),
        "values": fields.values(schema, _chosen(schema, filled) if filled else {}),
        "error": error,
    }
    return pages.page(request, "resources/new.html", values, status=422 if error else 200)


def _chosen(schema: KindSchema, filled: Sent) -> dict[str, str]:
    sent = fields.sent_values(schema, filled)
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in sent.items()}
