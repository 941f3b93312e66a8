"""Signing in."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response
from starlette.datastructures import FormData

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http import problems
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import links, tenants
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.caller import ClientInfo
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import SIGN_IN
from lakehold.directory.platform import Platform
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.entrance import doors
from lakehold.web.entrance.faults import text
from lakehold.web.entrance.shut import shut
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router

routes = router("/sign-in")

SENT = "/sign-in/sent"
_BY_LINK = "link"


@routes.get("")
def sign_in_page(request: Request, platform: CurrentPlatform) -> Response:
    """The form; who is in already is sent on."""
    if doors.guest(request, platform) is not None:
        return pages.redirect(request, _next(request.query_params.get("next", "")))
    if tenants.is_setup_open(platform):
        text = "Start it with `lakehold up`: the link that it prints sets everything up."
        return shut(request, "Nobody is here yet", text, label="", status=200)
    return _form(request, platform, dict(request.query_params))


@routes.post("")
def let_somebody_in(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """With a password, or have a link mailed."""
    try:
        if text(sent, "how") == _BY_LINK:
            return _mail(request, platform, visit, sent)
        method = PasswordMethod(text(sent, "email"), text(sent, "password"), text(sent, "tenant").strip())
        signed_in = retry_when_busy(lambda: sign_in(platform, method, visit))
    except (UnauthorizedError, ThrottledError) as error:
        return _form(request, platform, _filled(sent), error)
    return doors.let_in(request, platform, visit, signed_in, to=_next(text(sent, "next")))


@routes.get("/sent")
def mail_is_on_its_way(request: Request, platform: CurrentPlatform) -> Response:
    """The same whoever asked."""
    return pages.render(
        request, "entrance/sent.html", {"minutes": platform.settings.link_minutes}, navigation=Navigation()
    )


def ask(platform: Platform, visit: ClientInfo, sent: FormData, purpose: str) -> None:
    """Let a link be mailed, if there is somebody to mail it to."""
    email, tenant = text(sent, "email"), text(sent, "tenant").strip()
    retry_when_busy(lambda: links.request_link(platform, email, purpose, visit, tenant))


def asks_tenant(platform: Platform) -> bool:
    """Whether one has to say where one belongs. Which tenants there are is nobody's business."""
    return not tenants.only_tenant(platform)


def _mail(request: Request, platform: Platform, visit: ClientInfo, sent: FormData) -> Response:
    if not text(sent, "email").strip():
        return _form(request, platform, _filled(sent), faults={"email": "Write your e-mail address first."})
    ask(platform, visit, sent, SIGN_IN)
    return pages.redirect(request, SENT)


def _form(
    request: Request,
    platform: Platform,
    filled: dict[str, str],
    error: LakeholdError | None = None,
    faults: dict[str, str] | None = None,
) -> Response:
    there = _next(filled.get("next", ""))
    values: dict[str, object] = {
        "filled": filled,
        "next": there,
        "forgot": f"/forgot?{urlencode({'tenant': filled['tenant']})}" if filled.get("tenant") else "/forgot",
        "faults": faults or {},
        "refusal": error,
        "waits": isinstance(error, ThrottledError),
        "asks_tenant": asks_tenant(platform),
        "mails": links.can_send_mail(platform.settings),
    }
    status = error.status if error else 422 if faults else 200
    response = pages.render(request, "entrance/sign_in.html", values, navigation=Navigation(), status=status)
    if error:
        response.headers.update(problems.error_headers(error))
    return response


def _filled(sent: FormData) -> dict[str, str]:
    """All but the password, which is typed again."""
    return {name: text(sent, name) for name in ("email", "tenant", "next")}


def _next(address: str) -> str:
    return pages.safe_redirect_url(address)
