"""The routers of the pages of projects. They come before those of resources, whose addresses begin alike."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.workspaces.marts.pages import (
    destination_form,
    destination_pages,
    notifications,
    overview,
    page_frame,
    storage_form,
    storage_pages,
)
from lakehold.workspaces.marts.pages.data_marts import (
    connector_form,
    data_mart_pages,
    form_pages,
    quality_pages,
    schema_page,
)
from lakehold.workspaces.marts.pages.reports import form_pages as report_form_pages
from lakehold.workspaces.marts.pages.reports import report_page

DATA_MART_ROUTERS: list[APIRouter] = [
    *(form_pages.new, form_pages.routes, connector_form.new, connector_form.routes, data_mart_pages.routes),
    *(data_mart_pages.report_routes, schema_page.routes, quality_pages.check_routes),
]


ROUTERS: list[APIRouter] = [
    *(overview.routes, quality_pages.routes),
    *(storage_form.new, storage_form.routes, storage_pages.table_routes, storage_pages.routes),
    *DATA_MART_ROUTERS,
    *(
        destination_form.new,
        destination_form.routes,
        destination_pages.live_routes,
        destination_pages.file_routes,
        destination_pages.routes,
    ),
    *(
        report_form_pages.new,
        report_form_pages.routes,
        report_page.insight_routes,
        report_page.project_routes,
        report_page.routes,
    ),
    *(notifications.routes, notifications.change_routes),
    page_frame.credential_routes,
]
