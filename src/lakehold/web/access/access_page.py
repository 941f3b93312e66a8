"""The access page of a resource: the matrix of members and actions, its grants, owners and sharing settings.

Of the matrix, only the members on the current page are computed.
"""

from fastapi import Request, Response

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.facts.descriptions import describe_value
from lakehold.access.facts.view import FactView
from lakehold.access.model.schema import EdgeKind, KindSchema, RoleKind
from lakehold.api.http.dependencies import ReadContext
from lakehold.catalog import change_preview, grants, kinds, resource_view
from lakehold.catalog.grants import ActionHolders, GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs, make_ref
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.errors import LakeholdError
from lakehold.kit.ids import fold_name
from lakehold.web import pages, urls
from lakehold.web.access import resource_header
from lakehold.web.components import ACCESS_ORIGINS, AttributeField, MatrixCell, MatrixRow, PageAction
from lakehold.web.form_values import last_day_value
from lakehold.web.labels import humanize, humanized_options
from lakehold.web.list_view import ListFilter, ListState
from lakehold.web.routing import router

routes = router()

MAX_EDGE_ENDS = 30
PAGE_SIZE = 25
WITH_ACCESS, WITHOUT_ACCESS = "with", "without"
_MAX_GRANTS = 12

GrantRow = tuple[GrantedRole, bool]
"""A grant, and whether the caller may revoke it."""


@routes.get("/resources/{uid:path}/access")
def access_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render the matrix of members and actions, with the grants on the resource."""
    ctx.need_visible(uid)
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    listing = ListState.from_request(request, ("name",), _matrix_filters(schema.actions), PAGE_SIZE)
    held, gives = grants.list_direct(ctx, uid), change_preview.gives_roles_on(ctx, uid)
    shared = [each for each in held if not schema.roles[each.role].person_only]
    in_workspace = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) is not None
    values: dict[str, object] = {
        **page_frame(ctx, uid, "Access"),
        "listing": listing,
        "matrix": _matrix_values(ctx, uid, listing, held),
        "given": [_grant_row(ctx, each) for each in shared[:_MAX_GRANTS]],
        "given_total": len(shared),
        "owners": [_owner_role(ctx, uid, role, held) for role in schema.roles.values() if role.person_only],
        "settings": _sharing_attributes(ctx, uid, schema) if in_workspace else [],
        "edges": _sharing_edges(ctx, uid, schema) if in_workspace else [],
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
    rows = [_grant_row(ctx, each) for each in listing.slice_page(found)]
    values = {**page_frame(ctx, uid, "Grants"), **listing.page_values(found), "rows": rows}
    return pages.render(request, "access/given.html", values)


def page_frame(ctx: RequestContext, uid: str, *crumbs: str) -> dict[str, object]:
    """Return the template values that all access pages of a resource share."""
    return {
        "it": ctx.session.read_view(lambda view: make_ref(view, uid)),
        "crumbs": resource_header.breadcrumbs(ctx, uid, *crumbs),
        "tabs": resource_header.tabs(ctx, uid),
        "path": urls.resource(uid, "access"),
        "last_day": last_day_value,
    }


def _give_action(ctx: RequestContext, uid: str, schema: KindSchema, *, gives: bool) -> PageAction | None:
    """Return the action that gives access, refused if the caller may not; None where nothing can be given."""
    act = PageAction("Grant access", urls.resource(uid, "access/give"), icon="user-plus")
    rights = [role.given_with.text for role in schema.roles.values() if role.given_with]
    missing_right = next((right for right in reversed(rights) if right in schema.actions), None)
    if gives or missing_right is None:
        return act if gives else None
    return resource_header.refuse_action(ctx, uid, missing_right, act)


def _grant_row(ctx: RequestContext, held: GrantedRole) -> GrantRow:
    return held, may_change(ctx, Remove(Grant(held.subject.uid, held.role, held.resource.uid)))


def _owner_role(
    ctx: RequestContext, uid: str, role: RoleKind, held: list[GrantedRole]
) -> tuple[RoleKind, list[GrantRow], bool]:
    """Return a role that only members can hold, its holders, and whether the caller may hand it over."""
    theirs = [_grant_row(ctx, each) for each in held if each.role == role.name]
    return role, theirs, bool(theirs) and ctx.session.check(ctx.principal, "give", uid, role=role.name)


def _sharing_attributes(ctx: RequestContext, uid: str, schema: KindSchema) -> list[AttributeField]:
    """Return the attributes of a resource that can be set."""
    values = ctx.session.read_view(lambda view: resource_view.attributes_of(view, uid))
    found = []
    for attribute in schema.attributes.values():
        if attribute.name == kinds.DELETED or not attribute.set_with:
            continue
        name, now = attribute.name, values[attribute.name]
        free = [each for each in attribute.values if each == now or may_change(ctx, Add(Attribute(uid, name, each)))]
        options = [(each, describe_value(each).capitalize()) for each in free]
        found.append(AttributeField(name, humanize(name), now, attribute.is_flag, options, len(free) > 1))
    return found


def _sharing_edges(ctx: RequestContext, uid: str, schema: KindSchema) -> list[dict[str, object]]:
    """Return the edges of a resource with their ends and a few options each, such as contexts.

    Options are empty if the caller may not choose, or if the edge is `edited` together with the resource itself.
    """
    there = ctx.session.read_view(lambda view: resource_view.edges_of(view, uid))
    visible, found = VisibleRefs(ctx), []
    for edge in schema.edges.values():
        if edge.name == schema.parent:
            continue
        ends = visible.refs(there[edge.name])
        options = _edge_options(ctx, uid, schema, edge) if edge.many and edge.set_with else []
        if ends or options:
            edited = edge.set_with is not None and _sharing_action(schema, edge) is None
            found.append({"name": edge.name, "ends": ends, "options": options, "edited": edited})
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


def may_change(ctx: RequestContext, *changes: Add | Remove) -> bool:
    """Whether the caller may make these changes. Some cannot be made at all: a last owner cannot be removed."""
    try:
        return all(ctx.session.check_change(ctx.principal, change) for change in changes)
    except LakeholdError:
        return False


def _matrix_filters(actions: tuple[str, ...]) -> tuple[ListFilter, ...]:
    return (
        ListFilter("may", "Action", tuple(humanized_options(actions))),
        ListFilter("path", "Path", tuple((path, words) for path, (_, words) in ACCESS_ORIGINS.items())),
        ListFilter("access", "Access", ((WITH_ACCESS, "With access"), (WITHOUT_ACCESS, "Without access"))),
    )


def _matrix_values(ctx: RequestContext, uid: str, listing: ListState, given: list[GrantedRole]) -> dict[str, object]:
    """Return the current page of the matrix: members with access first, then all others, each by name.

    `everybody` says whether all members are listed, or the caller alone.
    """
    found, me, ends = grants.load_holders(ctx, uid), ctx.caller.member, _grant_ends(given)
    members = ctx.session.read_view(lambda view: _filter_members(view, found, listing, me))
    sees = ctx.session.evaluator.can_see
    seen = ctx.session.read_view(lambda view: [member for member in members if sees(ctx.principal, view.uid(member))])

    def matrix_row(view: FactView, member: int) -> MatrixRow:
        who = view.uid(member)
        cells = tuple(
            _matrix_cell(urls.why(uid, action, who), found.path(action, member), ends.get(who))
            for action in found.actions
        )
        return MatrixRow(view.names.get(member) or who, "You" if who == me else "", urls.member(who), cells)

    rows = ctx.session.read_view(lambda view: [matrix_row(view, member) for member in listing.slice_page(seen)])
    actions = [humanize(each) for each in found.actions]
    return {"actions": actions, "rows": rows, "total": len(seen), "everybody": found.everybody}


def _filter_members(view: FactView, found: ActionHolders, listing: ListState, me: str) -> list[int]:
    may, path, access = (listing.chosen[key] for key in ("may", "path", "access"))
    having = set(found.members(may, path))
    if not found.everybody:
        everyone = [view.member(me)]
    elif may or path or access == WITH_ACCESS:
        everyone = list(having)
    else:
        everyone = list(view.members)
    if access == WITHOUT_ACCESS:
        everyone = [member for member in everyone if member not in having]
    search_text = fold_name(listing.search)
    named = ((member not in having, fold_name(view.names.get(member) or ""), member) for member in everyone)
    return [member for *_, member in sorted(each for each in named if search_text in each[1])]


def _matrix_cell(href: str, path: str, end: Moment | None) -> MatrixCell:
    until = last_day_value(end) if path == grants.DIRECT and end is not None else ""
    return MatrixCell(bool(path), path or grants.DIRECT, f"Direct grant until {until}" if until else "", href, until)


def _grant_ends(given: list[GrantedRole]) -> dict[str, Moment]:
    """Return when the last grant of each member on the resource ends, for those that end."""
    last: dict[str, Moment] = {}
    for held in given:
        last[held.subject.uid] = max(last.get(held.subject.uid, 0), held.until)
    return {who: at for who, at in last.items() if at < FOREVER}
