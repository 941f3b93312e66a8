"""Starts and ends the session of a browser, which has one at a time. Every way of signing in ends here."""

from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from fastapi import Request, Response

from lakehold.api.directory.sign_in import authenticate_now
from lakehold.api.http import problems
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import retry_when_busy
from lakehold.directory import accounts, sign_ins
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.directory.sign_ins import CreatedSignIn
from lakehold.kit.clock import SECOND
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.web import cookies, csrf, pages
from lakehold.web.cookies import Flash
from lakehold.web.form_values import FieldErrors
from lakehold.web.navigation import Navigation

_NEXT_COOKIE = "lakehold_next"
_NEXT_SECONDS = 3600


def remember_target(request: Request, response: Response, url: str) -> None:
    """Remember where a visitor wants to go, whichever way they sign in: links in mails do not say it."""
    if url != "/":
        cookies.set_cookie(request, response, _NEXT_COOKIE, quote(url), _NEXT_SECONDS)
    elif _NEXT_COOKIE in request.cookies:
        cookies.delete_cookie(request, response, _NEXT_COOKIE)


def remembered_target(request: Request) -> str:
    """Return where a visitor wanted to go: a path of this site."""
    return pages.safe_redirect_url(unquote(request.cookies.get(_NEXT_COOKIE, "")))


@dataclass(frozen=True, slots=True)
class CurrentMember:
    """The member who is signed in at a page that does not require it."""

    tenant: str
    name: str
    email: str


def start_session(
    request: Request,
    platform: Platform,
    visit: ClientInfo,
    signed_in: CreatedSignIn,
    *,
    to: str,
    flash: Flash | None = None,
) -> Response:
    """Redirect a member who has just signed in. The browser's former session, visit and CSRF tokens become invalid."""
    end_session(request, platform, visit)
    response = pages.redirect(request, to, flash)
    seconds = max(0, signed_in.until - platform.clock()) // SECOND
    cookies.set_cookie(request, response, SESSION_COOKIE, signed_in.secret, seconds)
    cookies.delete_cookie(request, response, csrf.VISIT_COOKIE)
    remember_target(request, response, "/")
    return response


def end_session(request: Request, platform: Platform, visit: ClientInfo) -> None:
    """End the session of this browser, if there is one. During impersonation this is the impersonator's own session."""
    secret = request.cookies.get(SESSION_COOKIE, "")
    try:
        caller = sign_ins.authenticate(platform, secret)
    except UnauthorizedError:
        return
    themself = replace(caller, request=visit.request, address=visit.address)

    def end() -> None:
        with platform.write(themself) as ctx:
            sign_ins.end(ctx, caller.member, caller.sign_in_id)

    try:
        retry_when_busy(end)
    except NotFoundError:
        return  # it was ended meanwhile


def current_member(request: Request, platform: Platform) -> CurrentMember | None:
    """Return the member who is signed in here, or None."""
    try:
        caller = authenticate_now(request)
    except UnauthorizedError:
        return None
    with platform.read(caller) as ctx:
        member = caller.impersonator or caller.member
        account = accounts.get(ctx, member)
        name = ctx.view.names.get(ctx.view.member(member)) or member
        return CurrentMember(caller.tenant, name, account.email if account else "")


def render_bare(
    request: Request,
    template: str,
    values: dict[str, object],
    *,
    errors: FieldErrors | None = None,
    refusal: LakeholdError | None = None,
    status: int = 200,
) -> Response:
    """Render a page without navigation: a form with errors by field, or a refusal with its own status and headers."""
    status = refusal.status if refusal else 422 if errors else status
    values = {**values, "errors": errors or {}}
    response = pages.render(request, f"entrance/{template}", values, navigation=Navigation(), status=status)
    if refusal:
        response.headers.update(problems.error_headers(refusal))
    return response


def closed_page(
    request: Request,
    title: str,
    reason: LakeholdError | str,
    *,
    label: str = "Sign in",
    href: str = "/sign-in",
    status: int = 404,
) -> Response:
    """Return a page that says why a link is not valid, with a button to continue."""
    values: dict[str, object] = {"name": title, "text": str(reason), "label": label, "href": href}
    refusal = reason if isinstance(reason, LakeholdError) else None
    return render_bare(request, "shut.html", values, refusal=refusal, status=status)
