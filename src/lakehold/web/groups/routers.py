"""All routers of this package. Routes with fixed paths come first, because ids may contain slashes."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.groups import group_list, group_page

ROUTERS: list[APIRouter] = [group_list.routes, group_page.membership_routes, group_page.routes]
