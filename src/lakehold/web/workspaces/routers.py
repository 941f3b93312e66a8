"""All routers of the package. They come before those of `lakehold.web.resources`, whose paths begin alike."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.workspaces import member_form, members, settings, tenant_plan, workspace_list

ROUTERS: list[APIRouter] = [
    workspace_list.routes,
    member_form.routes,
    members.routes,
    tenant_plan.routes,
    settings.routes,
]
