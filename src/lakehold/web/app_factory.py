"""Assembles the web application: pages, static files and security headers on top of the REST API."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Form, Request, Response

from lakehold.api.http.app import create_app
from lakehold.directory.platform import Platform
from lakehold.web import cookies, pages, palette, patterns, routing
from lakehold.web.assets import Assets
from lakehold.web.navigation import Navigation
from lakehold.web.navigation_context import navigation_for_request
from lakehold.web.pages import THEME_COOKIE, THEMES, WebApp
from lakehold.web.routers import ROUTERS
from lakehold.web.routing import router
from lakehold.web.security_headers import SecurityHeadersMiddleware
from lakehold.web.templates import TemplateRenderer
from lakehold.workspaces import registry

theme_routes = router("/ui/theme")


@theme_routes.post("")
def choose_theme(
    request: Request, theme: Annotated[str, Form()] = "system", back: Annotated[str, Form()] = "/"
) -> Response:
    """Store the chosen theme in a cookie, and redirect back to the page."""
    response = pages.redirect(request, pages.safe_redirect_url(back))
    cookies.set_cookie(request, response, THEME_COOKIE, theme if theme in THEMES else "system", cookies.YEAR)
    return response


def install_web(
    app: FastAPI,
    load_navigation: Callable[[Request], Navigation] = lambda _request: Navigation(),
    folders: Mapping[str, Path] | None = None,
) -> None:
    """Add templates, static files, the shell's routes and the security headers. `folders` are more template folders."""
    assets = Assets.load()
    app.state.web = WebApp(TemplateRenderer(assets, folders), load_navigation)
    for each in (assets.routes(), theme_routes, routing.draft_routes, palette.routes, patterns.routes):
        app.include_router(each)
    routing.install_error_handler(app)
    app.add_middleware(SecurityHeadersMiddleware)


def create_web_app(platform: Platform) -> FastAPI:
    """Create the application with the REST API and all pages."""
    app = create_app(platform)
    folders = {each.name: each.templates for each in registry.all_workspaces() if each.templates.is_dir()}
    install_web(app, navigation_for_request, folders)
    for each in ROUTERS:
        app.include_router(each)
    return app
