"""A link that signs in. Programs that read mails look at it too, so looking does not use it: a button does."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.dependencies import CurrentPlatform, retry_when_busy
from lakehold.directory import links
from lakehold.directory.authentication import MagicLinkMethod, sign_in
from lakehold.directory.errors import ThrottledError, UnauthorizedError
from lakehold.directory.links import PASSWORD
from lakehold.kit.errors import LakeholdError
from lakehold.web import pages
from lakehold.web.entrance import doors
from lakehold.web.entrance.shut import refused
from lakehold.web.navigation import Navigation
from lakehold.web.routing import router

routes = router("/link")


@routes.get("/{secret}")
def look_at_link(request: Request, platform: CurrentPlatform, secret: str) -> Response:
    """Whom it signs in, and where."""
    try:
        found = links.get_info(platform, secret)
    except UnauthorizedError as error:
        return _used_up(request, error)
    if found.purpose == PASSWORD:
        return pages.redirect(request, f"/password/{secret}")
    values: dict[str, object] = {"link": found, "secret": secret, "guest": doors.guest(request, platform)}
    return pages.render(request, "entrance/link.html", values, navigation=Navigation())


@routes.post("/{secret}")
def sign_in_with_link(request: Request, platform: CurrentPlatform, visit: CurrentClient, secret: str) -> Response:
    """Use it up."""
    try:
        signed_in = retry_when_busy(lambda: sign_in(platform, MagicLinkMethod(secret), visit))
    except (UnauthorizedError, ThrottledError) as error:
        return _used_up(request, error)
    return doors.let_in(request, platform, visit, signed_in, to="/")


def _used_up(request: Request, error: LakeholdError) -> Response:
    return refused(request, "This link does not work any more", error)
