"""The notifications of a project: channels, receivers, the webhook for failures, and owners whose role is too low."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.http.dependencies import ReadContext, WriteContext, get_platform
from lakehold.catalog import credentials, resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.runnable import WEBHOOK_SETTING
from lakehold.web import kind_pages, pages, urls
from lakehold.web.cookies import Flash
from lakehold.web.form_values import parse_integer
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.routing import SubmittedForm, router
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.preferences import MANAGE_SETTINGS, NotificationChannel, ProjectRoles
from lakehold.workspaces.marts.notifications.receivers import MemberSubscriptions
from lakehold.workspaces.marts.pages.page_frame import need_project


def load_webhook(ctx: RequestContext, uid: str) -> dict[str, object]:
    """Return the values of the webhook form as saved. The secret is never rendered."""
    detail = resource_metadata.load(ctx, uid)
    return {
        "address": str(detail.settings.get(WEBHOOK_SETTING, "")),
        "has_secret": WEBHOOK_SETTING in credentials.list_names(ctx, uid),
        "version": detail.version,
        "error": "",
    }


def save_webhook(ctx: RequestContext, uid: str, sent: FormData, *, private: bool) -> None:
    """Save or remove the webhook, and its secret if one was submitted."""
    address, secret, version = (str(sent.get(name, "")).strip() for name in ("address", "secret", "version"))
    settings = dict(resource_metadata.load(ctx, uid).settings)
    settings.pop(WEBHOOK_SETTING, None)
    if address and not private and not address.startswith("https://"):
        raise InvalidInputError("Only https URLs are allowed.", "Use https:// with host and path.")
    if address:
        settings[WEBHOOK_SETTING] = address
    resource_edit.apply_edit(ctx, uid, ResourceEdit(settings=settings), expect_version=parse_integer(version))
    if secret and address:
        credentials.save(ctx, uid, {WEBHOOK_SETTING: secret})
    elif not address and WEBHOOK_SETTING in credentials.list_names(ctx, uid):
        credentials.save(ctx, uid, {WEBHOOK_SETTING: None})


routes = router("/workspaces")

NOTIFICATIONS_PART, RECEIVERS_PART = "notifications", "notifications/receivers"
CHANNEL_HINTS = {
    NotificationChannel.FAILED_RUNS: "A refresh or report failed or was denied, with the reason.",
    NotificationChannel.BROKEN_CHECKS: "A data quality check failed, with the result.",
    NotificationChannel.SUCCEEDED_RUNS: "A refresh or report succeeded.",
}
_CHANNEL_FILTER = ListFilter("receives", "Receives", tuple((each.value, each.label) for each in NotificationChannel))


@routes.get("/{uid:path}/notifications")
def notifications_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Render all settings for those who manage the project; for others their own."""
    return render_notifications(request, ctx, uid)


def render_notifications(
    request: Request, ctx: RequestContext, uid: str, wrong: Mapping[str, object] | None = None
) -> Response:
    """Render the page; with the submitted webhook if it was refused."""
    space, manages = need_project(ctx, uid), receivers.can_manage(ctx, uid)
    everybody = receivers.list_receivers(ctx, uid)
    values: dict[str, object] = {
        **kind_pages.workspace_tab_values(uid, space.kind, NOTIFICATIONS_PART),
        "space": space,
        "channels": [(each, CHANNEL_HINTS[each], on) for each, on in receivers.project_channels(ctx, uid).items()],
        "mails": bool(get_platform(request).settings.smtp.get_secret_value()),
        "manages": manages,
        "titles": ProjectRoles.load(ctx.view).titles,
        "me": next((each for each in everybody if each.member.uid == ctx.caller.member), None),
        "owners": receivers.underprivileged_owners(ctx, uid),
        "manages_members": ctx.session.check(ctx.principal, "manage_members", uid),
        "hook": (wrong or load_webhook(ctx, uid)) if manages else None,
        **(_receiver_list(request, ctx, uid, everybody) if manages else {}),
    }
    return pages.render(request, "marts/notifications.html", values, status=422 if wrong else 200)


def _receiver_list(
    request: Request, ctx: RequestContext, uid: str, everybody: Sequence[MemberSubscriptions]
) -> dict[str, object]:
    roles = ListFilter("role", "Role", tuple(ProjectRoles.load(ctx.view).titles.items()))
    listing = ListState.from_request(request, ("name",), (roles, _CHANNEL_FILTER))
    # However it is filtered, the list has one URL.
    listing = replace(listing, path=urls.workspace(uid, NOTIFICATIONS_PART))
    rows = listing.select((each for each in everybody if _matches(each, listing)), lambda each: each.member.name)
    on, there = receivers.project_channels(ctx, uid), urls.workspace(uid, RECEIVERS_PART)
    return {
        "listing": listing,
        "channel_columns": [ListColumn(each.label if is_on else f"{each.label}, off") for each, is_on in on.items()],
        # What is changed leads back to the part of the list that it was changed in.
        "there": replace(listing, path=there).href(page=listing.page),
        "rows": list(enumerate(listing.slice_page(rows))),
        "total": len(rows),
    }


def _matches(each: MemberSubscriptions, listing: ListState) -> bool:
    role, channel = listing.chosen["role"], listing.chosen["receives"]
    return role in {"", each.role} and (not channel or each.channels[NotificationChannel(channel)].on)


_CHOICES = {"on": True, "off": False}
"""All else is what the role has."""


@routes.post("/{uid:path}/notifications/channels")
def switch(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Switch the channels of the project on or off."""
    receivers.set_channels(ctx, uid, {each.value: bool(sent.get(each.value)) for each in NotificationChannel})
    return pages.redirect(request, urls.workspace(uid, NOTIFICATIONS_PART), Flash("Saved."))


@routes.post("/{uid:path}/notifications/mine")
def choose_mine(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save what the caller receives. Only differences to the present state are stored as choices."""
    receivers.need_project(ctx, uid)
    here = urls.workspace(uid, NOTIFICATIONS_PART)
    me = receivers.find_receiver(ctx, uid, ctx.caller.member)
    choices = {each.value: bool(sent.get(each.value)) for each in NotificationChannel}
    new = {name: on for name, on in choices.items() if me is None or me.channels[NotificationChannel(name)].on != on}
    receivers.set_subscription(ctx, uid, ctx.caller.member, new)
    return pages.redirect(request, here, Flash("Saved."))


@routes.post("/{uid:path}/notifications/receivers")
def choose(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Subscribe a member to a channel, unsubscribe them, or reset them to the default of their role."""
    member, name, choice = (str(sent.get(each, "")) for each in ("member", "channel", "choice"))
    found = receivers.set_subscription(ctx, uid, member, {name: _CHOICES.get(choice)})
    # With scripts the list is drawn anew in its place.
    if request.headers.get("hx-request"):
        return render_notifications(request, ctx, uid)
    back = urls.workspace(uid, NOTIFICATIONS_PART) + (f"?{request.url.query}" if request.url.query else "")
    return pages.redirect(request, back, Flash(f"{found.member.name} was updated."))


@routes.post("/{uid:path}/notifications/hook")
def save_hook(request: Request, ctx: WriteContext, uid: str, sent: SubmittedForm) -> Response:
    """Save the webhook for failures."""
    receivers.need_project(ctx, uid)
    ctx.need(MANAGE_SETTINGS, uid)
    try:
        save_webhook(ctx, uid, sent, private=get_platform(request).settings.private_addresses)
    except (InvalidInputError, ConflictError, VersionConflictError) as error:
        wrong = load_webhook(ctx, uid) | {"address": str(sent.get("address", "")), "error": str(error)}
        return render_notifications(request, ctx, uid, wrong)
    return pages.redirect(request, urls.workspace(uid, NOTIFICATIONS_PART), Flash("Saved."))
