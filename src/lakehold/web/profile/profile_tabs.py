"""The tabs of the profile pages. During impersonation these pages are not shown."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.directory.request_context import RequestContext
from lakehold.web import pages
from lakehold.web.navigation import Breadcrumb, NavLink

PROFILE, SIGN_INS, TOKENS = "/profile", "/profile/sign-ins", "/profile/tokens"

TABS = (
    NavLink("You", PROFILE, "user"),
    NavLink("Sign-ins", SIGN_INS, "monitor"),
    NavLink("API tokens", TOKENS, "key-round"),
)


def render_tab(
    request: Request,
    ctx: RequestContext,
    template: str,
    values: dict[str, object],
    *,
    at: str = PROFILE,
    status: int = 200,
) -> Response:
    """Render one of the profile pages. An impersonator sees neither the member's profile nor their own."""
    crumbs = [Breadcrumb(_tenant_name(ctx), "/"), Breadcrumb("Profile", PROFILE)]
    crumbs += [Breadcrumb(tab.label, tab.href) for tab in TABS if tab.href == at != PROFILE]
    shared: dict[str, object] = {"tabs": TABS, "at": at}
    if ctx.caller.impersonator:
        name = ctx.view.names.get(ctx.view.member(ctx.caller.member)) or ""
        return pages.render(request, "profile/viewing.html", {**shared, "crumbs": crumbs, "name": name})
    return pages.render(request, f"profile/{template}", {"crumbs": crumbs, **shared, **values}, status=status)


def _tenant_name(ctx: RequestContext) -> str:
    return ctx.view.names.get(ctx.view.resource(ctx.caller.tenant)) or ""
