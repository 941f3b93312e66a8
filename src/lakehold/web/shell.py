"""Puts the web app onto the application of the API: one process, one address, the same services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from fastapi import FastAPI, Request

from lakehold.web import errors, finding, patterns, theme
from lakehold.web.assets import Assets
from lakehold.web.csp import Headers
from lakehold.web.navigation import Around
from lakehold.web.pages import Web
from lakehold.web.templates import Templates


def nobody(_request: Request) -> Around:
    """Nothing around the page: nobody is signed in."""
    return Around()


def install(
    app: FastAPI,
    around: Callable[[Request], Around] = nobody,
    finder: finding.Finder | None = None,
    folders: Mapping[str, Path] | None = None,
) -> None:
    """Add pages, files and policies. `folders` are the template folders of other rooms, by their name."""
    assets = Assets.load()
    app.state.web = Web(Templates(assets, folders), around)
    app.state.finder = finder
    for router in (assets.routes(), theme.routes, finding.routes, patterns.routes):
        app.include_router(router)
    errors.install(app)
    app.add_middleware(Headers)
