"""All pages of the room. They come before those of the room `resources`, whose addresses begin alike."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.workspaces import entering, members, plans, routes, settings

ROUTERS: list[APIRouter] = [routes.routes, entering.routes, members.routes, plans.routes, settings.routes]
