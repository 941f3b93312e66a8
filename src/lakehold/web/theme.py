"""Light, dark, or as the system is: kept in a cookie, so that the first paint is already right."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Request, Response

from lakehold.web import cookies, pages
from lakehold.web.pages import THEME, THEMES
from lakehold.web.routes import router

routes = router("/ui/theme")


@routes.post("")
def choose_theme(
    request: Request, theme: Annotated[str, Form()] = "system", back: Annotated[str, Form()] = "/"
) -> Response:
    """Keep what was chosen, and go back to the page."""
    response = pages.go(request, pages.own_address(back))
    cookies.put(request, response, THEME, theme if theme in THEMES else "system", cookies.YEAR)
    return response
