"""A password that was forgotten, and a new one in its place."""

from __future__ import annotations

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http import problems
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import authentication, links
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD, LinkInfo
from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError
from lakehold.web import cookies, pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance import faults, sign_in
from lakehold.web.entrance.shut import refused
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router

routes = router()


@routes.get("/forgot")
def forgot_page(request: Request, platform: CurrentPlatform) -> Response:
    """Where one asks for a link to set a new one."""
    return _asking(request, platform, dict(request.query_params))


@routes.post("/forgot")
def ask_for_link(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """Have it mailed, if there is such an account. It is not told."""
    try:
        sign_in.ask(platform, visit, sent, PASSWORD)
    except ThrottledError as error:
        return _asking(request, platform, _filled(sent), error)
    return pages.redirect(request, sign_in.SENT)


@routes.get("/password/{secret}")
def new_password_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """The form, for whoever has the link."""
    try:
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return _used_up(request, error)
    if found.purpose != PASSWORD:
        return pages.redirect(request, f"/link/{secret}")
    return _form(request, found)


@routes.post("/password/{secret}")
def set_password(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Set it. All sign-ins end, so that one signs in with the new one."""
    password = faults.text(sent, "password")
    try:
        retry_when_busy(lambda: authentication.set_password_with_link(platform, secret, password, visit))
    except UnauthorizedError as error:
        return _used_up(request, error)
    except InvalidInputError as error:
        return _form(request, links.get_info(platform, secret), faults.told(error))
    response = pages.redirect(request, "/sign-in", Flash("Your password is set. Sign in with it."))
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response


def _asking(
    request: Request, platform: Platform, filled: dict[str, str], error: ThrottledError | None = None
) -> Response:
    values: dict[str, object] = {
        "filled": filled,
        "refusal": error,
        "asks_tenant": sign_in.asks_tenant(platform),
        "mails": links.can_send_mail(platform.settings),
    }
    response = pages.render(
        request, "entrance/forgot.html", values, navigation=Navigation(), status=error.status if error else 200
    )
    if error:
        response.headers.update(problems.error_headers(error))
    return response


def _form(request: Request, found: LinkInfo, fault: str = "") -> Response:
    values: dict[str, object] = {"link": found, "fault": fault}
    return pages.render(
        request, "entrance/password.html", values, navigation=Navigation(), status=422 if fault else 200
    )


def _filled(sent: FormData) -> dict[str, str]:
    return {name: faults.text(sent, name) for name in ("email", "tenant")}


def _used_up(request: Request, error: UnauthorizedError) -> Response:
    more = {"label": "Ask for a new one", "href": "/forgot"}
    return refused(request, "This link does not work any more", error, **more)
