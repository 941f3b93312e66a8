"""The routers of the lakehouse's pages and of the pages that all workspaces share, in the order in which they are
matched.
"""

from __future__ import annotations

from lakehold.web.files import file_pages
from lakehold.web.lineage import lineage_page
from lakehold.web.runs import pipeline_page, run_list, run_page
from lakehold.web.schedules import triggers_page
from lakehold.web.sql import completion, editor, saved_queries
from lakehold.web.tables import table_pages
from lakehold.workspaces.lakehouse.pages import (
    backfill,
    data_browser,
    integration_page,
    overview,
    pipeline_form_pages,
    pipeline_list,
)
from lakehold.workspaces.lakehouse.pages import destination_pages as destinations
from lakehold.workspaces.lakehouse.pages.sources import preview_page, setup_pages, source_pages

DATA_ROUTERS = [
    *(
        editor.history_routes,
        completion.routes,
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
        lineage_page.routes,
    ),
]


PIPELINE_ROUTERS = [
    run_page.routes,
    run_list.routes,
    setup_pages.new,
    destinations.new,
    pipeline_form_pages.new,
    pipeline_form_pages.routes,
    setup_pages.routes,
    source_pages.routes,
    preview_page.routes,
    setup_pages.schedule_routes,
    destinations.routes,
    pipeline_page.activation_routes,
    integration_page.routes,
    pipeline_list.routes,
    backfill.routes,
    triggers_page.routes,
    pipeline_page.routes,
    file_pages.uploads,
    file_pages.routes,
]
