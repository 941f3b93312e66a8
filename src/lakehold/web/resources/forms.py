"""Forms that create, edit, move, delete and restore a resource of any kind."""

from collections.abc import Mapping, Sequence

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.model.schema import AttributeKind, EdgeKind, KindSchema
from lakehold.api.http.dependencies import ReadContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.catalog.resource_view import ResourceView
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.confirmation import ConfirmationPrompt, confirm, confirm_effects, summarize_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import text_field
from lakehold.web.routing import SubmittedForm, router

routes = router("/resources")

MAX_OPTIONS = 200

EdgeField = tuple[EdgeKind, list[tuple[str, str]], Sequence[str]]
"""An edge, the resources that it may lead to, and the chosen ones."""


@routes.get("/new")
def new_form(request: Request, ctx: ReadContext, kind: str = "", within: str = "") -> Response:
    """Render the form for a new resource. The URL parameter is `in`, which is a keyword in Python."""
    schema = kinds.catalog_kind(ctx.view.policy, kind)
    where = request.query_params.get("in", within)
    if where and (own := kind_pages.create_form_url(where, kind)):
        return pages.redirect(request, own)
    return _create_form(request, ctx, schema, where)


@routes.post("/new")
def make(request: Request, ctx: WriteContext, sent: SubmittedForm) -> Response:
    """Create the resource."""
    schema = kinds.catalog_kind(ctx.view.policy, str(sent.get("kind", "")))
    within = str(sent.get("in", ""))
    name, description = text_field(sent, "name"), text_field(sent, "description")
    edges, values = _parse_edges(schema, sent), _parse_attributes(schema, sent)
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
    filled: FormData | None = None,
    error: LakeholdError | None = None,
) -> Response:
    if within:
        ctx.need_visible(within)
    ends = {schema.parent: [within]} if schema.parent and within else {}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, within or ctx.caller.tenant, f"New {schema.title.lower()}"),
        "schema": schema,
        "within": within,
        "filled": filled or {},
        "edges": _edge_fields(ctx, schema, filled, ends, within),
        "attributes": _settable_attributes(schema),
        "error": error,
    }
    return pages.render(request, "resources/new.html", values, status=422 if error else 200)


@routes.get("/{uid:path}/edit")
def edit_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form with the present values."""
    found = _get_editable(ctx, uid)
    if own := kind_pages.edit_form_url(uid, found.kind):
        return pages.redirect(request, own)
    return _edit_form(request, ctx, found)


@routes.post("/{uid:path}/edit")
def edit(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the changes, unless somebody else changed the resource since the form was opened."""
    found = _get_editable(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    edges = {name: ends for name, ends in _parse_edges(schema, sent).items() if name != schema.parent}
    changes = ResourceEdit(text_field(sent, "name").strip(), text_field(sent, "description").strip(), edges=edges)
    version = text_field(sent, "version")
    try:
        resource_edit.apply_edit(ctx, uid, changes, expect_version=int(version) if version.isdigit() else None)
    except (InvalidInputError, ConflictError, HiddenError, VersionConflictError) as error:
        return _edit_form(request, ctx, found, sent, error)
    return pages.redirect(request, urls.resource(uid), Flash("Saved."))


def _get_editable(ctx: RequestContext, uid: str) -> ResourceView:
    found = resources.get(ctx, uid)
    kinds.need_right(ctx, ctx.session.read_view(lambda view: kinds.edit_right(view, uid)), uid, "edit")
    return found


def _edit_form(
    request: Request,
    ctx: RequestContext,
    found: ResourceView,
    filled: FormData | None = None,
    error: LakeholdError | None = None,
) -> Response:
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    ends = {name: [end.uid for end in ends] for name, ends in found.edges.items()}
    fields = _edge_fields(ctx, schema, filled, ends, found.workspace.uid if found.workspace else "")
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, found.uid, "Edit"),
        "found": found,
        "filled": filled or {"name": found.name, "description": found.description, "version": found.version},
        "schema": schema,
        "edges": [field for field in fields if field[0].name != schema.parent],
        "error": error,
    }
    return pages.render(request, "resources/edit.html", values, status=422 if error else 200)


@routes.get("/{uid:path}/move")
def move_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the form that asks for the new parent."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if schema.parent is None or schema.edges[schema.parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} cannot be moved.", "Create a new one there.")
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Move"),
        "found": found,
        "edge": schema.parent,
        "places": _edge_options(ctx, schema, schema.edges[schema.parent]),
    }
    return pages.render(request, "resources/move.html", values)


@routes.post("/{uid:path}/move")
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


@routes.post("/{uid:path}/delete")
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
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid), flash)


@routes.post("/{uid:path}/restore")
def restore(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Restore the resource; the form may name the page to return to, for a caller who does not see the resource."""
    resources.restore(ctx, uid)
    seen = ctx.session.can_see(ctx.principal, uid)
    there = urls.resource(uid) if seen else pages.safe_redirect_url(str(sent.get("back", "")))
    return pages.redirect(request, there, Flash("Restored."))


# Fields of a kind: its parent, its other edges, and its attributes


def _edge_fields(
    ctx: RequestContext, kind: KindSchema, filled: FormData | None, ends: Mapping[str, Sequence[str]], within: str
) -> list[EdgeField]:
    """Return the edge fields of a kind, its parent first: with what was sent, or with the present ends."""
    chosen = _sent_ends(kind, filled) if filled else ends
    edges = sorted(kind.edges.values(), key=lambda edge: edge.name != kind.parent)
    return [(edge, _edge_options(ctx, kind, edge, within), chosen.get(edge.name, ())) for edge in edges]


def _edge_options(ctx: RequestContext, kind: KindSchema, edge: EdgeKind, within: str = "") -> list[tuple[str, str]]:
    """Return the resources that the edge may lead to. Without a workspace, these are all that the caller may see."""
    found: list[tuple[str, str]] = []
    for name in edge.to:
        end = ctx.view.policy.kinds.get(f"{kind.model}.{name}")
        if end is None:
            continue
        is_root = ctx.view.policy.models[kind.model].root == name
        place = None if is_root or not within else within
        # Names alone: what one may do with each of hundreds takes longer than the rest of the page.
        page = ctx.session.list(ctx.principal, end.schema.visible, end.id, within=place, limit=MAX_OPTIONS)
        found += [(item.uid, item.name) for item in page.items if not is_root or not within or item.uid == within]
    return found


def _sent_ends(kind: KindSchema, sent: FormData) -> dict[str, list[str]]:
    return {name: [str(end) for end in sent.getlist(f"edge_{name}") if end] for name in kind.edges}


def _parse_edges(kind: KindSchema, sent: FormData) -> dict[str, str | list[str]]:
    """Parse the chosen ends of each edge from a form: a list for an edge with several ends, a single id otherwise."""
    sent_ends = _sent_ends(kind, sent)
    many = {name: ends for name, ends in sent_ends.items() if kind.edges[name].many}
    return many | {name: ends[0] for name, ends in sent_ends.items() if name not in many and ends}


def _settable_attributes(kind: KindSchema) -> list[AttributeKind]:
    return [each for each in kind.attributes.values() if each.set_with and each.name != kinds.DELETED]


def _parse_attributes(kind: KindSchema, sent: FormData) -> dict[str, str | bool]:
    """Parse the attributes from a form; a box that is not ticked is off."""
    found: dict[str, str | bool] = {}
    for attribute in _settable_attributes(kind):
        given = sent.get(f"value_{attribute.name}")
        if attribute.is_flag:
            found[attribute.name] = given is not None
        elif given is not None:
            found[attribute.name] = str(given)
    return found
