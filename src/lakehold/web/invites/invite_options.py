"""What the caller may invite to: roles in workspaces and on the tenant, membership values, and labels such as contexts.

`directory.invitations` decides who may invite whom to what; this module asks it for every choice of the form.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Add, Attribute
from lakehold.access.model.policy import TENANT
from lakehold.access.model.schema import AttributeKind, KindSchema
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory import invite_grants
from lakehold.directory.invite_grants import InvitedRole, InviteGrants
from lakehold.directory.request_context import RequestContext
from lakehold.web.labels import humanize

_MAX_WORKSPACES = 500
_MAX_LABELS = 200


@dataclass(frozen=True, slots=True)
class MembershipValue:
    """A value of the membership, such as the scope. Without options an invited member gets the inviter's own."""

    name: str
    title: str
    options: list[tuple[str, str]]
    own: str


@dataclass(frozen=True, slots=True)
class InviteLabel:
    """A resource of a workspace that is assigned together with a role, such as a context."""

    uid: str
    name: str
    role: str
    kind: str
    """Its title in the model."""


@dataclass(frozen=True, slots=True)
class WorkspaceInviteOptions:
    """All choices for an invite to one workspace."""

    workspace: ResourceSummary
    roles: list[tuple[str, str]]
    values: list[MembershipValue]
    labels: list[InviteLabel]


def may_invite_to(ctx: RequestContext, *places: InvitedRole) -> bool:
    """Whether the caller may invite to all of these places."""
    return invite_grants.may_invite(ctx.session, ctx.caller.tenant, ctx.principal, InviteGrants(places))


def may_invite(ctx: RequestContext) -> bool:
    """Whether the caller may invite to anything."""
    return may_invite_to(ctx) or bool(invitable_workspaces(ctx))


def invitable_workspaces(ctx: RequestContext) -> list[ResourceSummary]:
    """Return the workspaces that the caller may invite to, by name."""
    return [found for found in workspaces.page(ctx, limit=_MAX_WORKSPACES).items if invitable_roles(ctx, found.uid)]


def invitable_roles(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """Return the names and titles of the roles in a workspace that the caller may invite with."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return [
        (name, role.title)
        for name, role in roles.items()
        if not role.single and may_invite_to(ctx, InvitedRole(name, uid))
    ]


def invitable_tenant_roles(ctx: RequestContext) -> list[tuple[str, str]]:
    """Return the names and titles of the tenant roles that the caller may invite with."""
    roles = ctx.view.policy.kind(TENANT).schema.roles
    return [
        (name, role.title) for name, role in roles.items() if may_invite_to(ctx, InvitedRole(name, ctx.caller.tenant))
    ]


def workspace_options(ctx: RequestContext, workspace: ResourceSummary) -> WorkspaceInviteOptions:
    """Return the choices for an invite to a workspace."""
    schema = kinds.catalog_kind(ctx.view.policy, workspace.kind)
    roles = invitable_roles(ctx, workspace.uid)
    values = [_membership_value(ctx, workspace.uid, declared) for declared in schema.membership.values()]
    return WorkspaceInviteOptions(workspace, roles, values, _invite_labels(ctx, schema, workspace.uid, roles))


def _membership_value(ctx: RequestContext, uid: str, declared: AttributeKind) -> MembershipValue:
    def own() -> str:
        view = ctx.view
        found = (view.memberships[declared.name].get(view.resource(uid)) or {}).get(view.member(ctx.caller.member))
        return found or declared.default

    chooses = all(
        ctx.session.check_change(ctx.principal, Add(Attribute(uid, declared.name, value, ctx.caller.member)))
        for value in declared.values
    )
    options = [(value, humanize(value)) for value in declared.values] if chooses else []
    return MembershipValue(
        declared.name, humanize(declared.name), options, humanize(ctx.session.read_view(lambda _: own()))
    )


def _invite_labels(ctx: RequestContext, root: KindSchema, uid: str, roles: list[tuple[str, str]]) -> list[InviteLabel]:
    found: list[InviteLabel] = []
    for kind in ctx.view.policy.models[root.model].kinds.values():
        for role in kind.roles.values():
            if kind.name == root.name or role.invited_with is None or not roles:
                continue
            listed = ctx.session.list(ctx.principal, kind.visible, kind.id, within=uid, limit=_MAX_LABELS)
            found += [
                InviteLabel(item.uid, item.name, role.name, kind.title)
                for item in listed.items
                if ctx.session.check(ctx.principal, "invite", item.uid, role=role.name)
            ]
    return found
