"""Forms that create, edit, move, delete and restore a resource of any kind."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.access.model.schema import KindSchema
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.confirmation import ConfirmationPrompt, confirm, confirm_effects, summarize_effects
from lakehold.web.cookies import Flash
from lakehold.web.resources import fields
from lakehold.web.routing import SubmittedForm, router

create_routes = router("/resources/new")


@create_routes.get("")
def new_form(request: Request, ctx: ReadContext, kind: str = "", within: str = "") -> Response:
    """Render the form for a new resource. The URL parameter is `in`, which is a keyword in Python."""
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    where = request.query_params.get("in", within)
    if where and (own := kind_pages.create_form_url(where, kind)):
        return pages.redirect(request, own)
    return _create_form(request, ctx, schema, where)


@create_routes.post("")
def make(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Create the resource."""
    schema = kinds.catalog_kind(ctx.view.policy, str(sent.get("kind", "")))
    within = str(sent.get("in", ""))
    name, description = str(sent.get("name", "")), str(sent.get("description", ""))
    edges, values = fields.parse_edges(schema, sent), fields.parse_attributes(schema, sent)
    attributes = {key: value for key, value in values.items() if value != (schema.attributes[key].default == "true")}
    try:
        made = resources.create(
            ctx, schema.id, name.strip(), edges=edges, attributes=attributes, description=description.strip()
        )
    except (InvalidInputError, ConflictError, HiddenError) as error:
        return _create_form(request, ctx, schema, within, filled=sent, error=error)
    return pages.redirect(request, urls.resource(made), Flash(f"{name} was created."))


def _create_form(
    request: Request,
    ctx: RequestContext,
    schema: KindSchema,
    within: str,
    *,
    filled: SubmittedForm | None = None,
    error: Exception | None = None,
) -> Response:
    if within:
        ctx.need_visible(within)
    chosen = {name: [str(end) for end in filled.getlist(f"edge_{name}")] for name in schema.edges} if filled else {}
    if not filled and schema.parent and within:
        chosen[schema.parent] = [within]
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, within or ctx.caller.tenant, f"New {schema.title.lower()}"),
        "schema": schema,
        "within": within,
        "name": filled.get("name", "") if filled else "",
        "description": filled.get("description", "") if filled else "",
        "pointers": fields.edge_fields(ctx, schema, chosen, within),
        "values": fields.attribute_fields(schema, _chosen_attributes(schema, filled) if filled else {}),
        "error": error,
    }
    return pages.render(request, "resources/new.html", values, status=422 if error else 200)


def _chosen_attributes(schema: KindSchema, filled: SubmittedForm) -> dict[str, str]:
    sent = fields.parse_attributes(schema, filled)
    return {name: str(value).lower() if isinstance(value, bool) else value for name, value in sent.items()}


edit_routes = router("/resources")


@edit_routes.get("/{uid:path}/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form with the present values."""
    found = _get_editable(ctx, uid)
    if own := kind_pages.edit_form_url(uid, found.kind):
        return pages.redirect(request, own)
    return _edit_form(request, ctx, found)


@edit_routes.post("/{uid:path}/edit")
def edit(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the changes, unless somebody else changed the resource since the form was opened."""
    found = _get_editable(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    edges = {name: ends for name, ends in fields.parse_edges(schema, sent).items() if name != schema.parent}
    changes = ResourceEdit(
        name=str(sent.get("name", "")).strip(), description=str(sent.get("description", "")).strip(), edges=edges
    )
    version = str(sent.get("version", ""))
    try:
        resource_edit.apply_edit(ctx, uid, changes, expect_version=int(version) if version.isdigit() else None)
    except (InvalidInputError, ConflictError, HiddenError, VersionConflictError) as error:
        return _edit_form(request, ctx, found, filled=sent, error=error)
    return pages.redirect(request, urls.resource(uid), Flash("Saved."))


def _get_editable(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _edit_form(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    *,
    filled: SubmittedForm | None = None,
    error: Exception | None = None,
) -> Response:
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    chosen = {
        name: [str(end) for end in filled.getlist(f"edge_{name}")] if filled else [end.uid for end in ends]
        for name, ends in found.edges.items()
    }
    within = found.workspace.uid if found.workspace else ""
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Edit"),
        "found": found,
        "name": filled.get("name", "") if filled else found.name,
        "description": filled.get("description", "") if filled else found.description,
        "version": filled.get("version", "") if filled else found.version,
        "pointers": [
            pointer for pointer in fields.edge_fields(ctx, schema, chosen, within) if pointer.name != schema.parent
        ],
        "error": error,
    }
    return pages.render(request, "resources/edit.html", values, status=422 if error else 200)


move_routes = router("/resources")


@move_routes.get("/{uid:path}/move")
def move_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form that asks for the new parent."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if schema.parent is None or schema.edges[schema.parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} cannot be moved.", "Create a new one there.")
    here = [found.parent.uid] if found.parent else []
    places = next(each for each in fields.edge_fields(ctx, schema, {schema.parent: here}) if each.name == schema.parent)
    return pages.render(
        request,
        "resources/move.html",
        {"crumbs": resource_header.breadcrumbs(ctx, uid, "Move"), "found": found, "places": places},
    )


@move_routes.post("/{uid:path}/move")
def move(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Move the resource after the effect is confirmed."""
    found = resources.get(ctx, uid)
    to = str(sent.get("to", ""))
    effect = resource_edit.preview_reparent(ctx, uid, to)
    title = f"Move {found.name} to {ctx.view.names.get(ctx.view.resource(to))}?"
    prompt = ConfirmationPrompt(title, do="Move", back=urls.resource(uid, "move"))
    if question := confirm_effects(request, sent, prompt, lambda: summarize_effects(ctx.view.policy, effect)):
        return question
    resource_edit.reparent(ctx, uid, to)
    return pages.redirect(request, urls.resource(uid), Flash(f"{found.name} was moved."))


delete_routes = router("/resources")


@delete_routes.post("/{uid:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete the resource after a confirmation."""
    found = resources.get(ctx, uid)
    back = urls.resource(uid)
    text = "Its grants are removed. It can be restored while other resources use it."
    if question := confirm(request, sent, f"Delete {found.name}?", text, do="Delete", back=back):
        return question
    gone = resources.delete(ctx, uid)
    if gone:
        to = urls.workspace(found.workspace.uid) if found.workspace and found.workspace.uid != uid else "/"
        return pages.redirect(request, to, Flash(f"{found.name} was deleted."))
    undo = f"{back}/restore" if resources.may_restore(ctx, uid) else ""
    flash = Flash(f"{found.name} was deleted. It can be restored while other resources use it.", undo=undo)
    return pages.redirect(request, back if ctx.session.can_see(ctx.principal, uid) else "/", flash)


@delete_routes.post("/{uid:path}/restore")
def restore(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Restore the resource; the form may name the page to return to, for a caller who does not see the resource."""
    resources.restore(ctx, uid)
    seen = ctx.session.can_see(ctx.principal, uid)
    there = urls.resource(uid) if seen else pages.safe_redirect_url(str(sent.get("back", "")))
    return pages.redirect(request, there, Flash("Restored."))
