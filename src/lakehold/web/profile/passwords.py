"""One's password."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient, authenticate_now
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import accounts, authentication, links
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD
from lakehold.kit.errors import InvalidInputError
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance import faults
from lakehold.web.profile import own
from lakehold.web.profile.page import show
from lakehold.web.routing import SubmittedForm, router

routes = router(f"{own.PROFILE}/password")


@routes.post("")
def change_password(request: Request, platform: CurrentPlatform, sent: SubmittedForm) -> Response:
    """Another one in place of the old one. It takes its time, outside of any transaction."""
    caller = authenticate_now(request, platform)
    old, new = faults.text(sent, "old"), faults.text(sent, "new")
    wrong = {}
    try:
        retry_when_busy(lambda: authentication.change_password(platform, caller, old, new))
    except UnauthorizedError as error:
        wrong["old"] = error.message
    except ThrottledError as error:
        wrong["old"] = f"{error.message} {error.hint}"
    except InvalidInputError as error:
        wrong["new"] = faults.told(error)
    if wrong:
        with platform.read(caller) as ctx:
            return show(request, ctx, faults=wrong)
    return pages.redirect(request, own.PROFILE, Flash("Your password is changed. Everywhere else you are signed out."))


@routes.post("/link")
def mail_me_a_link(request: Request, platform: CurrentPlatform, visit: CurrentClient) -> Response:
    """For who has no password yet."""
    caller = authenticate_now(request, platform)
    with platform.read(caller) as ctx:
        account = accounts.get(ctx, caller.member)
    if account is not None and not caller.impersonator:
        email = account.email
        retry_when_busy(lambda: links.request_link(platform, email, PASSWORD, visit, caller.tenant))
    return pages.redirect(request, own.PROFILE, Flash("A mail with a link is on its way to you."))
