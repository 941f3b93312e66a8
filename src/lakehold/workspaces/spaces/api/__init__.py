"""REST endpoints that only data spaces have.

- `change_captures`: the replication slots of a landing task
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import change_captures

ROUTERS: list[APIRouter] = [change_captures.routes]
"""In the order of the OpenAPI document."""
