"""Pages of a lakehouse beside those that all workspaces share.

- `page_frame`: access checks, the base of forms, and the tables and layers that forms offer
- `overview`: a lakehouse at a glance
- `data_browser`: layers, tables and volumes; search; deleted tables
- `table_pages`: snapshots and writing runs of a table; maintenance and rollback
- `sql`: the SQL editor, the history of queries, and saved queries
- `pipeline_list`: the kinds that move data, as a list and as a graph with the tables
- `pipeline_page`: the overview of a pipeline; run a past range again
- `pipeline_form_pages`: the forms of queries, histories, notebooks and integrations
- `integration_page`: the page of an integration and its tokens
- `destination_pages`: form, connection test and page of a destination
- `sources`: set-up, streams, preview and page of a source
"""

from fastapi import APIRouter

from lakehold.web import sql_completion
from lakehold.workspaces.lakehouse.pages import (
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

ROUTERS: list[APIRouter] = [
    *(setup_pages.new, destination_pages.new, pipeline_form_pages.new, pipeline_form_pages.routes, setup_pages.routes),
    *(source_pages.routes, preview_page.routes, setup_pages.schedule_routes, destination_pages.routes),
    *(integration_page.routes, pipeline_list.routes, pipeline_page.routes),
    *(sql_completion.routes, saved_queries.routes, editor.routes, editor.resource_routes),
    *(overview.routes, data_browser.deleted_routes, data_browser.routes, table_pages.routes),
]
"""In the order in which they are matched."""
