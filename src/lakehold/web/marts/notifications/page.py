"""What a project tells of, who receives it, and Technical Owners whose role is too low, as far as one may see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext
from lakehold.kit.ids import fold_name
from lakehold.web import kind_pages, pages, urls
from lakehold.web.list_view import ListColumn, ListFilter, ListState
from lakehold.web.marts.destinations.routes import need_project
from lakehold.web.marts.notifications import hook
from lakehold.web.marts.notifications.hook import Hook
from lakehold.web.routing import router
from lakehold.web.workspaces.members import breadcrumbs, workspace_ref
from lakehold.workspaces.marts.notifications import receivers
from lakehold.workspaces.marts.notifications.membership import ROLES
from lakehold.workspaces.marts.notifications.preferences import NotificationChannel
from lakehold.workspaces.marts.notifications.receivers import MemberSubscriptions

routes = router("/workspaces")

NOTIFICATIONS, CHOOSING = "notifications", "notifications/receivers"
HINTS = {
    NotificationChannel.FAILED_RUNS: "A refresh or a report that failed, or was refused, with the reason.",
    NotificationChannel.BROKEN_CHECKS: "A data quality check that did not hold, with what was found.",
    NotificationChannel.SUCCEEDED_RUNS: "Every refresh and report that went well.",
}
_RECEIVES = ListFilter("receives", "Receives", tuple((each.value, each.label) for each in NotificationChannel))


@dataclass(frozen=True, slots=True)
class Owner:
    """A Technical Owner whose role is too low, and where each of the two is looked after."""

    mart: str
    mart_href: str
    name: str
    href: str


@routes.get("/{uid:path}/notifications")
def notifications_page(request: Request, ctx: ReadContext, uid: str) -> Response:
    """All for who keeps the project's settings; for others what is their own."""
    return shown(request, ctx, uid)


def shown(request: Request, ctx: RequestContext, uid: str, wrong: Hook | None = None) -> Response:
    """The page; with an address that could not be kept, as it was filled in."""
    need_project(ctx, uid)
    space, manages = workspace_ref(ctx, uid), receivers.can_manage(ctx, uid)
    everybody = receivers.list_receivers(ctx, uid)
    values: dict[str, object] = {
        "crumbs": breadcrumbs(ctx, space, "Notifications"),
        **kind_pages.workspace_tab_values(uid, space.kind, NOTIFICATIONS),
        "space": space,
        "channels": [(each, HINTS[each], on) for each, on in receivers.project_channels(ctx, uid).items()],
        "mails": bool(get_platform(request).settings.smtp.get_secret_value()),
        "manages": manages,
        "titles": _titles(ctx, uid),
        "me": next((each for each in everybody if each.member.uid == ctx.caller.member), None),
        "owners": _owners(ctx, uid),
        "hook": (wrong or hook.present(ctx, uid)) if manages else None,
        **(_list(request, ctx, uid, everybody) if manages else {}),
    }
    return pages.render(request, "marts/notifications.html", values, status=422 if wrong else 200)


def _list(
    request: Request, ctx: RequestContext, uid: str, everybody: Sequence[MemberSubscriptions]
) -> dict[str, object]:
    listing = ListState.from_request(
        request, sorts=("name",), filters=(ListFilter("role", "Role", tuple(_titles(ctx, uid).items())), _RECEIVES)
    )
    # However it is asked for, the list is at one address.
    listing = replace(listing, path=urls.workspace(uid, NOTIFICATIONS))
    rows = [each for each in everybody if _fits(each, listing)]
    on = receivers.project_channels(ctx, uid)
    there = urls.workspace(uid, CHOOSING)
    part = listing.slice_page(rows[::-1] if listing.descending else rows)
    return {
        "listing": listing,
        "columns": [
            ListColumn("Who", "name"),
            *(ListColumn(each.label if on[each] else f"{each.label}, off") for each in NotificationChannel),
        ],
        # What is changed leads back to the part of the list that it was changed in.
        "there": replace(listing, path=there).href(page=listing.page),
        "rows": list(enumerate(part)),
        "total": len(rows),
    }


def _titles(ctx: RequestContext, uid: str) -> dict[str, str]:
    return {name: role.title for name, role in kinds.schema_of(ctx.view, uid).roles.items() if name in ROLES}


def _fits(each: MemberSubscriptions, listing: ListState) -> bool:
    role, wanted = listing.chosen["role"], listing.chosen["receives"]
    return (
        fold_name(listing.search) in fold_name(each.member.name)
        and role in {"", each.role}
        and (not wanted or each.channels[NotificationChannel(wanted)].on)
    )


def _owners(ctx: RequestContext, uid: str) -> list[Owner]:
    keeps = ctx.session.check(ctx.asker, "manage_members", uid)
    found = []
    for each in receivers.underprivileged_owners(ctx, uid):
        who = urlencode({"subject": each.owner.uid})
        change = f"{urls.workspace(uid, 'members/change')}?{who}"
        href = change if keeps else urls.workspace(uid, "members")
        found.append(Owner(each.mart.name, urls.resource(each.mart.uid), each.owner.name, href))
    return found
