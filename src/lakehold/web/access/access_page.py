"""The access page of a resource: who may do what with it, its grants, owners and sharing settings."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.model.schema import EdgeKind, KindSchema
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, grants, kinds, resource_view
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, format_moment
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages, urls
from lakehold.web.access import access_matrix, fact_labels, resource_header
from lakehold.web.components import PageAction
from lakehold.web.form_values import last_day_value
from lakehold.web.labels import humanize
from lakehold.web.list_view import ListColumn, ListState
from lakehold.web.routing import router

MAX_EDGE_ENDS = 30
_HIDDEN_ATTRIBUTES = {kinds.DELETED}
_ISO_DATE_LENGTH = 10


@dataclass(frozen=True, slots=True)
class GrantEntry:
    """One grant, with its actions."""

    held: GrantedRole
    group: bool
    note: str
    actions: list[PageAction]
    begins_later: bool = False


@dataclass(frozen=True, slots=True)
class OwnerRole:
    """A role that only members can hold, with its holders."""

    role: str
    title: str
    held: list[GrantEntry]
    transfer: str
    """Where it is handed over; empty if the caller may not."""


@dataclass(frozen=True, slots=True)
class SharingAttribute:
    """An attribute by which a resource is shared: its value and its options."""

    name: str
    title: str
    value: str
    is_flag: bool
    options: list[tuple[str, str]]
    open: bool
    """Whether the caller may set it."""


@dataclass(frozen=True, slots=True)
class SharingEdge:
    """An edge by which a resource is shared: its ends and its options."""

    name: str
    title: str
    ends: list[ResourceRef]
    options: list[ResourceRef]
    """What could be chosen; empty if the caller may not, or if it is edited together with the thing itself."""
    edited: bool
    """Whether it is edited together with the thing itself."""


def grant_entries(ctx: RequestContext, uid: str, held: list[GrantedRole]) -> list[GrantEntry]:
    """Return the grants of roles that groups can hold too."""
    roles = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles)
    return [grant_entry(ctx, uid, each) for each in held if not roles[each.role].person_only]


def owner_roles(ctx: RequestContext, uid: str, held: list[GrantedRole]) -> list[OwnerRole]:
    """Return the roles that only members can hold, with their holders."""
    found = []
    for role in ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles).values():
        if role.person_only:
            theirs = [grant_entry(ctx, uid, each) for each in held if each.role == role.name]
            may = bool(theirs) and ctx.session.check(ctx.principal, "give", uid, role=role.name)
            where = f"{urls.resource(uid, 'access/transfer')}?{urlencode({'role': role.name})}"
            found.append(OwnerRole(role.name, role.title, theirs, where if may else ""))
    return found


def grant_entry(ctx: RequestContext, uid: str, held: GrantedRole) -> GrantEntry:
    """Return one grant with its note and its actions."""
    until = f"until {last_day_value(held.until)}" if held.until < FOREVER else ""
    begins = f"from {format_moment(held.since)[:_ISO_DATE_LENGTH]}" if held.since > ctx.at else ""
    note = " ".join(part for part in (begins, until) if part)
    is_group = held.subject.kind != "tenant.member"
    return GrantEntry(held, is_group, note, _grant_actions(ctx, uid, held), begins_later=held.since > ctx.at)


def sharing_attributes(ctx: RequestContext, uid: str) -> list[SharingAttribute]:
    """Return the attributes of a resource that can be set."""
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    if not _is_in_workspace(ctx, uid):
        return []
    values = ctx.session.read_view(lambda view: resource_view.attributes_of(view, uid))
    found = []
    for attribute in schema.attributes.values():
        if attribute.name in _HIDDEN_ATTRIBUTES or not attribute.set_with:
            continue
        now = values[attribute.name]
        free = [
            each
            for each in attribute.values
            if each == now or _may_change(ctx, Add(Attribute(uid, attribute.name, each)))
        ]
        options = [(each, fact_labels.value_label(each).capitalize()) for each in free]
        title = humanize(attribute.name)
        found.append(SharingAttribute(attribute.name, title, now, attribute.is_flag, options, len(free) > 1))
    return found


def sharing_edges(ctx: RequestContext, uid: str) -> list[SharingEdge]:
    """Return the edges of a resource with a few options each, such as contexts."""
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    if not _is_in_workspace(ctx, uid):
        return []
    there = ctx.session.read_view(lambda view: resource_view.edges_of(view, uid))
    eyes, found = VisibleRefs(ctx), []
    for edge in schema.edges.values():
        if edge.name == schema.parent:
            continue
        ends = eyes.refs(there[edge.name])
        options = _edge_options(ctx, uid, schema, edge) if edge.many and edge.set_with else []
        if ends or options:
            edited = edge.set_with is not None and _sharing_action(schema, edge) is None
            found.append(SharingEdge(edge.name, humanize(edge.name), ends, options, edited))
    return found


def _edge_options(ctx: RequestContext, uid: str, schema: KindSchema, edge: EdgeKind) -> list[ResourceRef]:
    """Return the resources of the same workspace that the edge may lead to; empty if there are too many."""
    right = _sharing_action(schema, edge)
    if right is None or not ctx.session.check(ctx.principal, right, uid):
        return []
    within = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid))
    found: list[ResourceRef] = []
    for word in edge.to:
        kind = str(word) if "." in word else f"{schema.model}.{word}"
        sight = ctx.view.policy.kind(kind).schema.visible
        page = ctx.session.list(ctx.principal, sight, kind, within=within, limit=MAX_EDGE_ENDS)
        if page.after is not None:
            return []
        found += [ResourceRef(each.uid, each.kind, each.name) for each in page.items if each.uid != uid]
    return found if len(found) <= MAX_EDGE_ENDS else []


def _sharing_action(schema: KindSchema, edge: EdgeKind) -> str | None:
    """Return the action that sets the edge; None where it is edited together with the resource."""
    words = edge.set_with.text if edge.set_with else ""
    edited = schema.edited_with.text if schema.edited_with else ""
    return words if words in schema.actions and words != edited else None


def _is_in_workspace(ctx: RequestContext, uid: str) -> bool:
    return ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) is not None


def _grant_actions(ctx: RequestContext, uid: str, held: GrantedRole) -> list[PageAction]:
    if not _may_change(ctx, Remove(Grant(held.subject.uid, held.role, uid))):
        return []
    which = (("subject", held.subject.uid), ("role", held.role))
    here = urls.resource(uid, "access")
    return [
        PageAction("Change", f"{here}/change?{urlencode(which)}", icon="pencil", dialog=True),
        PageAction("Revoke", f"{here}/revoke", "post", "trash-2", which, danger=True),
    ]


def _may_change(ctx: RequestContext, change: Add | Remove) -> bool:
    try:
        return ctx.session.check_change(ctx.principal, change)
    except LakeholdError:
        # It cannot be at all, as to take the role of the last who holds it.
        return False


routes = router()

_MAX_GRANTS = 12


@routes.get("/resources/{uid:path}/access")
def access_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the matrix of members and actions, with the grants on the resource."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    listing = ListState.from_request(
        request, ("name",), access_matrix.matrix_filters(schema.actions), access_matrix.PAGE_SIZE
    )
    held, gives = grants.list_direct(ctx, uid), change_preview.gives_roles_on(ctx, uid)
    roles = [each for each in held if not schema.roles[each.role].person_only]
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Access"),
        "listing": listing,
        "matrix": access_matrix.build_matrix(ctx, uid, listing, held),
        "given": grant_entries(ctx, uid, roles[:_MAX_GRANTS]),
        "given_total": len(roles),
        "owners": owner_roles(ctx, uid, held),
        "settings": sharing_attributes(ctx, uid),
        "edges": sharing_edges(ctx, uid),
        "gives": gives,
        "give": _give_action(ctx, uid, schema, gives=gives),
        "has_roles": any(not role.person_only for role in schema.roles.values()),
    }
    return pages.render(request, "access/access.html", values)


@routes.get("/resources/{uid:path}/access/given")
def given_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the list of all grants on the resource."""
    listing = ListState.from_request(request, ("name",))
    found = [each for each in grants.list_direct(ctx, uid) if listing.search.casefold() in each.subject.name.casefold()]
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Grants"),
        "listing": listing,
        "columns": [ListColumn("Member"), ListColumn("Role"), ListColumn("Granted", wide=True), ListColumn("Expires")],
        "rows": [grant_entry(ctx, uid, each) for each in listing.slice_page(found)],
        "total": len(found),
    }
    return pages.render(request, "access/given.html", values)


def _give_action(ctx: RequestContext, uid: str, schema: KindSchema, *, gives: bool) -> PageAction | None:
    """Return the action that gives access, refused if the caller may not; None where nothing can be given."""
    act = PageAction("Grant access", urls.resource(uid, "access/give"), icon="user-plus")
    rights = [role.given_with.text for role in schema.roles.values() if role.given_with]
    missing_right = next((right for right in reversed(rights) if right in schema.actions), None)
    if gives or missing_right is None:
        return act if gives else None
    return resource_header.refuse_action(ctx, uid, missing_right, act)


def page_frame(ctx: RequestContext, uid: str, *crumbs: str) -> dict[str, object]:
    """Return the template values that all access pages of a resource share."""
    return {
        "it": ctx.session.read_view(lambda view: make_ref(view, uid)),
        "crumbs": resource_header.breadcrumbs(ctx, uid, *crumbs),
        "tabs": resource_header.tabs(ctx, uid),
        "path": urls.resource(uid, "access"),
    }
