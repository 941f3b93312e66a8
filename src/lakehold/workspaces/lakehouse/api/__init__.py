"""REST endpoints that only lakehouses have.

- `connections`: probe a source before it is saved; tokens of integrations; files of volumes
- `saved_queries`: saved queries, and results saved as tables
- `table_maintenance`: compact, roll back and describe tables; restore deleted ones
"""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.workspaces.lakehouse.api import connections, saved_queries, table_maintenance

ROUTERS: list[APIRouter] = [
    *(saved_queries.table_routes, saved_queries.routes, connections.source_routes, connections.integration_routes),
    *(table_maintenance.routes, table_maintenance.dropped_routes, connections.volume_routes),
]
"""In the order of the OpenAPI document."""
