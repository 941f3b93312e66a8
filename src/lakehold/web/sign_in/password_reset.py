"""Password reset: requesting a link, and setting a new password with it."""

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
from lakehold.web.form_values import text_field
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.sign_in import sign_in
from lakehold.web.sign_in.session_flow import refusal_page

routes = router()


@routes.get("/forgot")
def forgot_page(request: Request, platform: CurrentPlatform) -> Response:
    """Show the form that requests a reset link."""
    return _request_form(request, platform, dict(request.query_params))


@routes.post("/forgot")
def request_reset_link(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm
) -> Response:
    """Mail a reset link if the account exists. The answer does not reveal whether it does."""
    try:
        sign_in.request_link(platform, visit, sent, PASSWORD)
    except ThrottledError as error:
        return _request_form(request, platform, _form_values(sent), error)
    return pages.redirect(request, sign_in.LINK_SENT_PATH)


@routes.get("/password/{secret}")
def new_password_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Show the form for a new password to whoever has the link."""
    try:
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return _expired_link(request, error)
    if found.purpose != PASSWORD:
        return pages.redirect(request, f"/link/{secret}")
    return _password_form(request, found)


@routes.post("/password/{secret}")
def set_password(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Set the new password. All sessions of the account end."""
    password = text_field(sent, "password")
    try:
        retry_when_busy(lambda: authentication.set_password_with_link(platform, secret, password, visit))
    except UnauthorizedError as error:
        return _expired_link(request, error)
    except InvalidInputError as error:
        return _password_form(request, links.get_info(platform, secret), str(error))
    response = pages.redirect(request, "/sign-in", Flash("Your password is set. Sign in with it."))
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response


def _request_form(
    request: Request, platform: Platform, filled: dict[str, str], error: ThrottledError | None = None
) -> Response:
    values: dict[str, object] = {
        "filled": filled,
        "refusal": error,
        "asks_tenant": sign_in.needs_tenant(platform),
        "mails": links.can_send_mail(platform.settings),
    }
    response = pages.render(
        request, "entrance/forgot.html", values, navigation=Navigation(), status=error.status if error else 200
    )
    if error:
        response.headers.update(problems.error_headers(error))
    return response


def _password_form(request: Request, found: LinkInfo, fault: str = "") -> Response:
    values: dict[str, object] = {"link": found, "fault": fault}
    return pages.render(
        request, "entrance/password.html", values, navigation=Navigation(), status=422 if fault else 200
    )


def _form_values(sent: FormData) -> dict[str, str]:
    return {name: text_field(sent, name) for name in ("email", "tenant")}


def _expired_link(request: Request, error: UnauthorizedError) -> Response:
    more = {"label": "Request a new link", "href": "/forgot"}
    return refusal_page(request, "This link has expired", error, **more)
