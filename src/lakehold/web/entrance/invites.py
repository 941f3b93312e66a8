"""An invite is accepted: by somebody new, who chooses a name and a password, or by a member who is signed in."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, WriteContext, retry_when_busy
from lakehold.directory import invite_acceptance, passwords
from lakehold.directory.accounts import email_key
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.invite_acceptance import InviteInfo
from lakehold.directory.platform import Platform
from lakehold.kit.ids import valid_name
from lakehold.web import pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance import doors
from lakehold.web.entrance.doors import Guest
from lakehold.web.entrance.faults import Faults, faults, text
from lakehold.web.entrance.shut import refused
from lakehold.web.navigation import Navigation
from lakehold.web.routing import SubmittedForm, router

routes = router("/invite")


@routes.get("/{secret}")
def look_at_invite(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """What it is about, and how to accept it."""
    try:
        return _page(request, platform, secret, invite_acceptance.get_info(platform, secret))
    except UnauthorizedError as error:
        return _used_up(request, error)


@routes.post("/{secret}")
def accept_as_somebody_new(
    request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str, sent: SubmittedForm
) -> Response:
    """Become a member, and be signed in."""
    name, password = text(sent, "name").strip(), text(sent, "password")
    try:
        found = invite_acceptance.get_info(platform, secret)
        wrong = faults(
            name=lambda: valid_name(name, "name"),
            password=lambda: passwords.valid_password(password, name, found.email),
        )
        if wrong:
            return _page(request, platform, secret, found, name=name, wrong=wrong)
        signed_in = retry_when_busy(lambda: invite_acceptance.accept(platform, secret, name, password, visit))
    except UnauthorizedError as error:
        return _used_up(request, error)
    flash = Flash(f"Welcome to {found.tenant_name}.")
    return doors.let_in(request, platform, visit, signed_in, to="/", flash=flash)


@routes.post("/{secret}/accept")
def accept_as_member(request: Request, ctx: WriteContext, secret: str) -> Response:
    """Take what comes with it, as who one is."""
    invite_acceptance.accept_as_member(ctx, secret)
    return pages.redirect(request, "/", Flash("You have accepted the invite."))


def _page(
    request: Request, platform: Platform, secret: str, found: InviteInfo, *, name: str = "", wrong: Faults | None = None
) -> Response:
    guest = doors.guest(request, platform)
    path = f"/invite/{quote(secret, safe='')}"
    values: dict[str, object] = {
        "invite": found,
        "path": path,
        "guest": guest,
        "is_mine": guest is not None and _is_for(found, guest),
        "sign_in": f"/sign-in?{urlencode({'next': path, 'tenant': found.tenant})}",
        "name": name,
        "faults": wrong or {},
    }
    return pages.render(request, "entrance/invite.html", values, navigation=Navigation(), status=422 if wrong else 200)


def _is_for(found: InviteInfo, guest: Guest) -> bool:
    return found.has_account and guest.tenant == found.tenant and email_key(guest.email) == email_key(found.email)


def _used_up(request: Request, error: UnauthorizedError) -> Response:
    return refused(request, "This invite does not work any more", error)
