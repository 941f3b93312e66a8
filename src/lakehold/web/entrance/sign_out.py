"""Signing out."""

from __future__ import annotations

from fastapi import Request, Response

from lakehold.api.directory.sign_in import CurrentClient
from lakehold.api.http.authentication import SESSION_COOKIE
from lakehold.api.http.dependencies import CurrentPlatform
from lakehold.web import cookies, pages
from lakehold.web.cookies import Flash
from lakehold.web.entrance import doors
from lakehold.web.entrance.faults import text
from lakehold.web.routing import SubmittedForm, router

routes = router("/sign-out")


@routes.post("")
def sign_out(request: Request, platform: CurrentPlatform, visit: CurrentClient, sent: SubmittedForm) -> Response:
    """Out of this browser, whoever was in it."""
    doors.leave(request, platform, visit)
    there = pages.safe_redirect_url(text(sent, "next") or "/sign-in")
    response = pages.redirect(request, there, Flash("You are signed out."))
    cookies.delete_cookie(request, response, SESSION_COOKIE)
    return response
