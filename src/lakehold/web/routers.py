"""All pages. A new room adds its routers here, and is served, crawled for side doors and looked at by axe from then on."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.home import routes as home

ROUTERS: list[APIRouter] = [
    home.routes,
]
