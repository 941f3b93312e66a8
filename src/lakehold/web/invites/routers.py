"""All routers of this package, in order."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.invites import invite_pages

ROUTERS: list[APIRouter] = [invite_pages.new_invite_routes, invite_pages.routes]
