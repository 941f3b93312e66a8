"""REST endpoints that only data spaces have, beside those of every resource.

- `spaces`: the caller's personal space, and the monitor of all tasks
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import spaces

ROUTERS: list[APIRouter] = [spaces.routes]
"""In the order of the OpenAPI document."""
