"""All pages of the room, in order."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.invites import new, routes

ROUTERS: list[APIRouter] = [new.routes, routes.routes]
