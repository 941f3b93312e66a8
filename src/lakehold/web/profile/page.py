"""The profile itself."""

from __future__ import annotations

from collections.abc import Mapping

from fastapi import Request, Response

from lakehold.api.frame.works import Reading, house_of
from lakehold.directory import accounts, mails, members
from lakehold.directory.errors import DeniedError
from lakehold.directory.work import Work
from lakehold.web.pages import THEMES
from lakehold.web.profile import own
from lakehold.web.routes import router

routes = router(own.PROFILE)

_THEMES = {"system": "As the system", "light": "Light", "dark": "Dark"}


@routes.get("")
def profile_page(request: Request, work: Reading) -> Response:
    """Who one is here."""
    return show(request, work)


def show(
    request: Request,
    work: Work,
    *,
    filled: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Response:
    """The page; with what was filled in and is wrong, if something is."""
    me, account = members.one(work, work.caller.member), accounts.of(work, work.caller.member)
    email = account.email if account else ""
    values: dict[str, object] = {
        "me": me,
        "filled": {"name": me.name, "email": email, **(filled or {})},
        "email": email,
        "may_set_email": _may_set_email(work),
        "has_password": bool(account and account.password),
        "mails": bool(email) and mails.can_be_sent(house_of(request).settings),
        "themes": [(theme, _THEMES[theme], "") for theme in THEMES],
        "faults": faults or {},
    }
    return own.page(request, work, "profile.html", values, status=422 if faults else 200)


def _may_set_email(work: Work) -> bool:
    """Whoever reads the mails of an address could sign in with it, so not everybody may say what theirs is."""
    try:
        members.need_set_email(work, work.caller.member)
    except DeniedError:
        return False
    return True
