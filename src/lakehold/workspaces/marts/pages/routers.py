"""The routers of the pages of projects. They come before those of resources, whose addresses begin alike."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.workspaces.marts.pages import destination_form as destinations
from lakehold.workspaces.marts.pages import destination_pages, notifications, overview, page_frame
from lakehold.workspaces.marts.pages import destination_pages as destination
from lakehold.workspaces.marts.pages import notifications as notifying
from lakehold.workspaces.marts.pages import storage_form as storages
from lakehold.workspaces.marts.pages import storage_pages as storage
from lakehold.workspaces.marts.pages import storage_pages as storage_tables
from lakehold.workspaces.marts.pages.data_marts import (
    connector_form,
    data_mart_pages,
    form_pages,
    quality_pages,
    schema_page,
)
from lakehold.workspaces.marts.pages.reports import form_pages as reports
from lakehold.workspaces.marts.pages.reports import report_page
from lakehold.workspaces.marts.pages.reports import report_page as report

DATA_MART_ROUTERS: list[APIRouter] = [
    *(form_pages.new, form_pages.routes, connector_form.new, connector_form.routes, data_mart_pages.routes),
    *(data_mart_pages.report_routes, schema_page.routes, quality_pages.check_routes),
]


ROUTERS: list[APIRouter] = [
    *(overview.routes, quality_pages.routes),
    *(storages.new, storages.routes, storage_tables.table_routes, storage.routes),
    *DATA_MART_ROUTERS,
    *(
        destinations.new,
        destinations.routes,
        destination_pages.live_routes,
        destination_pages.file_routes,
        destination.routes,
    ),
    *(reports.new, reports.routes, report_page.insight_routes, report_page.project_routes, report.routes),
    *(notifications.routes, notifying.change_routes),
    page_frame.credential_routes,
]
