"""Signing in and out, and resetting a password.

A member signs in with a password or with a mailed link. Mail scanners open links too, so opening one does not use it;
a button does.
"""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import authentication, links, tenants
from lakehold.directory.authentication import MagicLinkMethod, PasswordMethod, sign_in
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN, LinkInfo
from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.web import cookies, pages
from lakehold.web.form_values import text_field
from lakehold.web.routing import SubmittedForm, router
from lakehold.web.sign_in import session_flow
from lakehold.web.sign_in.session_flow import expired_link_page, refusal_page, render_bare

routes = router()

LINK_SENT_PATH = "/sign-in/sent"
_BY_LINK = "link"


@routes.get("/sign-in")
def sign_in_page(request: Request, platform: CurrentPlatform) -> Response:
    """Show the sign-in form. Members who are signed in are redirected."""
    if session_flow.current_member(request, platform) is not None:
        return pages.redirect(request, pages.safe_redirect_url(request.query_params.get("next", "")))
    if tenants.is_setup_open(platform):
        text = "Run `lakehold up` and open the setup link that it prints."
        return expired_link_page(request, "Not set up yet", text, label="", status=200)
    return _sign_in_form(request, platform, dict(request.query_params))


@routes.post("/sign-in")
def submit_sign_in(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """Sign in with a password, or mail a sign-in link."""
    try:
        if text_field(sent, "how") == _BY_LINK:
            return _mail_link(request, platform, visit, sent)
        method = PasswordMethod(
            text_field(sent, "email"), text_field(sent, "password"), text_field(sent, "tenant").strip()
        )
        signed_in = retry_when_busy(lambda: sign_in(platform, method, visit))
    except (UnauthorizedError, ThrottledError) as error:
        return _sign_in_form(request, platform, _form_values(sent), error)
    there = pages.safe_redirect_url(text_field(sent, "next"))
    return session_flow.start_session(request, platform, visit, signed_in, to=there)


@routes.get("/sign-in/sent")
def link_sent_page(request: Request, platform: CurrentPlatform) -> Response:
    """Say that a mail was sent. The page is the same for known and unknown accounts."""
    return render_bare(request, "sent.html", {"minutes": platform.settings.link_minutes})


def request_link(platform: Platform, visit: ClientInfo, sent: FormData, purpose: str) -> None:
    """Mail a link for a purpose, if the account exists."""
    email, tenant = text_field(sent, "email"), text_field(sent, "tenant").strip()
    retry_when_busy(lambda: links.request_link(platform, email, purpose, visit, tenant))


def needs_tenant(platform: Platform) -> bool:
    """Whether the form has to ask for the tenant. The list of tenants is never shown."""
    return not tenants.only_tenant(platform)


def _mail_link(request: Request, platform: Platform, visit: ClientInfo, sent: FormData) -> Response:
    if not text_field(sent, "email").strip():
        errors = {"email": "Enter your e-mail address first."}
        return _sign_in_form(request, platform, _form_values(sent), errors=errors)
    request_link(platform, visit, sent, SIGN_IN)
    return pages.redirect(request, LINK_SENT_PATH)


def _sign_in_form(
    request: Request,
    platform: Platform,
    filled: dict[str, str],
    error: LakeholdError | None = None,
    errors: dict[str, str] | None = None,
) -> Response:
    values: dict[str, object] = {
        "filled": filled,
        "next": pages.safe_redirect_url(filled.get("next", "")),
        "forgot": f"/forgot?{urlencode({'tenant': filled['tenant']})}" if filled.get("tenant") else "/forgot",
        "faults": errors or {},
        "refusal": error,
        "waits": isinstance(error, ThrottledError),
        "asks_tenant": needs_tenant(platform),
        "mails": links.can_send_mail(platform.settings),
    }
    return render_bare(request, "sign_in.html", values, error, status=422 if errors else 200)


def _form_values(sent: FormData) -> dict[str, str]:
    """Return the values of the form to show again, without the password."""
    return {name: text_field(sent, name) for name in ("email", "tenant", "next")}


@routes.get("/link/{secret}")
def link_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Show whom a link signs in, and to which tenant."""
    try:
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return _expired_link(request, error)
    if found.purpose == PASSWORD:
        return pages.redirect(request, f"/password/{secret}")
    values: dict[str, object] = {"link": found, "guest": session_flow.current_member(request, platform)}
    return render_bare(request, "link.html", values)


@routes.post("/link/{secret}")
def sign_in_with_link(request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str) -> Response:
    """Use the link up and sign in."""
    try:
        signed_in = retry_when_busy(lambda: sign_in(platform, MagicLinkMethod(secret), visit))
    except (UnauthorizedError, ThrottledError) as error:
        return _expired_link(request, error)
    return session_flow.start_session(request, platform, visit, signed_in, to="/")


def _expired_link(request: Request, error: LakeholdError, **more: str) -> Response:
    return refusal_page(request, "This link has expired", error, **more)


@routes.post("/sign-out")
def sign_out(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """End the session of this browser."""
    session_flow.end_session(request, platform, visit)
    there = pages.safe_redirect_url(text_field(sent, "next") or "/sign-in")
    response = pages.redirect(request, there, "You were signed out.")
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response


@routes.get("/forgot")
def forgot_page(request: Request, platform: CurrentPlatform) -> Response:
    """Show the form that requests a reset link."""
    return _reset_form(request, platform, dict(request.query_params))


@routes.post("/forgot")
def request_reset_link(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm
) -> Response:
    """Mail a reset link if the account exists. The answer does not reveal whether it does."""
    try:
        request_link(platform, visit, sent, PASSWORD)
    except ThrottledError as error:
        return _reset_form(request, platform, _form_values(sent), error)
    return pages.redirect(request, LINK_SENT_PATH)


@routes.get("/password/{secret}")
def new_password_page(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Show the form for a new password to whoever has the link."""
    try:
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return _expired_link(request, error, label="Request a new link", href="/forgot")
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
        return _expired_link(request, error, label="Request a new link", href="/forgot")
    except InvalidInputError as error:
        return _password_form(request, links.get_info(platform, secret), str(error))
    response = pages.redirect(request, "/sign-in", "Your password is set. Sign in with it.")
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response


def _reset_form(
    request: Request, platform: Platform, filled: dict[str, str], error: ThrottledError | None = None
) -> Response:
    values: dict[str, object] = {
        "filled": filled,
        "refusal": error,
        "asks_tenant": needs_tenant(platform),
        "mails": links.can_send_mail(platform.settings),
    }
    return render_bare(request, "forgot.html", values, error)


def _password_form(request: Request, found: LinkInfo, fault: str = "") -> Response:
    return render_bare(request, "password.html", {"link": found, "fault": fault}, status=422 if fault else 200)
