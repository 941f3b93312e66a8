"""The address templates of pages, from the routers."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter
from starlette.routing import BaseRoute, Match


class AddressTemplates:
    """The templates of some routers, for one method."""

    def __init__(self, routers: Sequence[APIRouter], method: str = "GET") -> None:
        self._routers, self._method = routers, method
        self._found: dict[str, str] = {}
        """By the paths that were met: to find one, all routes are asked."""

    def all(self) -> list[str]:
        """Of all that can be asked for."""
        return [_path(route) for route in self._routes() if self._method in (getattr(route, "methods", None) or ())]

    def match(self, address: str) -> str:
        """That of the page at an address; its path if there is none."""
        path = unquote(urlsplit(address).path)
        if path not in self._found:
            scope = {"type": "http", "method": self._method, "path": path, "headers": []}
            found = (_path(route) for route in self._routes() if route.matches(scope)[0] is Match.FULL)
            self._found[path] = next(found, path)
        return self._found[path]

    def _routes(self) -> list[BaseRoute]:
        return [route for router in self._routers for route in router.routes]


def _path(route: BaseRoute) -> str:
    return str(getattr(route, "path", ""))
