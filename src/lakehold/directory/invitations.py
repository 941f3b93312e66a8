"""What somebody is invited to, and who may invite to it.

A role that a model says people are `invited_with` brings a new person in by itself: in marts the members of a project
invite by the matrix of the model. Any other role is given by whoever may give it, to people who are in the tenant
already or are brought in by somebody who keeps its members.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lakehold.access import AccessSession, Add, Attribute
from lakehold.access.decisions.principal import Principal, TokenPrincipal
from lakehold.access.facts.view import FactView
from lakehold.directory.request_context import RequestContext
from lakehold.directory.standing import MANAGE
from lakehold.kit.errors import InvalidInputError, NotFoundError
from lakehold.kit.ids import quote

MOST = 50


class Place(NamedTuple):
    """A role on something: on the tenant, a workspace, or what lies in one."""

    role: str
    resource: str


class Setting(NamedTuple):
    """A value of the membership in something, such as the scope in a project."""

    resource: str
    name: str
    value: str


class Question(NamedTuple):
    """What the inviter must be allowed."""

    action: str
    resource: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """All that comes with an invite."""

    places: tuple[Place, ...] = ()
    settings: tuple[Setting, ...] = ()


def refuse_what_cannot_be(ctx: RequestContext, invitation: Invitation) -> None:
    """Refuse roles and settings that there are not, before any right is asked for."""
    if len(invitation.places) > MOST or len(invitation.settings) > MOST:
        raise InvalidInputError(f"An invite carries {MOST} roles at the most.", "Invite to a group's work instead.")
    view = ctx.view
    for place in invitation.places:
        ctx.see(place.resource, "invite")
        view.policy.role(view.kind(view.resource(place.resource)), place.role)
    for setting in invitation.settings:
        if setting.resource not in {place.resource for place in invitation.places}:
            raise InvalidInputError(
                f"{quote(setting.name)} belongs to a membership in {quote(setting.resource)}, where no role is named.",
                "Name a role there, or leave it out.",
            )
        ctx.session.check_change(ctx.caller.member, _as_own(setting, ctx.caller.member))


def questions(view: FactView, tenant: str, invitation: Invitation) -> Iterator[Question]:
    """What the inviter must be allowed, all of it."""
    brings_in = False
    for place in invitation.places:
        number = view.resource(place.resource)
        kind = view.policy.kind(view.kind(number))
        invited = kind.schema.roles[place.role].invited_with is not None
        brings_in |= invited and kind.schema.name == view.policy.models[kind.schema.model].root
        yield Question("invite" if invited else "give", place.resource, place.role)
    if not brings_in:
        yield Question(MANAGE, tenant)


def need(ctx: RequestContext, invitation: Invitation) -> None:
    """Refuse unless the caller may invite to all of it."""
    for question in ctx.session.read_view(lambda view: list(questions(view, ctx.caller.tenant, invitation))):
        ctx.need(question.action, question.resource, role=question.role)
    for setting in invitation.settings:
        if not _may_set(ctx.session, ctx.asker, setting):
            ctx.need_change(_as_own(setting, ctx.caller.member))


def may(session: AccessSession, tenant: str, asker: Principal, invitation: Invitation) -> bool:
    """Whether somebody may invite to all of it now. What is no longer there nobody may invite to."""
    try:
        asked = session.read_view(lambda view: list(questions(view, tenant, invitation)))
        return all(
            session.check(asker, question.action, question.resource, role=question.role) for question in asked
        ) and all(_may_set(session, asker, setting) for setting in invitation.settings)
    except (NotFoundError, InvalidInputError, KeyError):
        return False


def settled(session: AccessSession, inviter: str, invitation: Invitation) -> list[Setting]:
    """The values that the new member gets. Whoever may not choose them passes their own on: a guest gets no more than
    the host has.
    """
    chosen = {(setting.resource, setting.name): setting for setting in invitation.settings}
    for resource in dict.fromkeys(place.resource for place in invitation.places):
        for setting in session.read_view(lambda view, here=resource: _own(view, here, inviter)):  # type: ignore[misc]
            if (resource, setting.name) not in chosen and not _may_choose(session, inviter, setting):
                chosen[resource, setting.name] = setting
    return list(chosen.values())


def only_invites(session: AccessSession, inviter: str, place: Place) -> bool:
    """Whether the inviter may bring people in as this, but not change the role of those who are there."""
    return not session.check(inviter, "give", place.resource, role=place.role)


def _own(view: FactView, resource: str, member: str) -> list[Setting]:
    """The member's own values there."""
    here, number = view.resource(resource), view.member(member)
    known = view.policy.kind(view.kind(here)).schema.membership
    return [
        Setting(resource, name, (view.memberships[name].get(here) or {}).get(number, attribute.default))
        for name, attribute in known.items()
    ]


def _may_set(session: AccessSession, asker: Principal, setting: Setting) -> bool:
    """To the value that they have themself, or to any that they may choose."""
    member = asker.member if isinstance(asker, TokenPrincipal) else asker
    own = session.read_view(lambda view: _own(view, setting.resource, member))
    return setting in own or session.check_change(asker, _as_own(setting, member))


def _may_choose(session: AccessSession, member: str, setting: Setting) -> bool:
    return session.check_change(member, _as_own(setting, member))


def _as_own(setting: Setting, member: str) -> Add:
    """The right to set a value does not depend on whose it is, and who is invited may not be there yet."""
    return Add(Attribute(setting.resource, setting.name, setting.value, member))
