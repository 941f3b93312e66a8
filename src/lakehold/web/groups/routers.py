"""All pages of the room, those with a fixed address first: an id may have slashes in it."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.groups import members, one, routes

ROUTERS: list[APIRouter] = [routes.routes, members.routes, one.routes]
