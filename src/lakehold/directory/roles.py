"""Tenant roles and security roles: what a member or a group holds on the tenant itself."""

from __future__ import annotations

from collections.abc import Collection

from lakehold.access import Add, Grant, Remove
from lakehold.access.facts.view import FactView, role_names
from lakehold.directory.request_context import RequestContext, When

OWNER, ADMIN = "owner", "admin"


def of(ctx: RequestContext, subject: str) -> tuple[str, ...]:
    """The roles that a member or a group holds on the tenant by itself, in the model's order."""

    def ask(view: FactView) -> tuple[str, ...]:
        tenant = view.resource(ctx.caller.tenant)
        held = set(role_names((view.grants.get(tenant) or {}).get(view.resource(subject), 0)))
        return tuple(role for role in view.policy.kind(view.kind(tenant)).schema.roles if role in held)

    return ctx.session.read_view(ask)


def give(ctx: RequestContext, subject: str, role: str, *, until: When | None = None) -> None:
    """Give a role on the tenant, for good or for a time."""
    ctx.make(Add(Grant(subject, role, ctx.caller.tenant)), until=until)


def take(ctx: RequestContext, subject: str, role: str) -> None:
    """Take a role on the tenant away."""
    ctx.make(Remove(Grant(subject, role, ctx.caller.tenant)))


def need_put(ctx: RequestContext, subject: str, wanted: Collection[str]) -> None:
    """Refuse unless the caller may give and take all that this changes."""
    held, tenant = set(of(ctx, subject)), ctx.caller.tenant
    for role in sorted(set(wanted) - held):
        ctx.need_change(Add(Grant(subject, role, tenant)))
    for role in sorted(held - set(wanted)):
        # That the last Owner stays is another matter, and told when it is tried.
        ctx.need("give", tenant, role=role)


def put(ctx: RequestContext, subject: str, wanted: Collection[str]) -> None:
    """Let these be the roles on the tenant, and no others. New ones are given before old ones are taken, so that
    there is no moment without an Owner.
    """
    held = set(of(ctx, subject))
    for role in sorted(set(wanted) - held):
        give(ctx, subject, role)
    for role in sorted(held - set(wanted)):
        take(ctx, subject, role)
