"""Workspaces of every model, with their members and settings."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.access.facts import tables
from lakehold.access.facts.records import require_text, to_texts
from lakehold.access.model.errors import did_you_mean
from lakehold.access.model.schema import KindSchema
from lakehold.catalog import grants, kinds, resource_edit, resource_view, resources
from lakehold.catalog.resource_view import ResourceRef, ResourceSummary
from lakehold.directory.request_context import MomentLike, RequestContext
from lakehold.kit.clock import FOREVER, Moment
from lakehold.kit.database import CursorPage
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote


@dataclass(frozen=True, slots=True)
class WorkspaceRole:
    """A role on the workspace, with its time span."""

    name: str
    title: str
    since: Moment
    until: Moment


@dataclass(frozen=True, slots=True)
class WorkspaceMembership:
    """A member or group of a workspace, with the values of the membership, such as the scope of a role."""

    subject: ResourceRef
    roles: list[WorkspaceRole]
    attributes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class MembershipPlan:
    """Changes of one member's or group's membership that have not been made."""

    role_grants: Sequence[Grant]
    """The roles, which may be given for a time."""
    other_changes: Sequence[Add | Remove]

    @property
    def changes(self) -> list[Add | Remove]:
        """All changes, in order."""
        return [*map(Add, self.role_grants), *self.other_changes]


def create(
    ctx: RequestContext,
    model: str,
    name: str,
    *,
    uid: str | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    description: str = "",
) -> str:
    """Create a workspace of a model. Its creator gets the role that the model names."""
    schema = _workspace_kind(ctx, model)
    edges = {schema.parent: ctx.caller.tenant} if schema.parent else {}
    return resources.create(ctx, schema.id, name, uid=uid, edges=edges, attributes=attributes, description=description)


def page(
    ctx: RequestContext,
    *,
    model: str | None = None,
    search: str = "",
    sort: str = "name",
    after: str | None = None,
    limit: int = 50,
) -> CursorPage[ResourceSummary]:
    """Return the workspaces that the caller may see, of one model or of all."""
    roots = kinds.workspace_kinds(ctx.view.policy) if model is None else [_workspace_kind(ctx, model)]
    among = [root.id for root in roots]
    return resources.find(ctx, search, among=among, sort=sort, after=after, limit=limit)


def members(ctx: RequestContext, uid: str) -> list[WorkspaceMembership]:
    """Return the members of a workspace. Those who manage them see all, others themself and the owners."""
    need_workspace(ctx, uid)
    found: dict[str, WorkspaceMembership] = {}
    given = grants.list_direct(ctx, uid)
    people = {held.subject.uid for held in given}
    values = ctx.session.read_view(lambda view: {who: resource_view.membership_of(view, uid, who) for who in people})
    for held in given:
        who = held.subject
        member = found.setdefault(who.uid, WorkspaceMembership(who, [], values[who.uid]))
        member.roles.append(WorkspaceRole(held.role, held.title, held.since, held.until))
    return sorted(found.values(), key=lambda member: (member.subject.name, member.subject.uid))


def set_member(
    ctx: RequestContext,
    uid: str,
    subject: str,
    *,
    roles: Collection[str] | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    until: MomentLike | None = None,
) -> None:
    """Set exactly these roles of a member or group in a workspace, and membership values; None changes nothing. With an
    end, all these roles end then, those too that were held longer.
    """
    plan = plan_membership(ctx, uid, subject, roles=roles, attributes=attributes, lasts=until is not None)
    for change in plan.changes:
        ctx.need_change(change)
    for grant in plan.role_grants:
        grants.set_end_unchecked(ctx, grant, FOREVER if until is None else until)
    for change in plan.other_changes:
        ctx.make_unchecked(change)


def plan_membership(
    ctx: RequestContext,
    uid: str,
    subject: str,
    *,
    roles: Collection[str] | None = None,
    attributes: Mapping[str, str | bool] | None = None,
    lasts: bool = False,
) -> MembershipPlan:
    """Return what `set_member` would change. `lasts`: roles that are held already get another end."""
    need_workspace(ctx, uid)
    ctx.need_visible(require_text(subject, "id"), "grant")
    schema = kinds.schema_of(ctx.view, uid)
    others = resource_edit.find_attribute_changes(ctx, uid, attributes, subject)
    given: list[Grant] = []
    if roles is not None:
        new_roles = dict.fromkeys(to_texts(list(roles), "role"))
        for role in new_roles:
            ctx.view.policy.role(schema.id, role)
        held = {grant.role for grant in _held(ctx, uid, subject)}
        given = [Grant(subject, role, uid) for role in new_roles if role not in held or lasts]
        others = [*(Remove(Grant(subject, role, uid)) for role in sorted(held - new_roles.keys())), *others]
    return MembershipPlan(given, others)


def remove_member(ctx: RequestContext, uid: str, subject: str) -> None:
    """Remove a member or group from a workspace. Roles on resources in it stay, and count again should they return."""
    changes = plan_removal(ctx, uid, subject)
    for change in changes:
        ctx.need_change(change)
    for change in changes:
        ctx.make_unchecked(change)


def plan_removal(ctx: RequestContext, uid: str, subject: str) -> list[Add | Remove]:
    """Return what `remove_member` would change, or refuse for somebody who is not a member."""
    need_workspace(ctx, uid)
    ctx.need_visible(require_text(subject, "id"), "revoke")
    changes: list[Add | Remove] = [Remove(grant) for grant in _held(ctx, uid, subject)]
    set_values = ctx.session.read_view(lambda view: resource_view.explicit_membership(view, uid, subject))
    changes += [Remove(Attribute(uid, name, value, subject)) for name, value in set_values.items()]
    if not changes:
        # Checked first, so that a caller who may not list the members does not learn who is one.
        grants.list_effective(ctx, kinds.schema_of(ctx.view, uid).visible, uid)
        raise NotFoundError(f"{quote(subject)} has no role in {quote(uid)}.", "Check the list of members.")
    return changes


def _held(ctx: RequestContext, uid: str, subject: str) -> list[Grant]:
    """Return the roles that a member or group holds in a workspace, also those that have not begun."""
    here, who = ctx.view.resource(uid), ctx.view.resource(subject)
    found = tables.grants_on(ctx.session.transaction, ctx.session.tenant, here, ctx.at)
    return [Grant(subject, role, uid) for role in dict.fromkeys(span.role for span in found if span.subject == who)]


def need_workspace(ctx: RequestContext, uid: str, kind: str = "") -> ResourceRef:
    """Return the workspace; refuse what is none, or not of this kind, or is hidden from the caller."""
    ctx.need_visible(uid)
    found, roots = resource_view.make_ref(ctx.view, uid), kinds.workspace_kinds(ctx.view.policy)
    if found.kind not in {root.id for root in roots}:
        raise InvalidInputError(f"{quote(uid)} is not a workspace.", "Name the workspace that it lies in.")
    if kind not in {"", found.kind}:
        title = kinds.catalog_kind(ctx.view.policy, kind).title.lower()
        raise NotFoundError(f"There is no {title} {quote(uid)}.", "Check the name in the list of workspaces.")
    return found


def _workspace_kind(ctx: RequestContext, model: str) -> KindSchema:
    roots = {root.model: root for root in kinds.workspace_kinds(ctx.view.policy)}
    if require_text(model, "model") not in roots:
        raise InvalidInputError(f"There is no model {quote(model)}.", did_you_mean(model, roots))
    return roots[model]
