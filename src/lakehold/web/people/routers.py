"""All pages of the room, those with a fixed address first: an id may have slashes in it."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.people import editing, joining, leaving, one, reach, roles, routes, services, signing

ROUTERS: list[APIRouter] = [
    routes.routes,
    services.routes,
    editing.routes,
    roles.routes,
    joining.routes,
    signing.routes,
    leaving.routes,
    reach.routes,
    one.routes,
]
