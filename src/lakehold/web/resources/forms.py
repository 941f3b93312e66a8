"""Forms that create, edit, move, delete and restore a resource of any kind."""

from collections.abc import Mapping, Sequence

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.access.facts.names import NameTakenError
from lakehold.access.model.schema import AttributeKind, EdgeKind, KindSchema
from lakehold.api.http.dependencies import FormContext, WriteContext
from lakehold.catalog import kinds, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.errors import HiddenError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import kind_pages, pages, urls
from lakehold.web.access import resource_header
from lakehold.web.confirmation import ConfirmationPrompt, need_confirmation, need_confirmed_effects, summarize_effects
from lakehold.web.cookies import Flash
from lakehold.web.form_values import parse_integer, text_field
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router

routes = router("/resources")

MAX_OPTIONS = 200

EdgeField = tuple[EdgeKind, list[tuple[str, str]], Sequence[str]]
"""An edge, the resources that it may lead to, and the chosen ones."""


@routes.api_route("/new", methods=FORM_METHODS)
def create_resource(request: Request, ctx: FormContext, sent: SubmittedForm) -> Response:
    """Show the form for a new resource, or lead to the one that its kind has of its own; create it."""
    posted, error = request.method == "POST", None
    asked = sent if posted else request.query_params
    schema, within = kinds.catalog_kind(ctx.view.policy, text_field(asked, "kind")), text_field(asked, "in")
    if posted:
        try:
            created = _create(ctx, schema, sent)
            return pages.redirect(request, urls.resource(created), f"{text_field(sent, 'name')} was created.")
        except (InvalidInputError, ConflictError, HiddenError) as refusal:
            error = refusal
    elif within and (own := kind_pages.create_form_url(within, schema.id)):
        return pages.redirect(request, own)
    if within:
        ctx.need_visible(within)
    ends = {schema.parent: [within]} if schema.parent and within else {}
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, within or ctx.caller.tenant, f"New {schema.title.lower()}"),
        "schema": schema,
        "within": within,
        "filled": sent,
        "edges": _edge_fields(ctx, schema, sent, ends, within),
        "attributes": _settable_attributes(schema),
    }
    return pages.render_form(request, "resources/new.html", values, error=error)


def _create(ctx: RequestContext, schema: KindSchema, sent: FormData) -> str:
    name, description = text_field(sent, "name").strip(), text_field(sent, "description").strip()
    edges, values = _parse_edges(schema, sent), _parse_attributes(schema, sent)
    attributes = {key: value for key, value in values.items() if value != (schema.attributes[key].default == "true")}
    return resources.create(ctx, schema.id, name, edges=edges, attributes=attributes, description=description)


@routes.api_route("/{uid:path}/edit", methods=FORM_METHODS)
def edit_resource(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Show the form with the present values; save it, unless somebody else changed the resource meanwhile."""
    found, error = resources.get(ctx, uid), None
    kinds.need_right(ctx, uid, "edit")
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if request.method == "POST":
        edges = {name: ends for name, ends in _parse_edges(schema, sent).items() if name != schema.parent}
        changes = ResourceEdit(text_field(sent, "name").strip(), text_field(sent, "description").strip(), edges=edges)
        try:
            resource_edit.apply_edit(ctx, uid, changes, expect_version=parse_integer(text_field(sent, "version")))
            return pages.redirect(request, urls.resource(uid), "Saved.")
        except (InvalidInputError, ConflictError, HiddenError, VersionConflictError) as refusal:
            error = refusal
    elif own := kind_pages.edit_form_url(uid, found.kind):
        return pages.redirect(request, own)
    ends = {name: [end.uid for end in ends] for name, ends in found.edges.items()}
    fields = _edge_fields(ctx, schema, sent, ends, found.workspace.uid if found.workspace else "")
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Edit"),
        "found": found,
        "filled": sent or {"name": found.name, "description": found.description, "version": found.version},
        "schema": schema,
        "edges": [field for field in fields if field[0].name != schema.parent],
    }
    return pages.render_form(request, "resources/edit.html", values, error=error)


@routes.api_route("/{uid:path}/move", methods=FORM_METHODS)
def move(request: Request, ctx: FormContext, uid: str, sent: SubmittedForm) -> Response:
    """Ask for the new parent; move the resource after the effect is confirmed."""
    found = resources.get(ctx, uid)
    schema = kinds.catalog_kind(ctx.view.policy, found.kind)
    if request.method == "POST":
        if not (to := text_field(sent, "to")):
            raise InvalidInputError("Select where to move it.", "Choose from the list.", field="to")
        effect = resource_edit.preview_reparent(ctx, uid, to)
        title = f"Move {found.name} to {ctx.view.names.get(ctx.view.resource(to))}?"
        prompt = ConfirmationPrompt(title, do="Move")
        need_confirmed_effects(request, sent, prompt, lambda: summarize_effects(ctx.view.policy, effect))
        resource_edit.reparent(ctx, uid, to)
        return pages.redirect(request, urls.resource(uid), f"{found.name} was moved.")
    if schema.parent is None or schema.edges[schema.parent].set_with is None:
        raise ConflictError(f"A {schema.title.lower()} cannot be moved.", "Create a new one there.")
    values: dict[str, object] = {
        "crumbs": resource_header.breadcrumbs(ctx, uid, "Move"),
        "found": found,
        "edge": schema.parent,
        "places": _edge_options(ctx, schema, schema.edges[schema.parent]),
    }
    return pages.render(request, "resources/move.html", values)


@routes.post("/{uid:path}/delete")
def delete(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Delete the resource after a confirmation."""
    found = resources.get(ctx, uid)
    back = urls.resource(uid)
    text = "Its grants are removed. It can be restored while other resources use it."
    need_confirmation(request, sent, f"Delete {found.name}?", text, do="Delete", back=back)
    gone = resources.delete(ctx, uid)
    if gone:
        to = urls.workspace(found.workspace.uid) if found.workspace and found.workspace.uid != uid else "/"
        return pages.redirect(request, to, Flash(f"{found.name} was deleted."))
    undo = f"{back}/restore" if resources.may_restore(ctx, uid) else ""
    flash = Flash(f"{found.name} was deleted. It can be restored while other resources use it.", undo=undo)
    return pages.redirect(request, resource_header.url_if_visible(ctx, uid), flash)


@routes.post("/{uid:path}/restore")
def restore(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Restore the resource, under another name if its own was taken meanwhile. The form may name the page to return to,
    for a caller who does not see the resource.
    """
    back = text_field(sent, "back")
    try:
        resources.restore(ctx, uid, text_field(sent, "name").strip())
    except NameTakenError as error:
        crumbs = resource_header.breadcrumbs(ctx, ctx.caller.tenant, "Restore")
        values: dict[str, object] = {"crumbs": crumbs, "uid": uid, "name": error.free or error.name, "back": back}
        return pages.render_form(request, "resources/restore.html", values, error=error)
    seen = ctx.session.can_see(ctx.principal, uid)
    there = urls.resource(uid) if seen else pages.safe_redirect_url(back)
    return pages.redirect(request, there, Flash("Restored."))


# Fields of a kind: its parent, its other edges, and its attributes


def _edge_fields(
    ctx: RequestContext, kind: KindSchema, sent: FormData, ends: Mapping[str, Sequence[str]], within: str
) -> list[EdgeField]:
    """Return the edge fields of a kind, its parent first: with what was sent, or with the present ends."""
    chosen = _sent_ends(kind, sent) if sent else ends
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
