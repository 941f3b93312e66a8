"""Pages of a project of data marts beside those that all workspaces share.

- `overview`: a project at a glance, and what the home page shows to members who only report
- `page_frame`: template values, form page and credentials copy that resources share
- `storage_pages`: the form and the page of a storage, its tables, and what the data mart form offers of it
- `data_marts`: forms, pages, schema and quality of data marts
- `destination_pages`: the form and the page of a destination, its live secret and delivered files
- `reports`: forms, pages and previews of reports
- `notifications`: channels, receivers and the webhook
"""

from fastapi import APIRouter

from lakehold.workspaces.marts.pages import destination_pages, notifications, overview, page_frame, storage_pages
from lakehold.workspaces.marts.pages.data_marts import data_mart_pages, form_pages, quality_pages, schema_page
from lakehold.workspaces.marts.pages.reports import form_pages as report_form_pages
from lakehold.workspaces.marts.pages.reports import report_page

ROUTERS: list[APIRouter] = [
    *(overview.routes, storage_pages.new, storage_pages.routes, form_pages.new, form_pages.routes),
    *(
        data_mart_pages.routes,
        schema_page.routes,
        quality_pages.routes,
        destination_pages.new,
        destination_pages.routes,
    ),
    *(report_form_pages.new, report_form_pages.routes, report_page.project_routes, report_page.routes),
    *(notifications.routes, page_frame.credential_routes),
]
"""In the order in which they are matched."""
