"""All pages. A new room adds its routers here, and is served, crawled for side doors and looked at from then on."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web import once
from lakehold.web.access import routers as access
from lakehold.web.audit import routes as audit
from lakehold.web.entrance import routes as entrance
from lakehold.web.groups import routers as groups
from lakehold.web.home import routes as home
from lakehold.web.invites import routers as invites
from lakehold.web.lakehouse import moving_data, reading_data
from lakehold.web.marts import routers as marts
from lakehold.web.people import routers as people
from lakehold.web.profile import routes as profile
from lakehold.web.resources import changing, ending, making, moving, one, spaces
from lakehold.web.reviews import campaign, deciding, lists, results, working_out
from lakehold.web.viewing import routes as viewing
from lakehold.web.workspaces import routers as workspaces

_LAST: list[APIRouter] = [spaces.routes, one.routes]
"""An id may have slashes in it, so the pages of things come after all that begin alike."""

ROUTERS: list[APIRouter] = [
    *entrance.ROUTERS,
    home.routes,
    once.routes,
    *access.ROUTERS,
    *profile.ROUTERS,
    *moving_data.ROUTERS,
    *reading_data.ROUTERS,
    *marts.ROUTERS,
    making.routes,
    changing.routes,
    moving.routes,
    ending.routes,
    *people.ROUTERS,
    *groups.ROUTERS,
    *invites.ROUTERS,
    *workspaces.ROUTERS,
    audit.routes,
    viewing.routes,
    *(lists.routes, campaign.routes, deciding.routes, results.routes, working_out.routes),
    *_LAST,
]
