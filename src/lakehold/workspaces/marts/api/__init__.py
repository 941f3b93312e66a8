"""REST endpoints that only marts have, beside those of every resource.

- `data_marts`: test and probe storages, their tables and files; preview and publish a data mart, outcomes of its checks
- `destinations`: the secret of a live destination, files that reports have delivered, reports pulled by BI tools
- `reports`: previews of reports, and how often they were delivered and pulled
- `notifications`: who is notified of failed runs, broken checks and succeeded runs
"""

from fastapi import APIRouter

from lakehold.workspaces.marts.api import data_marts, destinations, notifications, reports

ROUTERS: list[APIRouter] = [
    *(data_marts.storage_routes, data_marts.routes, destinations.routes, reports.routes, reports.insight_routes),
    *(notifications.routes, destinations.live_routes),
]
"""In the order of the OpenAPI document."""
