"""Receivers of notifications in a project, by their role or by a preference; changing preferences; notices of runs.

Project Admins and Technical Users are subscribed by default; Business Users, and admins who have their role from the
tenant, are not. A preference counts if it was saved since its member came to their side: whoever is promoted, demoted,
or leaves and comes back, starts with the default again. Those who manage the project's settings change any preference,
and every member their own.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple
from urllib.parse import quote as quote_url

from lakehold.access.facts.records import require_mapping
from lakehold.access.facts.view import role_bit
from lakehold.access.model.policy import MEMBER
from lakehold.catalog import kinds
from lakehold.catalog.resource_view import ResourceRef, VisibleRefs
from lakehold.directory import accounts
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import fold_name, quote
from lakehold.runs.run_table import FAILED, SUCCEEDED
from lakehold.runs.runnable import EndedRun, RunNotice, members_allowed, notified_members
from lakehold.workspaces.graph import need_kind
from lakehold.workspaces.marts import checks
from lakehold.workspaces.marts.notifications import preferences
from lakehold.workspaces.marts.notifications.preferences import (
    MANAGE_SETTINGS,
    MemberSide,
    NotificationChannel,
    ProjectRoles,
    RoleHistory,
)
from lakehold.workspaces.marts.settings import DATA_MART_KIND, PROJECT_KIND


@dataclass(frozen=True, slots=True)
class Subscription:
    """Whether a member is subscribed to a channel, and whether that is a preference."""

    on: bool
    chosen: bool

    @property
    def by(self) -> Literal["default", "choice"]:
        """The origin of the subscription: the role of the member, or their preference."""
        return "choice" if self.chosen else "default"


@dataclass(frozen=True, slots=True)
class MemberSubscriptions:
    """A member and their subscriptions. Nobody receives a channel that is switched off."""

    member: ResourceRef
    role: str
    """The highest one that they hold in the project; that of an admin for those above."""
    side: MemberSide
    reachable: bool
    """Whether they have an address for mails."""
    channels: Mapping[NotificationChannel, Subscription]

    @property
    def joined(self) -> bool:
        """Whether they hold a role in the project itself."""
        return self.side is not MemberSide.ABOVE


def need_project(ctx: RequestContext, uid: str) -> None:
    """Refuse a resource that is not a project, or that the caller does not see."""
    need_kind(ctx, uid, "see", (PROJECT_KIND,))


def project_channels(ctx: RequestContext, project: str) -> dict[NotificationChannel, bool]:
    """Return which channels a project has switched on, for its members."""
    need_project(ctx, project)
    return preferences.enabled_channels(preferences.load_preferences(ctx, project))


def can_manage(ctx: RequestContext, project: str) -> bool:
    """Return whether the caller manages all receivers, and not only themselves."""
    return ctx.session.check(ctx.principal, MANAGE_SETTINGS, project)


def list_receivers(ctx: RequestContext, project: str, search: str = "") -> list[MemberSubscriptions]:
    """Return everybody in the project and above it by name, for those who manage it; for others, themselves."""
    need_project(ctx, project)
    held = preferences.project_roles(ctx, project)
    if can_manage(ctx, project):
        numbers = {*held, *(ctx.view.member(uid) for uid in ctx.session.who(MANAGE_SETTINGS, project))}
    else:
        numbers = {ctx.view.member(ctx.caller.member)}
    everybody = _load_receivers(ctx, project, held, numbers)
    found = [each for each in everybody if fold_name(search) in fold_name(each.member.name)]
    return sorted(found, key=lambda each: (fold_name(each.member.name), each.member.uid))


def find_receiver(ctx: RequestContext, project: str, member: str) -> MemberSubscriptions | None:
    """Return one receiver, or None if they are neither in the project nor above it. Access was checked before."""
    held = preferences.project_roles(ctx, project)
    return next(iter(_load_receivers(ctx, project, held, [ctx.view.member(member)])), None)


def channel_receivers(
    ctx: RequestContext, project: str, channel: NotificationChannel, also: Iterable[str] = ()
) -> list[str]:
    """Return all who receive a channel, and others who were named; nobody while it is switched off.

    For the platform's own use: who sends checks access.
    """
    chosen = preferences.load_preferences(ctx, project)
    if not preferences.enabled_channels(chosen)[channel]:
        return []
    held = preferences.project_roles(ctx, project)
    some = {number for number, each in chosen.items() if channel in each and _is_member(ctx, project, held, number)}
    past, roles = RoleHistory.load(ctx, project, some) if some else None, ProjectRoles.load(ctx.view)
    subscribed = [
        number
        for number in {*held, *some}
        if _subscription(roles.side_of(held.get(number)), number, chosen.get(number, {}).get(channel), past).on
    ]
    return [*sorted(ctx.view.uid(number) for number in subscribed), *also]


def _load_receivers(
    ctx: RequestContext, project: str, held: Mapping[int, str], numbers: Collection[int]
) -> list[MemberSubscriptions]:
    chosen, visible = preferences.load_preferences(ctx, project), VisibleRefs(ctx)
    there = [number for number in numbers if _is_member(ctx, project, held, number)]
    past = RoleHistory.load(ctx, project, [number for number in there if number in chosen])
    known, roles = accounts.get_many(ctx, there), ProjectRoles.load(ctx.view)
    found = []
    for number in there:
        if member := visible.by_number(number):
            role, own, account = held.get(number), chosen.get(number, {}), known.get(number)
            side, has_email = roles.side_of(role), bool(account and account.email)
            channels = {each: _subscription(side, number, own.get(each), past) for each in NotificationChannel}
            found.append(MemberSubscriptions(member, role or roles.highest, side, has_email, channels))
    return found


def _is_member(ctx: RequestContext, project: str, held: Mapping[int, str], number: int) -> bool:
    """Return whether the member is in the project, or above it."""
    uid = ctx.session.read_view(lambda view: view.uids.get(number))
    return uid is not None and (number in held or ctx.session.check(uid, MANAGE_SETTINGS, project))


def _subscription(
    side: MemberSide, number: int, choice: preferences.ChannelPreference | None, past: RoleHistory | None
) -> Subscription:
    if choice is not None and past is not None and choice.at >= past.side_since(number, side):
        return Subscription(choice.subscribed, chosen=True)
    return Subscription(side is MemberSide.TECHNICAL, chosen=False)


_AUDIT_ACTION = "set notifications"


def set_channels(ctx: RequestContext, project: str, changes: Mapping[str, bool]) -> None:
    """Switch channels of a project on or off."""
    ctx.need_writable()
    need_project(ctx, project)
    ctx.need(MANAGE_SETTINGS, project)
    before = project_channels(ctx, project)
    changed = {name: on for name, on in _parse_channels(changes).items() if on not in {None, before[name]}}
    for name, on in changed.items():
        preferences.save_preference(ctx, project, preferences.PROJECT_MEMBER, name, subscribed=on)
    if changed:
        was, will = ({name.value: each[name] for name in changed} for each in (before, changed))
        ctx.note(_AUDIT_ACTION, project, before=was, after=will)


def set_subscription(
    ctx: RequestContext, project: str, member: str, changes: Mapping[str, bool | None]
) -> MemberSubscriptions:
    """Change the subscriptions of a member, where None restores the default of their role; return all of them."""
    ctx.need_writable()
    need_project(ctx, project)
    # A narrowed token may do no more than it says, not even for its own member.
    if member != ctx.caller.member or ctx.caller.narrowed is not None:
        ctx.need(MANAGE_SETTINGS, project)
    before = _existing_receiver(ctx, project, member)
    parsed = _parse_channels(changes)
    for name, on in parsed.items():
        preferences.save_preference(ctx, project, ctx.view.member(member), name, subscribed=on)
    after = _existing_receiver(ctx, project, member)
    if before != after:
        was, will = ({"member": member, **_subscription_values(each, parsed)} for each in (before, after))
        ctx.note(_AUDIT_ACTION, project, before=was, after=will)
    return after


_Choices = Mapping[str, Mapping[NotificationChannel, bool]]
"""Switches of a project under "", and choices of its members."""


def load_choices(ctx: RequestContext) -> dict[str, object]:
    """Return what all projects have chosen, as files of the tenant have it, for those who may export it."""
    found = {project: _choices(ctx, project) for project in preferences.projects_with_preferences(ctx)}
    return {project: _to_file(chosen) for project, chosen in found.items() if chosen}


def save_choices(ctx: RequestContext, project: str, value: object) -> bool:
    """Bring a project to the choices of a file; return whether that changes anything. Access is checked elsewhere."""
    before, after = _choices(ctx, project), _from_file(value)
    held = preferences.project_roles(ctx, project)
    changed = False
    for member in {**before, **after}:
        was, will = before.get(member, {}), after.get(member, {})
        number = ctx.view.member(member) if member else preferences.PROJECT_MEMBER
        for channel in (each for each in NotificationChannel if was.get(each) != will.get(each)):
            if member and not _is_member(ctx, project, held, number):
                raise InvalidInputError(f"{quote(member)} is not in the project.", "Give them a role in it first.")
            preferences.save_preference(ctx, project, number, channel, subscribed=will.get(channel))
            changed = True
    if changed:
        ctx.note(_AUDIT_ACTION, project, before=_to_file(before), after=_to_file(after))
    return changed


def _choices(ctx: RequestContext, project: str) -> _Choices:
    """Return the choices that count now; others would come to life when they are saved anew."""
    chosen, held = preferences.load_preferences(ctx, project), preferences.project_roles(ctx, project)
    there = [number for number in chosen if number and _is_member(ctx, project, held, number)]
    past, roles = RoleHistory.load(ctx, project, there), ProjectRoles.load(ctx.view)
    found = {"": {channel: each.subscribed for channel, each in chosen.get(preferences.PROJECT_MEMBER, {}).items()}}
    for number in there:
        side = roles.side_of(held.get(number))
        ways = {channel: _subscription(side, number, each, past) for channel, each in chosen[number].items()}
        found[ctx.view.uid(number)] = {channel: way.on for channel, way in ways.items() if way.chosen}
    return {member: channels for member, channels in found.items() if channels}


def _to_file(chosen: _Choices) -> dict[str, object]:
    named = {
        member: {name.value: on for name, on in sorted(channels.items())} for member, channels in sorted(chosen.items())
    }
    switches = named.pop("", None)
    return {name: part for name, part in (("channels", switches), ("members", named)) if part}


def _from_file(value: object) -> _Choices:
    parts = require_mapping(value or {}, "notifications")
    if unknown := parts.keys() - {"channels", "members"}:
        raise InvalidInputError(
            f"{quote(min(map(str, unknown)))} is not known in notifications.", "Write channels or members."
        )
    by_member = {**require_mapping(parts.get("members") or {}, "members"), "": parts.get("channels") or {}}
    parsed = {str(member): _parse_channels(require_mapping(each, "channels")) for member, each in by_member.items()}
    return {member: {name: on for name, on in each.items() if on is not None} for member, each in parsed.items()}


def _existing_receiver(ctx: RequestContext, project: str, member: str) -> MemberSubscriptions:
    ctx.need_visible(member)
    if ctx.view.kind(ctx.view.resource(member)) != MEMBER:
        raise InvalidInputError(f"{quote(member)} is not a member.", "Only people receive mails; choose each of them.")
    found = find_receiver(ctx, project, member)
    if found is None:
        raise InvalidInputError(f"{quote(member)} is not in the project.", "Give them a role in it first.")
    return found


def _parse_channels(changes: Mapping[Any, object]) -> dict[NotificationChannel, bool | None]:
    parsed: dict[NotificationChannel, bool | None] = {}
    for name, on in changes.items():
        if on is not None and not isinstance(on, bool):
            raise InvalidInputError(f"A channel is on or off, not {quote(str(on))}.", "Write true or false.")
        parsed[preferences.parse_channel(name)] = on
    return parsed


def _subscription_values(
    found: MemberSubscriptions, changed: Mapping[NotificationChannel, object]
) -> dict[str, object]:
    return {
        name.value: ("on" if way.on else "off") + ("" if way.chosen else " by default")
        for name, way in found.channels.items()
        if name in changed
    }


class UnderprivilegedOwner(NamedTuple):
    """A data mart, and a Technical Owner of it whose role is only Business User."""

    mart: ResourceRef
    owner: ResourceRef


def underprivileged_owners(ctx: RequestContext, project: str) -> list[UnderprivilegedOwner]:
    """Return underprivileged owners of visible data marts: all for those who manage the project, else the caller."""
    need_project(ctx, project)
    marts = ctx.session.ids(ctx.principal, "see", DATA_MART_KIND, within=project)
    held, bit = preferences.project_roles(ctx, project), role_bit("technical_owner")
    side_of = ProjectRoles.load(ctx.view).side_of
    found = ctx.session.read_view(
        lambda view: [
            (view.uid(mart), view.uid(owner))
            for mart in marts
            for owner, mask in (view.grants.get(mart) or {}).items()
            if mask & bit and side_of(held.get(owner)) is MemberSide.BUSINESS
        ]
    )
    if not can_manage(ctx, project):
        found = [(mart, owner) for mart, owner in found if owner == ctx.caller.member]
    visible = VisibleRefs(ctx)
    # Who is an admin by their role in the tenant is no Business User, whatever else they hold.
    admins = frozenset(ctx.session.who(MANAGE_SETTINGS, project)) if found else frozenset()
    seen = [(visible.ref(mart), visible.ref(owner)) for mart, owner in found if owner not in admins]
    named = [UnderprivilegedOwner(mart, owner) for mart, owner in seen if mart and owner]
    return sorted(named, key=lambda each: (fold_name(each.mart.name), each.mart.uid, fold_name(each.owner.name)))


_SUMMARIES = {
    NotificationChannel.FAILED_RUNS: "has failed",
    NotificationChannel.BROKEN_CHECKS: "has failed checks",
    NotificationChannel.SUCCEEDED_RUNS: "has succeeded",
}


def run_notices(ctx: RequestContext, uid: str, mart: str, ended: EndedRun) -> list[RunNotice]:
    """Return the notices of a run of a data mart, or of a report on it, most severe first; none if it was stopped."""
    if ended.state not in {FAILED, SUCCEEDED}:
        return []
    broken = checks.failed_results(ctx, ended.run, ended.since)
    failed_checks = "\n".join(["Failed checks:", *(f"- {each.name}: {each.said}" for each in broken)])
    messages: dict[NotificationChannel, str] = {}
    if ended.state == FAILED:
        messages[NotificationChannel.FAILED_RUNS] = "\n\n".join([ended.problem, *([failed_checks] if broken else [])])
    if broken:
        messages[NotificationChannel.BROKEN_CHECKS] = failed_checks
    if ended.state == SUCCEEDED:
        messages[NotificationChannel.SUCCEEDED_RUNS] = ""
    return [_create_notice(ctx, uid, mart, channel, message) for channel, message in messages.items()]


def _create_notice(ctx: RequestContext, uid: str, mart: str, channel: NotificationChannel, message: str) -> RunNotice:
    project = kinds.workspace_of(ctx.view, mart)
    assert project is not None  # noqa: S101 - every mart lies in one
    # Members named by the mart or report are notified of failures.
    also = () if channel is NotificationChannel.SUCCEEDED_RUNS else notified_members(ctx, uid) or ()
    members = members_allowed(ctx, channel_receivers(ctx, project, channel, also), "see", mart)
    return RunNotice(_SUMMARIES[channel], members, message, f"/workspaces/{quote_url(project, safe='')}/notifications")
