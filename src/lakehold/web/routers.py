"""The list of all page routers. A router that is added here is served, and covered by the crawling tests."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web import home_page as home
from lakehold.web import one_time_secret
from lakehold.web.access import routers as access
from lakehold.web.audit import routes as audit
from lakehold.web.files import file_pages
from lakehold.web.groups import routers as groups
from lakehold.web.impersonation import routes as viewing
from lakehold.web.invites import routers as invites
from lakehold.web.lineage import lineage_page
from lakehold.web.people import routers as people
from lakehold.web.profile import routers as profile
from lakehold.web.resources import forms, resource_page, workspace_page
from lakehold.web.reviews import access_report, campaign_list, campaign_page, decisions
from lakehold.web.runs import run_list, run_page, runnable_page
from lakehold.web.schedules import triggers_page
from lakehold.web.sign_in import routers as entrance
from lakehold.web.tables import table_pages
from lakehold.web.workspaces import routers as workspaces
from lakehold.workspaces import registry

_CATCH_ALL_ROUTERS: list[APIRouter] = [workspace_page.routes, resource_page.routes]
"""An id may have slashes in it, so the pages of things come after all that begin alike."""

ROUTERS: list[APIRouter] = [
    *entrance.ROUTERS,
    home.routes,
    one_time_secret.routes,
    *access.ROUTERS,
    *profile.ROUTERS,
    *(run_page.routes, run_list.routes),
    *(router for workspace in registry.all_workspaces() for router in workspace.page_routers()),
    *(triggers_page.routes, runnable_page.routes, file_pages.uploads, file_pages.routes),
    *(table_pages.routes, lineage_page.routes),
    forms.create_routes,
    forms.edit_routes,
    forms.move_routes,
    forms.delete_routes,
    *people.ROUTERS,
    *groups.ROUTERS,
    *invites.ROUTERS,
    *workspaces.ROUTERS,
    audit.routes,
    viewing.routes,
    *(campaign_list.routes, campaign_page.routes, decisions.routes, decisions.export_routes, access_report.routes),
    *_CATCH_ALL_ROUTERS,
]
