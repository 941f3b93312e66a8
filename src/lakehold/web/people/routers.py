"""All routers of this package. Routes with fixed paths come first, because ids may contain slashes."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.people import (
    effective_access,
    member_list,
    member_page,
    member_removal,
    service_accounts,
    tenant_roles,
)

ROUTERS: list[APIRouter] = [
    member_list.routes,
    service_accounts.routes,
    member_page.edit_routes,
    tenant_roles.routes,
    member_page.join_routes,
    member_page.sign_in_routes,
    member_removal.routes,
    effective_access.routes,
    member_page.routes,
]
