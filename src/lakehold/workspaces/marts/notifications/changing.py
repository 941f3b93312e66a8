"""Switching channels, and choosing who receives them: for anybody by who keeps the project's settings, for oneself by
every member.
"""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.access.facts.records import require_mapping
from lakehold.access.model.policy import MEMBER
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.workspaces.marts.notifications import choices, receivers
from lakehold.workspaces.marts.notifications.channels import Channel, channel
from lakehold.workspaces.marts.notifications.receivers import MANAGE, Receiver

_DEED = "set notifications"


def switch(ctx: RequestContext, project: str, wanted: Mapping[str, bool]) -> None:
    """Let a project tell of these channels, or no longer."""
    ctx.need_writable()
    receivers.need_project(ctx, project)
    ctx.need(MANAGE, project)
    before = receivers.switches(ctx, project)
    asked = {name: on for name, on in _asked(wanted).items() if on is not None}
    changed = {name: on for name, on in asked.items() if on != before[name]}
    for name, on in changed.items():
        choices.put(ctx, project, choices.PROJECT, name, wanted=on)
    if changed:
        ctx.note(_DEED, project, before={name.value: before[name] for name in changed}, after=_told(changed))


def choose(ctx: RequestContext, project: str, member: str, wanted: Mapping[str, bool | None]) -> Receiver:
    """Subscribe a member to channels, or no longer; None: as their role has it. What they are subscribed to then."""
    ctx.need_writable()
    receivers.need_project(ctx, project)
    # A narrowed token may do no more than it says, not even for its own member.
    if member != ctx.caller.member or ctx.caller.narrowed is not None:
        ctx.need(MANAGE, project)
    before = _there(ctx, project, member)
    asked = _asked(wanted)
    for name, on in asked.items():
        choices.put(ctx, project, ctx.view.member(member), name, wanted=on)
    after = _there(ctx, project, member)
    if before != after:
        was, will = ({"member": member, **_shown(each, asked)} for each in (before, after))
        ctx.note(_DEED, project, before=was, after=will)
    return after


def _there(ctx: RequestContext, project: str, member: str) -> Receiver:
    ctx.need_visible(member)
    if ctx.view.kind(ctx.view.resource(member)) != MEMBER:
        raise InvalidInputError(f"{quote(member)} is no member.", "Only people receive mails; choose each of them.")
    found = receivers.one(ctx, project, member)
    if found is None:
        raise InvalidInputError(f"{quote(member)} is not in the project.", "Give them a role in it first.")
    return found


def _asked(wanted: object) -> dict[Channel, bool | None]:
    asked = {channel(name): on for name, on in require_mapping(wanted, "channels").items()}
    wrong = next((on for on in asked.values() if on is not None and not isinstance(on, bool)), None)
    if wrong is not None:
        raise InvalidInputError(f"A channel is on or off, not {quote(str(wrong))}.", "Write true or false.")
    return asked  # type: ignore[return-value] # each was looked at


def _told(changed: Mapping[Channel, bool]) -> dict[str, object]:
    return {name.value: on for name, on in changed.items()}


def _shown(found: Receiver, asked: Mapping[Channel, object]) -> dict[str, object]:
    return {
        name.value: ("on" if way.on else "off") + ("" if way.chosen else " by default")
        for name, way in found.channels.items()
        if name in asked
    }
