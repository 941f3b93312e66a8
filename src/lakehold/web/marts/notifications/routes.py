"""Changing what a project tells of, and who receives it."""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request, Response

from lakehold.api.http.dependencies import WriteContext, get_platform
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.web import pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.marts.notifications import hook
from lakehold.web.marts.notifications.page import NOTIFICATIONS, shown
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel, parse_channel

routes = router("/workspaces")

_WANTED = {"on": True, "off": False}
"""All else is what the role has."""


@routes.post("/{uid:path}/notifications/channels")
def switch(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Which channels the project tells of."""
    receivers.set_channels(ctx, uid, {each.value: bool(sent.get(each.value)) for each in NotificationChannel})
    return pages.redirect(request, urls.workspace(uid, NOTIFICATIONS), Flash("Saved."))


@routes.post("/{uid:path}/notifications/mine")
def choose_mine(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """What the caller receives: only what is to be another than it is becomes a choice."""
    receivers.need_project(ctx, uid)
    here = urls.workspace(uid, NOTIFICATIONS)
    me = receivers.find_receiver(ctx, uid, ctx.caller.member)
    wanted = {each.value: bool(sent.get(each.value)) for each in NotificationChannel}
    new = {name: on for name, on in wanted.items() if me is None or me.channels[NotificationChannel(name)].on != on}
    receivers.set_subscription(ctx, uid, ctx.caller.member, new)
    return pages.redirect(request, here, Flash("Saved."))


@routes.post("/{uid:path}/notifications/receivers")
def choose(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Subscribe a member to one channel or no longer, or give them back what their role has."""
    member, name, wanted = (str(sent.get(each, "")) for each in ("member", "channel", "wanted"))
    found = receivers.set_subscription(ctx, uid, member, {parse_channel(name).value: _WANTED.get(wanted)})
    # With scripts the list is drawn anew in its place.
    if request.headers.get("hx-request"):
        return shown(request, ctx, uid)
    back = urls.workspace(uid, NOTIFICATIONS) + (f"?{request.url.query}" if request.url.query else "")
    return pages.redirect(request, back, Flash(f"{found.member.name} was changed."))


@routes.post("/{uid:path}/notifications/hook")
def save_hook(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """The address that failures are told to."""
    receivers.need_project(ctx, uid)
    ctx.need(receivers.MANAGE_SETTINGS, uid)
    try:
        hook.save(ctx, uid, sent, private=get_platform(request).settings.private_addresses)
    except (InvalidInputError, ConflictError, VersionConflictError) as error:
        wrong = replace(hook.present(ctx, uid), address=str(sent.get("address", "")), error=str(error))
        return shown(request, ctx, uid, wrong)
    return pages.redirect(request, urls.workspace(uid, NOTIFICATIONS), Flash("Saved."))
