"""Who receives what in a project: by their role, or by a choice that still counts.

Project Admins and Technical Users are subscribed by default, Business Users and those who only are admins by their role
in the tenant are not. A choice counts if it was made since its member came to the side on which they are: whoever is
promoted, downgraded, or leaves and comes back, begins anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import accounts
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.workspaces.marts import nouns
from lakehold.workspaces.marts.notifications import choices, sides
from lakehold.workspaces.marts.notifications.channels import Channel
from lakehold.workspaces.marts.notifications.choices import Choice
from lakehold.workspaces.marts.notifications.sides import ADMIN, Past, Side

MANAGE = "manage_settings"


@dataclass(frozen=True, slots=True)
class Subscription:
    """Whether somebody is subscribed to a channel, and whether that was chosen."""

    on: bool
    chosen: bool


@dataclass(frozen=True, slots=True)
class Receiver:
    """A member, and what they are subscribed to. While a channel is switched off, nobody receives it."""

    member: ResourceRef
    role: str
    """The highest one that they hold in the project; that of an admin for those above."""
    side: Side
    reachable: bool
    """Whether they have an address for mails."""
    channels: Mapping[Channel, Subscription]

    @property
    def joined(self) -> bool:
        """Whether they hold a role in the project itself."""
        return self.side is not Side.ABOVE


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse what is no project, or not the caller's to see."""
    nouns.need_kind(ctx, uid, nouns.PROJECT)


def switches(ctx: RequestContext, project: str) -> dict[Channel, bool]:
    """Which channels a project tells of, for its members."""
    need_project(ctx, project)
    return choices.switches(choices.read(ctx, project))


def manages(ctx: RequestContext, project: str) -> bool:
    """Whether the caller sees and changes all of it, and not only what is their own."""
    return ctx.session.check(ctx.asker, MANAGE, project)


def listed(ctx: RequestContext, project: str, search: str = "") -> list[Receiver]:
    """Everybody in the project and above it, by name, for who keeps its settings; for others, themself."""
    need_project(ctx, project)
    held = ctx.session.read_view(lambda view: sides.roles(view, project))
    if manages(ctx, project):
        numbers = {*held, *(ctx.view.member(uid) for uid in ctx.session.who(MANAGE, project))}
    else:
        numbers = {ctx.view.member(ctx.caller.member)}
    found = [
        each for each in _receivers(ctx, project, held, numbers) if fold_name(search) in fold_name(each.member.name)
    ]
    return sorted(found, key=lambda each: (fold_name(each.member.name), each.member.uid))


def one(ctx: RequestContext, project: str, member: str) -> Receiver | None:
    """One of them, for who has been let ask; None if they are neither in the project nor above it."""
    held = ctx.session.read_view(lambda view: sides.roles(view, project))
    return next(iter(_receivers(ctx, project, held, [ctx.view.member(member)])), None)


def of(ctx: RequestContext, project: str, channel: Channel, also: Iterable[str] = ()) -> list[str]:
    """All who receive a channel, and others who were named; nobody while it is switched off. For the platform's own
    use: who may know what is told is asked by who tells it.
    """
    chosen = choices.read(ctx, project)
    if not choices.switches(chosen)[channel]:
        return []
    held = ctx.session.read_view(lambda view: sides.roles(view, project))
    some = {number for number, each in chosen.items() if channel in each and _is_there(ctx, project, held, number)}
    past = Past.of(ctx, project, some) if some else None
    subscribed = [
        number
        for number in {*held, *some}
        if _subscribed(held.get(number), number, chosen.get(number, {}).get(channel), past).on
    ]
    return [*sorted(ctx.view.uid(number) for number in subscribed), *also]


def _receivers(ctx: RequestContext, project: str, held: Mapping[int, str], numbers: Collection[int]) -> list[Receiver]:
    chosen, eyes = choices.read(ctx, project), VisibleRefs(ctx)
    there = [number for number in numbers if _is_there(ctx, project, held, number)]
    past = Past.of(ctx, project, [number for number in there if number in chosen])
    known = accounts.get_many(ctx, there)
    found = []
    for number in there:
        if member := eyes.by_number(number):
            role, own = held.get(number), chosen.get(number, {})
            account = known.get(number)
            found.append(
                Receiver(
                    member,
                    role or ADMIN,
                    sides.side_of(role),
                    account is not None and bool(account.email),
                    {each: _subscribed(role, number, own.get(each), past) for each in Channel},
                )
            )
    return found


def _is_there(ctx: RequestContext, project: str, held: Mapping[int, str], number: int) -> bool:
    """Whether the member is in the project, or above it."""
    uid = ctx.session.read_view(lambda view: view.uids.get(number))
    return uid is not None and (number in held or ctx.session.check(uid, MANAGE, project))


def _subscribed(role: str | None, number: int, choice: Choice | None, past: Past | None) -> Subscription:
    side = sides.side_of(role)
    if choice is not None and past is not None and choice.at >= past.since(number, side):
        return Subscription(choice.wanted, chosen=True)
    return Subscription(side is Side.TECHNICAL, chosen=False)
