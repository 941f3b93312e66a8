"""Change what a resource says: its name, its description, where it points."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import addresses, pages, views
from lakehold.web.access import acting
from lakehold.web.flashes import Flash
from lakehold.web.resources import fields
from lakehold.web.routes import Sent, router

routes = router("/resources")


@routes.get("/{uid:path}/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """The form with what it says now."""
    found = _need_edit(ctx, uid)
    if own := views.edit(uid, found.kind):
        return pages.go(request, own)
    return _form(request, ctx, found)


@routes.post("/{uid:path}/edit")
def edit(request: Request, ctx: WriteContext, uid: str, sent: Sent) -> Response:
    """Change it, unless somebody else has since the form was opened."""
    found = _need_edit(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    edges = {name: ends for name, ends in fields.sent_edges(schema, sent).items() if name != schema.parent}
    wanted = ResourceEdit(
        name=str(sent.get("name", "")).strip(), description=str(sent.get("description", "")).strip(), edges=edges
    )
    version = str(sent.get("version", ""))
    try:
        resource_edit.apply_edit(ctx, uid, wanted, expect_version=int(version) if version.isdigit() else None)
    except (InvalidInputError, ConflictError, HiddenError, VersionConflictError) as error:
        return _form(request, ctx, found, filled=sent, error=error)
    return pages.go(request, addresses.resource(uid), Flash("Saved."))


def _need_edit(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _form(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    *,
    filled: Sent | None = None,
    error: Exception | None = None,
) -> Response:
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    chosen = {
        name: [str(end) for end in filled.getlist(f"edge_{name}")] if filled else [end.uid for end in ends]
        for name, ends in found.edges.items()
    }
    within = found.workspace.uid if found.workspace else ""
    values: dict[str, object] = {
        "crumbs": acting.crumbs(ctx, found.uid, "Edit"),
        "found": found,
        "name": filled.get("name", "") if filled else found.name,
        "description": filled.get("description", "") if filled else found.description,
        "version": filled.get("version", "") if filled else found.version,
        "pointers": [
            pointer for pointer in fields.pointers(ctx, schema, chosen, within) if pointer.name != schema.parent
        ],
        "error": error,
    }
    return pages.page(request, "resources/edit.html", values, status=422 if error else 200)
