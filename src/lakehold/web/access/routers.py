"""All routers of the room."""

from __future__ import annotations

from lakehold.web.access import answering, asking, giving, owners, previewing, requests, routes, settings, undoing, why

ROUTERS = [
    requests.routes,
    asking.routes,
    answering.routes,
    giving.routes,
    undoing.routes,
    owners.routes,
    settings.routes,
    previewing.routes,
    routes.routes,
    why.routes,
]
