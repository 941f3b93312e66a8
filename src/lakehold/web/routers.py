"""The list of all page routers. A router that is added here is served, and covered by the crawling tests."""

from fastapi import APIRouter

from lakehold.web import (
    audit_pages,
    confirmation,
    file_pages,
    group_pages,
    invite_pages,
    lineage_page,
    model_pages,
    network_policy_page,
    one_time_secret,
    table_pages,
)
from lakehold.web import home_page as home
from lakehold.web import impersonation_pages as viewing
from lakehold.web.access import access_page, explanation, grant_forms, request_pages, sharing_settings
from lakehold.web.people import effective_access, member_list, member_page, tenant_roles
from lakehold.web.profile import api_tokens, profile_page
from lakehold.web.resources import forms, resource_page, workspace_page
from lakehold.web.reviews import campaign_pages, decisions
from lakehold.web.runs import run_list, run_page, runnable_page
from lakehold.web.schedules import triggers_page
from lakehold.web.sign_in import onboarding, sign_in
from lakehold.web.workspaces import members, settings, workspace_list
from lakehold.workspaces import registry

_CATCH_ALL_ROUTERS: list[APIRouter] = [workspace_page.routes, resource_page.routes]
"""An id may have slashes in it, so the pages of things come after all that begin alike."""

ROUTERS: list[APIRouter] = [
    *(sign_in.routes, onboarding.routes),
    *(home.routes, one_time_secret.routes),
    *(request_pages.routes, grant_forms.routes, sharing_settings.routes, confirmation.routes),
    *(access_page.routes, explanation.routes),
    *(profile_page.routes, api_tokens.routes),
    *(run_page.routes, run_list.routes),
    *(router for workspace in registry.all_workspaces() for router in workspace.page_routers()),
    *(triggers_page.routes, runnable_page.routes, file_pages.uploads, file_pages.routes),
    *(table_pages.routes, lineage_page.routes, forms.routes),
    *(member_list.routes, tenant_roles.routes, effective_access.routes, member_page.routes, group_pages.routes),
    *(invite_pages.routes, workspace_list.routes, members.routes, settings.routes),
    *(audit_pages.routes, model_pages.routes, network_policy_page.routes),
    *(viewing.routes, campaign_pages.routes, decisions.routes),
    *_CATCH_ALL_ROUTERS,
]
