"""To what the caller may invite: roles in workspaces and on the tenant, the scope, and labels such as contexts.

Who may invite whom to what is decided by `directory.invitations`; here it is asked for every choice of the form.
"""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Add, Attribute
from lakehold.access.model.policy import TENANT
from lakehold.access.model.schema import AttributeKind as Declared
from lakehold.access.model.schema import KindSchema
from lakehold.catalog import kinds, workspaces
from lakehold.catalog.resource_view import ResourceSummary
from lakehold.directory import invite_grants
from lakehold.directory.invite_grants import InvitedRole, InviteGrants
from lakehold.directory.request_context import RequestContext
from lakehold.web.labels import humanize

_MOST_WORKSPACES = 500
_MOST_LABELS = 200


@dataclass(frozen=True, slots=True)
class Value:
    """A value of the membership, such as the scope; without options whoever is invited gets the inviter's own."""

    name: str
    title: str
    options: list[tuple[str, str]]
    own: str


@dataclass(frozen=True, slots=True)
class Label:
    """Something of a workspace that goes along with a role, such as a context."""

    uid: str
    name: str
    role: str
    kind: str
    """Its title in the model."""


@dataclass(frozen=True, slots=True)
class Offer:
    """All that somebody can be invited to in one workspace."""

    workspace: ResourceSummary
    roles: list[tuple[str, str]]
    values: list[Value]
    labels: list[Label]


def may(ctx: RequestContext, *places: InvitedRole) -> bool:
    """Whether the caller may invite to all of it."""
    return invite_grants.may_invite(ctx.session, ctx.caller.tenant, ctx.asker, InviteGrants(places))


def may_invite(ctx: RequestContext) -> bool:
    """Whether there is anything at all to invite to."""
    return may(ctx) or bool(open_workspaces(ctx))


def open_workspaces(ctx: RequestContext) -> list[ResourceSummary]:
    """The workspaces that the caller may invite to, by name."""
    return [found for found in workspaces.page(ctx, limit=_MOST_WORKSPACES).items if roles_in(ctx, found.uid)]


def roles_in(ctx: RequestContext, uid: str) -> list[tuple[str, str]]:
    """The roles in a workspace that the caller may invite with: names and titles."""
    roles = kinds.schema_of(ctx.view, uid).roles
    return [(name, role.title) for name, role in roles.items() if not role.single and may(ctx, InvitedRole(name, uid))]


def tenant_roles(ctx: RequestContext) -> list[tuple[str, str]]:
    """The roles on the tenant that the caller may invite with."""
    roles = ctx.view.policy.kind(TENANT).schema.roles
    return [(name, role.title) for name, role in roles.items() if may(ctx, InvitedRole(name, ctx.caller.tenant))]


def offer(ctx: RequestContext, workspace: ResourceSummary) -> Offer:
    """What there is to choose in a workspace."""
    schema = kinds.catalog_kind(ctx.view.policy, workspace.kind)
    roles = roles_in(ctx, workspace.uid)
    values = [_value(ctx, workspace.uid, declared) for declared in schema.membership.values()]
    return Offer(workspace, roles, values, _labels(ctx, schema, workspace.uid, roles))


def _value(ctx: RequestContext, uid: str, declared: Declared) -> Value:
    def own() -> str:
        view = ctx.view
        found = (view.memberships[declared.name].get(view.resource(uid)) or {}).get(view.member(ctx.caller.member))
        return found or declared.default

    chooses = all(
        ctx.session.check_change(ctx.asker, Add(Attribute(uid, declared.name, value, ctx.caller.member)))
        for value in declared.values
    )
    options = [(value, humanize(value)) for value in declared.values] if chooses else []
    return Value(declared.name, humanize(declared.name), options, humanize(ctx.session.read_view(lambda _: own())))


def _labels(ctx: RequestContext, root: KindSchema, uid: str, roles: list[tuple[str, str]]) -> list[Label]:
    found: list[Label] = []
    for kind in ctx.view.policy.models[root.model].kinds.values():
        for role in kind.roles.values():
            if kind.name == root.name or role.invited_with is None or not roles:
                continue
            listed = ctx.session.list(ctx.asker, kind.visible, kind.id, within=uid, limit=_MOST_LABELS)
            found += [
                Label(item.uid, item.name, role.name, kind.title)
                for item in listed.items
                if ctx.session.check(ctx.asker, "invite", item.uid, role=role.name)
            ]
    return found
