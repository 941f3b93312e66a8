"""The profile itself."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

from lakehold.api.http.dependencies import ReadContext, get_platform
from lakehold.directory import accounts, links, members
from lakehold.directory.errors import DeniedError
from lakehold.directory.request_context import RequestContext
from lakehold.web.pages import THEMES
from lakehold.web.profile import own
from lakehold.web.routing import router

routes = router(own.PROFILE)

_THEMES = {"system": "As the system", "light": "Light", "dark": "Dark"}


@routes.get("")
def profile_page(request: Request, ctx: ReadContext) -> Response:
    """Who one is here."""
    return show(request, ctx)


def show(
    request: Request,
    ctx: RequestContext,
    *,
    filled: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Response:
    """The page; with what was filled in and is wrong, if something is."""
    me, account = members.get(ctx, ctx.caller.member), accounts.get(ctx, ctx.caller.member)
    email = account.email if account else ""
    values: dict[str, object] = {
        "me": me,
        "filled": {"name": me.name, "email": email, **(filled or {})},
        "email": email,
        "may_set_email": _may_set_email(ctx),
        "has_password": bool(account and account.password),
        "mails": bool(email) and links.can_send_mail(get_platform(request).settings),
        "themes": [(theme, _THEMES[theme], "") for theme in THEMES],
        "faults": faults or {},
    }
    return own.page(request, ctx, "profile.html", values, status=422 if faults else 200)


def _may_set_email(ctx: RequestContext) -> bool:
    """Whoever reads the mails of an address could sign in with it, so not everybody may say what theirs is."""
    try:
        members.need_set_email(ctx, ctx.caller.member)
    except DeniedError:
        return False
    return True
