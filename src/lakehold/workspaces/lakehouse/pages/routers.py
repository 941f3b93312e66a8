"""The routers of the lakehouse's pages, in the order in which they are matched."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web import sql_completion
from lakehold.workspaces.lakehouse.pages import (
    backfill,
    data_browser,
    destination_pages,
    integration_page,
    overview,
    pipeline_form_pages,
    pipeline_list,
    pipeline_page,
    table_pages,
)
from lakehold.workspaces.lakehouse.pages.sources import preview_page, setup_pages, source_pages
from lakehold.workspaces.lakehouse.pages.sql import editor, saved_queries

PIPELINE_ROUTERS: list[APIRouter] = [
    setup_pages.new,
    destination_pages.new,
    pipeline_form_pages.new,
    pipeline_form_pages.routes,
    setup_pages.routes,
    source_pages.routes,
    preview_page.routes,
    setup_pages.schedule_routes,
    destination_pages.routes,
    integration_page.routes,
    pipeline_list.routes,
    backfill.routes,
    pipeline_page.routes,
]


DATA_ROUTERS: list[APIRouter] = [
    *(
        editor.history_routes,
        sql_completion.routes,
        saved_queries.routes,
        saved_queries.table_routes,
        editor.routes,
        editor.resource_routes,
    ),
    *(
        overview.routes,
        data_browser.deleted_routes,
        data_browser.routes,
        table_pages.maintenance_routes,
        table_pages.routes,
    ),
]


ROUTERS: list[APIRouter] = [*PIPELINE_ROUTERS, *DATA_ROUTERS]
