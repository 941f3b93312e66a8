"""All pages of the room. They come before those of the room `resources`, whose addresses begin alike."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.marts import copying, overview, quality
from lakehold.web.marts.data_marts import routers as data_marts
from lakehold.web.marts.destinations import files, live
from lakehold.web.marts.destinations import page as destination
from lakehold.web.marts.destinations import routes as destinations
from lakehold.web.marts.notifications import page as notifications
from lakehold.web.marts.notifications import routes as notifying
from lakehold.web.marts.reports import insights
from lakehold.web.marts.reports import page as report
from lakehold.web.marts.reports import routes as reports
from lakehold.web.marts.storages import page as storage
from lakehold.web.marts.storages import routes as storages
from lakehold.web.marts.storages import tables as storage_tables

ROUTERS: list[APIRouter] = [
    *(overview.routes, quality.routes),
    *(storages.new, storages.routes, storage_tables.routes, storage.routes),
    *data_marts.ROUTERS,
    *(destinations.new, destinations.routes, live.routes, files.routes, destination.routes),
    *(reports.new, reports.routes, insights.routes, insights.of_project, report.routes),
    *(notifications.routes, notifying.routes),
    copying.routes,
]
