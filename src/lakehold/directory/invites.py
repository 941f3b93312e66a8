"""Invites: links that make somebody a member, with the roles that come with them.

The link is handed over, or mailed where mail is configured; it is stored as a hash and accepted once. What it gives
is given as by the inviter: if they have lost the right to it by then, so has the invite.

A role that a model says people are `invited_with` brings a new person in by itself: in marts the members of a
project invite by the matrix of the model. Any other role is given by those who may give it, to people who are in the
tenant already or are brought in by somebody who manages its members.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import sqlalchemy as sa

from lakehold.access import AccessSession, Add, Attribute
from lakehold.access.decisions.principal import Principal, TokenPrincipal
from lakehold.access.facts.view import FactView
from lakehold.directory import links, secret_tokens
from lakehold.directory.accounts import email_key, valid_email
from lakehold.directory.act_for import MANAGE, need_unrestricted
from lakehold.directory.request_context import RequestContext
from lakehold.kit.clock import DAY, Moment
from lakehold.kit.database import ExactText
from lakehold.kit.errors import ConflictError, InvalidInputError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.settings import Settings

invite_table = secret_tokens.secret_table(
    "invite",
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("email_key", ExactText, nullable=False),
    sa.Column("carries", sa.Text, nullable=False),
    sa.Column("made_by", ExactText, nullable=False),
)
sa.Index("invite_by_time", invite_table.c.tenant_id, invite_table.c.made_at, invite_table.c.id)

MAX_ROLES = 50
_BATCH = 200
PageKey = tuple[Moment, str]


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


@dataclass(frozen=True, slots=True)
class Invite:
    """An invite that has not been accepted yet."""

    id: str
    email: str
    grants: InviteGrants
    made_by: str
    made_at: Moment
    until: Moment
    """After this it can only be sent again."""


@dataclass(frozen=True, slots=True)
class CreatedInvite:
    """A created invite with its link, which is either shown to the inviter or mailed, never both."""

    invite: Invite
    mailed: bool
    link: str = field(default="", repr=False)


def create(
    ctx: RequestContext, settings: Settings, email: str, grants: InviteGrants | None = None, *, mail: bool = False
) -> CreatedInvite:
    """Invite somebody by e-mail address, with these roles."""
    ctx.need_writable()
    need_unrestricted(ctx, "invite")
    carried, address = grants or InviteGrants(), valid_email(email)
    _refuse_invalid(ctx, carried)
    _need_invite(ctx, carried)
    return _create(ctx, settings, address, carried, mail=mail)


def resend(ctx: RequestContext, settings: Settings, id_: str, *, mail: bool = False) -> CreatedInvite:
    """Replace the link of an invite. The caller becomes the inviter."""
    ctx.need_writable()
    need_unrestricted(ctx, "invite")
    old = get(ctx, id_)
    _need_invite(ctx, old.grants)
    delete(ctx, old.id)
    return _create(ctx, settings, old.email, old.grants, mail=mail, again=old.id)


def revoke(ctx: RequestContext, id_: str) -> None:
    """Revoke an invite, so that its link is no longer valid."""
    ctx.need_writable()
    invite = get(ctx, id_)
    delete(ctx, invite.id)
    ctx.note("revoke invite", ctx.caller.tenant, before={"invite": invite.id, "email": invite.email})


def get(ctx: RequestContext, id_: str) -> Invite:
    """Return an invite that the caller created, or could have created."""
    need_unrestricted(ctx, "see invites")
    row = ctx.rows(invite_table).select(invite_table.c.id == id_).first()
    if row is None or not _may_see(ctx, from_row(row)):
        raise NotFoundError(f"There is no invite {quote(id_)}.", "Check the ID in the list of invites.")
    return from_row(row)


def page(ctx: RequestContext, *, after: PageKey | None = None, limit: int = 50) -> list[Invite]:
    """Return the invites that the caller created or could have created, newest first, after the given key."""
    need_unrestricted(ctx, "see invites")
    return list(islice((invite for invite in _iterate(ctx, after) if _may_see(ctx, invite)), limit))


def delete(ctx: RequestContext, id_: str) -> bool:
    """Delete the invite and return whether it was there, so that only one transaction can use it."""
    return ctx.rows(invite_table).delete(invite_table.c.id == id_) == 1


def from_row(row: sa.Row[tuple[object, ...]]) -> Invite:
    """Return the invite of a database row."""
    carries = json.loads(row.carries)
    places = tuple(InvitedRole(*place) for place in carries["places"])
    chosen = tuple(MembershipSetting(*setting) for setting in carries["settings"])
    return Invite(row.id, row.email, InviteGrants(places, chosen), row.made_by, row.made_at, row.until)


def _create(
    ctx: RequestContext, settings: Settings, email: str, grants: InviteGrants, *, mail: bool, again: str = ""
) -> CreatedInvite:
    if mail and not links.can_send_mail(settings):
        raise ConflictError("This installation sends no mails.", "Share the link yourself, or set LAKEHOLD_SMTP.")
    fresh = secret_tokens.generate(secret_tokens.INVITE, again)
    invite = Invite(fresh.id, email, grants, ctx.caller.member, ctx.at, ctx.at + settings.invite_days * DAY)
    carries = json.dumps({"places": grants.roles, "settings": grants.settings})
    columns = {"email": email, "email_key": email_key(email), "carries": carries, "made_by": invite.made_by}
    secret_tokens.insert(ctx, invite_table, fresh, invite.until, **columns)
    link = links.link_url(settings, links.INVITE, fresh.text)
    if mail:
        links.queue_mail(ctx, links.INVITE, email, link, invite.until)
    details = {"invite": invite.id, "email": email, "roles": [f"{role} on {there}" for role, there in grants.roles]}
    ctx.note("invite again" if again else "invite", ctx.caller.tenant, after=details)
    return CreatedInvite(invite, mailed=mail, link="" if mail else link)


def _may_see(ctx: RequestContext, invite: Invite) -> bool:
    return invite.made_by == ctx.caller.member or may_invite(
        ctx.session, ctx.caller.tenant, ctx.principal, invite.grants
    )


def _iterate(ctx: RequestContext, after: PageKey | None) -> Iterator[Invite]:
    c = invite_table.c
    while True:
        older = sa.true() if after is None else sa.tuple_(c.made_at, c.id) < sa.tuple_(*map(sa.literal, after))
        found = ctx.rows(invite_table).select(older, order_by=(c.made_at.desc(), c.id.desc()), limit=_BATCH)
        rows = [from_row(row) for row in found]
        yield from rows
        if len(rows) < _BATCH:
            return
        after = rows[-1].made_at, rows[-1].id


def _refuse_invalid(ctx: RequestContext, grants: InviteGrants) -> None:
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


def _required_rights(view: FactView, tenant: str, grants: InviteGrants) -> Iterator[tuple[str, str, str | None]]:
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


def _need_invite(ctx: RequestContext, grants: InviteGrants) -> None:
    """Refuse unless the caller may invite with all of these grants."""
    rights = ctx.session.read_view(lambda view: list(_required_rights(view, ctx.caller.tenant, grants)))
    for action, resource, role in rights:
        ctx.need(action, resource, role=role)
    for setting in grants.settings:
        if not _may_set(ctx.session, ctx.principal, setting):
            ctx.need_change(_set_own(setting, ctx.caller.member))


def may_invite(session: AccessSession, tenant: str, principal: Principal, grants: InviteGrants) -> bool:
    """Whether somebody may invite with all of these grants now. False if one of the resources is gone."""
    try:
        rights = session.read_view(lambda view: list(_required_rights(view, tenant, grants)))
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
