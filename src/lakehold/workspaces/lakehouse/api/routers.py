"""Lists the routers of lakehouses, in the order of the OpenAPI document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.workspaces.lakehouse.api import connections, saved_queries, table_maintenance, volumes

ROUTERS: list[APIRouter] = [
    saved_queries.table_routes,
    saved_queries.routes,
    connections.source_routes,
    connections.integration_routes,
    table_maintenance.routes,
    table_maintenance.dropped_routes,
    volumes.routes,
]
