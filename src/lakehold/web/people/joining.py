"""The groups that a member is in, from their page."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext
from lakehold.directory import groups, members
from lakehold.web import pages, urls
from lakehold.web.people.one import trail
from lakehold.web.routing import router

routes = router("/people")

_MOST = 500


@routes.get("/{uid:path}/groups")
def join_form(request: Request, ctx: ReadContext, uid: str) -> Response:
    """Which group to add them to. The rest is the group's own form, with the member filled in."""
    member = members.get(ctx, uid)
    ctx.need("manage_groups", ctx.caller.tenant)
    found = [item for item in groups.page(ctx, limit=_MOST).items if item.uid not in member.groups]
    values: dict[str, object] = {
        "crumbs": trail(ctx, member, "Add to a group"),
        "member": member,
        "groups": [
            (item.name, f"{urls.group(item.uid, 'add')}?{urlencode({'member': uid, 'from': 'member'})}")
            for item in found
        ],
    }
    return pages.render(request, "people/join.html", values)
