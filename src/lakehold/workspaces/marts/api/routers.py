"""Lists the routers of marts, in the order of the OpenAPI document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.workspaces.marts.api import data_marts, destinations, live_reports, notifications, reports, storages

ROUTERS: list[APIRouter] = [
    storages.routes,
    storages.file_routes,
    data_marts.routes,
    destinations.routes,
    reports.routes,
    reports.insight_routes,
    notifications.routes,
    live_reports.routes,
]
