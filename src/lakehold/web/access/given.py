"""What is given on the thing itself: grants, owners, and the settings and edges by which it is shared."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.model.schema import EdgeKind, KindSchema
from lakehold.catalog import kinds, resource_view
from lakehold.catalog.grants import GrantedRole
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import FOREVER, format_moment
from lakehold.kit.errors import LakeholdError
from lakehold.web import addresses
from lakehold.web.access import choosing, saying
from lakehold.web.actions import Action
from lakehold.web.words import spoken

MOST_ENDS = 30
_NOT_HERE = {kinds.DELETED}
_DAY = 10


@dataclass(frozen=True, slots=True)
class Given:
    """One grant, with what can be done with it."""

    held: GrantedRole
    group: bool
    note: str
    actions: list[Action]


@dataclass(frozen=True, slots=True)
class Owning:
    """A role that goes to a person, and who holds it."""

    role: str
    title: str
    held: list[Given]
    transfer: str
    """Where it is handed over; empty if the caller may not."""


@dataclass(frozen=True, slots=True)
class Setting:
    """An attribute: what it is, and what it may become."""

    name: str
    title: str
    value: str
    is_flag: bool
    options: list[tuple[str, str]]
    open: bool
    """Whether the caller may set it."""


@dataclass(frozen=True, slots=True)
class Pointing:
    """An edge: where it leads, and where it could."""

    name: str
    title: str
    ends: list[ResourceRef]
    options: list[ResourceRef]
    """What could be chosen; empty if the caller may not, or if it is edited together with the thing itself."""
    edited: bool
    """Whether it is edited together with the thing itself."""


def grants(ctx: RequestContext, uid: str, held: list[GrantedRole]) -> list[Given]:
    """Everything but what belongs to a person."""
    roles = ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles)
    return [given(ctx, uid, each) for each in held if not roles[each.role].person_only]


def owners(ctx: RequestContext, uid: str, held: list[GrantedRole]) -> list[Owning]:
    """The roles that belong to a person."""
    found = []
    for role in ctx.session.read_view(lambda view: kinds.schema_of(view, uid).roles).values():
        if role.person_only:
            theirs = [given(ctx, uid, each) for each in held if each.role == role.name]
            may = bool(theirs) and ctx.session.check(ctx.asker, "give", uid, role=role.name)
            where = f"{addresses.resource(uid, 'access/transfer')}?{urlencode({'role': role.name})}"
            found.append(Owning(role.name, role.title, theirs, where if may else ""))
    return found


def given(ctx: RequestContext, uid: str, held: GrantedRole) -> Given:
    """One grant as it is shown."""
    until = f"until {choosing.last_day(held.until)}" if held.until < FOREVER else ""
    begins = f"from {format_moment(held.since)[:_DAY]}" if held.since > ctx.at else ""
    note = " ".join(part for part in (begins, until) if part)
    return Given(held, held.subject.kind != "tenant.member", note, _actions(ctx, uid, held))


def settings(ctx: RequestContext, uid: str) -> list[Setting]:
    """The attributes of a thing of the catalog."""
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    if not _is_of_catalog(ctx, uid):
        return []
    values = ctx.session.read_view(lambda view: resource_view.attributes_of(view, uid))
    found = []
    for attribute in schema.attributes.values():
        if attribute.name in _NOT_HERE or not attribute.set_with:
            continue
        now = values[attribute.name]
        free = [
            each for each in attribute.values if each == now or _may(ctx, Add(Attribute(uid, attribute.name, each)))
        ]
        options = [(each, saying.value_of(each).capitalize()) for each in free]
        title = spoken(attribute.name)
        found.append(Setting(attribute.name, title, now, attribute.is_flag, options, len(free) > 1))
    return found


def edges(ctx: RequestContext, uid: str) -> list[Pointing]:
    """Where the thing points, for what can be chosen among a few: contexts above all."""
    schema = ctx.session.read_view(lambda view: kinds.schema_of(view, uid))
    if not _is_of_catalog(ctx, uid):
        return []
    there = ctx.session.read_view(lambda view: resource_view.edges_of(view, uid))
    eyes, found = VisibleRefs(ctx), []
    for edge in schema.edges.values():
        if edge.name == schema.parent:
            continue
        ends = eyes.refs(there[edge.name])
        options = _choices(ctx, uid, schema, edge) if edge.many and edge.set_with else []
        if ends or options:
            edited = edge.set_with is not None and _setting_action(schema, edge) is None
            found.append(Pointing(edge.name, spoken(edge.name), ends, options, edited))
    return found


def _choices(ctx: RequestContext, uid: str, schema: KindSchema, edge: EdgeKind) -> list[ResourceRef]:
    """What lies in the same workspace and may be pointed at, if it is not too much."""
    right = _setting_action(schema, edge)
    if right is None or not ctx.session.check(ctx.asker, right, uid):
        return []
    within = ctx.session.read_view(lambda view: kinds.workspace_of(view, uid))
    found: list[ResourceRef] = []
    for word in edge.to:
        kind = str(word) if "." in word else f"{schema.model}.{word}"
        sight = ctx.view.policy.kind(kind).schema.visible
        page = ctx.session.list(ctx.asker, sight, kind, within=within, limit=MOST_ENDS)
        if page.after is not None:
            return []
        found += [ResourceRef(each.uid, each.kind, each.name) for each in page.items if each.uid != uid]
    return found if len(found) <= MOST_ENDS else []


def _setting_action(schema: KindSchema, edge: EdgeKind) -> str | None:
    """The action by which it is shared; None where the edge belongs to what the thing itself is."""
    words = edge.set_with.text if edge.set_with else ""
    edited = schema.edited_with.text if schema.edited_with else ""
    return words if words in schema.actions and words != edited else None


def _is_of_catalog(ctx: RequestContext, uid: str) -> bool:
    return ctx.session.read_view(lambda view: kinds.workspace_of(view, uid)) is not None


def _actions(ctx: RequestContext, uid: str, held: GrantedRole) -> list[Action]:
    if not _may(ctx, Remove(Grant(held.subject.uid, held.role, uid))):
        return []
    which = (("subject", held.subject.uid), ("role", held.role))
    here = addresses.resource(uid, "access")
    return [
        Action("Change", f"{here}/change?{urlencode(which)}", icon="pencil", dialog=True),
        Action("Revoke", f"{here}/revoke", "post", "trash-2", which, danger=True),
    ]


def _may(ctx: RequestContext, change: Add | Remove) -> bool:
    try:
        return ctx.session.check_change(ctx.asker, change)
    except LakeholdError:
        # It cannot be at all, as to take the role of the last who holds it.
        return False
