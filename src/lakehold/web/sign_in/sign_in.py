"""Signing in and out, and resetting a password.

A member signs in with a password or with a mailed link. Mail scanners open links too, so opening one does not use it;
a button does.
"""

from collections.abc import Mapping

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import authentication, links, tenants
from lakehold.directory.authentication import MagicLinkMethod, PasswordMethod, sign_in
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD, SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.web import cookies, pages
from lakehold.web.form_values import FieldErrors, collect_errors, text_field
from lakehold.web.routing import FORM_METHODS, SubmittedForm, router
from lakehold.web.sign_in import session_flow
from lakehold.web.sign_in.session_flow import closed_page, render_bare

routes = router()

_BY_LINK = "link"


@routes.api_route("/sign-in", methods=FORM_METHODS)
def sign_in_page(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """Sign in with a password, or mail a sign-in link. Members who are signed in are redirected."""
    filled, refusal, errors = dict(request.query_params), None, FieldErrors()
    if request.method == "POST":
        filled = _form_values(sent)
        try:
            if text_field(sent, "how") != _BY_LINK:
                method = PasswordMethod(filled["email"], text_field(sent, "password"), filled["tenant"].strip())
                signed_in = retry_when_busy(lambda: sign_in(platform, method, visit))
                there = _target(request, filled)
                return session_flow.start_session(request, platform, visit, signed_in, to=there)
            if filled["email"].strip():
                return _mail_link(request, platform, visit, filled, SIGN_IN)
            errors["email"] = "Enter your e-mail address first."
        except (UnauthorizedError, ThrottledError) as error:
            refusal = error
    elif session_flow.current_member(request, platform) is not None:
        return pages.redirect(request, _target(request, filled))
    elif tenants.is_setup_open(platform):
        text = "Run `lakehold up` and open the setup link that it prints."
        return closed_page(request, "Not set up yet", text, label="", status=200)
    values: dict[str, object] = {
        **_form_options(platform),
        "filled": filled,
        "next": _target(request, filled),
        "refusal": refusal,
        "waits": isinstance(refusal, ThrottledError),
    }
    response = render_bare(request, "sign_in.html", values, errors=errors, refusal=refusal)
    session_flow.remember_target(request, response, _target(request, filled))
    return response


@routes.get("/sign-in/sent")
def link_sent_page(request: Request, platform: CurrentPlatform) -> Response:
    """Say that a mail was sent. The page is the same for known and unknown accounts."""
    return render_bare(request, "sent.html", {"minutes": platform.settings.link_minutes})


@routes.api_route("/forgot", methods=FORM_METHODS)
def request_reset_link(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm
) -> Response:
    """Mail a reset link if the account exists. The answer does not reveal whether it does."""
    filled, refusal = dict(request.query_params), None
    if request.method == "POST":
        filled = _form_values(sent)
        try:
            return _mail_link(request, platform, visit, filled, PASSWORD)
        except ThrottledError as error:
            refusal = error
    values: dict[str, object] = {**_form_options(platform), "filled": filled, "refusal": refusal}
    return render_bare(request, "forgot.html", values, refusal=refusal)


def _target(request: Request, filled: Mapping[str, str]) -> str:
    """Return where to go after signing in: what the form says, or else what is remembered."""
    return pages.safe_redirect_url(filled["next"]) if filled.get("next") else session_flow.remembered_target(request)


def _form_values(sent: FormData) -> dict[str, str]:
    """Return the values of the form to show again, without the password."""
    return {name: text_field(sent, name) for name in ("email", "tenant", "next")}


def _form_options(platform: Platform) -> dict[str, object]:
    """Return whether the form asks for the tenant, and whether it offers mails. The list of tenants is never shown."""
    return {"asks_tenant": not tenants.only_tenant(platform), "mails": links.can_send_mail(platform.settings)}


def _mail_link(
    request: Request, platform: Platform, visit: ClientInfo, filled: dict[str, str], purpose: str
) -> Response:
    """Mail a link for a purpose, if the account exists."""
    email, tenant = filled["email"], filled["tenant"].strip()
    retry_when_busy(lambda: links.request_link(platform, email, purpose, visit, tenant))
    return pages.redirect(request, "/sign-in/sent")


@routes.api_route("/link/{secret}", methods=FORM_METHODS)
def sign_in_with_link(request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str) -> Response:
    """Show whom a link signs in, and to which tenant; by POST, use the link up and sign in."""
    try:
        if request.method == "POST":
            signed_in = retry_when_busy(lambda: sign_in(platform, MagicLinkMethod(secret), visit))
            return session_flow.start_session(
                request, platform, visit, signed_in, to=session_flow.remembered_target(request)
            )
        found = links.get_info(platform, secret)
    except (UnauthorizedError, ThrottledError) as error:
        return closed_page(request, "This link has expired", error)
    if found.purpose == PASSWORD:
        return pages.redirect(request, f"/password/{secret}")
    return render_bare(request, "link.html", {"link": found, "guest": session_flow.current_member(request, platform)})


@routes.api_route("/password/{secret}", methods=FORM_METHODS)
def set_password(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Set a new password with a link. All sessions of the account end."""
    password, errors = text_field(sent, "password"), FieldErrors()

    def save() -> None:
        ends = bool(sent.get("revoke_tokens"))
        authentication.set_password_with_link(platform, secret, password, visit, revoke_tokens=ends)

    try:
        if request.method == "POST":
            errors = collect_errors(password=lambda: retry_when_busy(save))
            if not errors:
                response = pages.redirect(request, "/sign-in", "Your password is set. Sign in with it.")
                cookies.delete_cookie(request, response, SESSION_COOKIE)
                return response
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return closed_page(request, "This link has expired", error, label="Request a new link", href="/forgot")
    if found.purpose != PASSWORD:
        return pages.redirect(request, f"/link/{secret}")
    return render_bare(request, "password.html", {"link": found}, errors=errors)


@routes.post("/sign-out")
def sign_out(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """End the session of this browser."""
    session_flow.end_session(request, platform, visit)
    there = pages.safe_redirect_url(text_field(sent, "next") or "/sign-in")
    response = pages.redirect(request, there, "You were signed out.")
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response
