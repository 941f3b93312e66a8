"""The routers of marts, in the order of the document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.marts import destinations, insights, live, marts, notifications, reports, storage_files, storages

ROUTERS: list[APIRouter] = [
    storages.routes,
    storage_files.routes,
    marts.routes,
    destinations.routes,
    reports.routes,
    insights.routes,
    notifications.routes,
    live.routes,
]
