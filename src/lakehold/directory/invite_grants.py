"""Roles and membership settings that an invite gives, and who may invite to them.

A role that a model says people are `invited_with` brings a new person in by itself: in marts the members of a
project invite by the matrix of the model. Any other role is given by those who may give it, to people who are in the
tenant already or are brought in by somebody who manages its members.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lakehold.access import AccessSession, Add, Attribute
from lakehold.access.decisions.principal import Principal, TokenPrincipal
from lakehold.access.facts.view import FactView
from lakehold.directory.act_for import MANAGE
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

MAX_ROLES = 50


class InvitedRole(NamedTuple):
    """A role on the tenant, a workspace, or a resource in one."""

    role: str
    resource: str


class MembershipSetting(NamedTuple):
    """A value of a membership attribute, such as the scope in a project."""

    resource: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class InviteGrants:
    """The roles and settings that come with an invite."""

    roles: tuple[InvitedRole, ...] = ()
    settings: tuple[MembershipSetting, ...] = ()


def refuse_invalid(ctx: RequestContext, grants: InviteGrants) -> None:
    """Refuse unknown roles and settings, before any right is checked."""
    if len(grants.roles) > MAX_ROLES or len(grants.settings) > MAX_ROLES:
        raise InvalidInputError(f"An invite carries {MAX_ROLES} roles at most.", "Use a group instead.")
    view = ctx.view
    for invited_role in grants.roles:
        ctx.need_visible(invited_role.resource, "invite")
        view.policy.role(view.kind(view.resource(invited_role.resource)), invited_role.role)
    for setting in grants.settings:
        if setting.resource not in {invited_role.resource for invited_role in grants.roles}:
            raise InvalidInputError(
                f"{quote(setting.name)} belongs to a membership in {quote(setting.resource)}, where no role is named.",
                "Name a role there, or leave it out.",
            )
        ctx.session.check_change(ctx.caller.member, _set_own(setting, ctx.caller.member))


def required_rights(view: FactView, tenant: str, grants: InviteGrants) -> Iterator[tuple[str, str, str | None]]:
    """Yield all rights that the inviter must have: the action, the resource, and the role that it is about."""
    brings_in = False
    for invited_role in grants.roles:
        number = view.resource(invited_role.resource)
        kind = view.policy.kind(view.kind(number))
        invited = kind.schema.roles[invited_role.role].invited_with is not None
        brings_in |= invited and kind.schema.name == view.policy.models[kind.schema.model].root
        yield "invite" if invited else "give", invited_role.resource, invited_role.role
    if not brings_in:
        yield MANAGE, tenant, None


def need_invite(ctx: RequestContext, grants: InviteGrants) -> None:
    """Refuse unless the caller may invite with all of these grants."""
    rights = ctx.session.read_view(lambda view: list(required_rights(view, ctx.caller.tenant, grants)))
    for action, resource, role in rights:
        ctx.need(action, resource, role=role)
    for setting in grants.settings:
        if not _may_set(ctx.session, ctx.principal, setting):
            ctx.need_change(_set_own(setting, ctx.caller.member))


def may_invite(session: AccessSession, tenant: str, principal: Principal, grants: InviteGrants) -> bool:
    """Whether somebody may invite with all of these grants now. False if one of the resources is gone."""
    try:
        rights = session.read_view(lambda view: list(required_rights(view, tenant, grants)))
        return all(session.check(principal, action, resource, role=role) for action, resource, role in rights) and all(
            _may_set(session, principal, setting) for setting in grants.settings
        )
    except (NotFoundError, InvalidInputError, KeyError):
        return False


def effective_settings(session: AccessSession, inviter: str, grants: InviteGrants) -> list[MembershipSetting]:
    """Return the settings that the new member gets. An inviter who may not choose a value passes their own on: a guest
    gets no more than the host has.
    """
    chosen = {(setting.resource, setting.name): setting for setting in grants.settings}
    for resource in dict.fromkeys(invited_role.resource for invited_role in grants.roles):
        for setting in session.read_view(lambda view, here=resource: _own_settings(view, here, inviter)):  # type: ignore[misc]
            place = resource, setting.name
            if place not in chosen and not session.check_change(inviter, _set_own(setting, inviter)):
                chosen[place] = setting
    return list(chosen.values())


def _own_settings(view: FactView, resource: str, member: str) -> list[MembershipSetting]:
    here, number = view.resource(resource), view.member(member)
    known = view.policy.kind(view.kind(here)).schema.membership
    return [
        MembershipSetting(resource, name, (view.memberships[name].get(here) or {}).get(number, attribute.default))
        for name, attribute in known.items()
    ]


def _may_set(session: AccessSession, principal: Principal, setting: MembershipSetting) -> bool:
    """Whether somebody may set the value, because it is their own or they may choose any."""
    member = principal.member if isinstance(principal, TokenPrincipal) else principal
    own = session.read_view(lambda view: _own_settings(view, setting.resource, member))
    return setting in own or session.check_change(principal, _set_own(setting, member))


def _set_own(setting: MembershipSetting, member: str) -> Add:
    """Return the change that sets the value for a member, on whom the right to it does not depend."""
    return Add(Attribute(setting.resource, setting.name, setting.value, member))
