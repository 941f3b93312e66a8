"""Checks who may act for a member: themself always, others by the rules of the tenant's model.

A link, a password, an e-mail address or a token lets its holder do all that the member may. So nobody creates one
for a member who may do more than they could give: for an Owner only an Owner does.
"""

from lakehold.access.facts.view import ALL_MEMBERS, FactView, role_names
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext

MANAGE = "manage_members"
MANAGE_OWNERS = "manage_owners"


def need_unrestricted(ctx: RequestContext, action: str, resource: str = "") -> None:
    """Refuse a token with a restricted scope, whose rights must not grow."""
    if ctx.caller.narrowed is not None and ctx.caller.narrowed.is_narrowed:
        raise DeniedError(
            f"A narrowed token may not {action}.",
            "Use a token that is not narrowed, or sign in.",
            action=action,
            resource=resource or ctx.caller.member,
        )


def need_self_or_manager(ctx: RequestContext, action: str, member: str) -> None:
    """Refuse unless the caller is the member, or manages the tenant's members."""
    need_unrestricted(ctx, action, member)
    ctx.view.member(member)
    if member != ctx.caller.member:
        ctx.need(MANAGE, ctx.caller.tenant)


def need_act_for(ctx: RequestContext, action: str, member: str) -> None:
    """Refuse unless the caller may create what signs in as this member."""
    need_unrestricted(ctx, action, member)
    ctx.need("see", member)
    tenant = ctx.caller.tenant
    here = ctx.session.read_view(lambda view: _roles_on(view, member, tenant))
    if not here and (ctx.session.check(ctx.principal, MANAGE, tenant) or _manages_only_workspace(ctx, member)):
        return
    ctx.need(MANAGE, tenant)
    for role in sorted(here):
        ctx.need("give", tenant, role=role)


def _manages_only_workspace(ctx: RequestContext, member: str) -> bool:
    """Whether all roles of the member lie in one workspace, whose roles the caller gives."""
    place, roles = ctx.session.read_view(lambda view: _only_workspace(view, member))
    return bool(roles) and all(ctx.session.check(ctx.principal, "give", place, role=role) for role in roles)


def _roles_on(view: FactView, member: str, place: str) -> set[str]:
    """Return the roles that the member holds there, directly or by a group other than All."""
    grants = view.grants.get(view.resource(place)) or {}
    return {role for holder in _subjects(view, member) for role in role_names(grants.get(holder, 0))}


def _subjects(view: FactView, member: str) -> list[int]:
    return [holder for holder in view.subject(view.member(member)).ids if view.kind(holder) != ALL_MEMBERS]


def _only_workspace(view: FactView, member: str) -> tuple[str, list[str]]:
    """Return the workspace in which all roles of the member lie, with its roles, if its own members invite people."""
    places = {
        _workspace(view, number)
        for holder in _subjects(view, member)
        for number in view.grants_by_subject.get(holder) or ()
    }
    place = places.pop() if len(places) == 1 else None
    roles = view.policy.kind(view.kind(place)).schema.roles if place is not None else {}
    is_open = any(role.invited_with for role in roles.values())
    return (view.uid(place), list(roles)) if place is not None and is_open else ("", [])


def _workspace(view: FactView, number: int) -> int:
    here: int | None = number
    while here is not None:
        number, kind = here, view.policy.kind(view.kind(here))
        is_root = kind.parent is None or kind.schema.name == view.policy.models[kind.schema.model].root
        above = () if is_root or kind.parent is None else view.edges_out[kind.parent.edge].get(here) or ()
        here = next(iter(above), None)
    return number
