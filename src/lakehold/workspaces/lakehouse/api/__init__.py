"""REST endpoints that only lakehouses have.

- `connections`: probe a source before it is saved; tokens of integrations; files of volumes
- `tables`: saved queries, and results saved as tables; compact, roll back and describe tables; restore deleted ones
"""

from fastapi import APIRouter

from lakehold.workspaces.lakehouse.api import connections, tables

ROUTERS: list[APIRouter] = [
    *(tables.table_routes, tables.query_routes, connections.source_routes, connections.integration_routes),
    *(tables.routes, tables.dropped_routes, connections.volume_routes),
]
"""In the order of the OpenAPI document."""
