"""REST endpoints that only data spaces have.

- `apps`: the data of an app
"""

from fastapi import APIRouter

from lakehold.workspaces.spaces.api import apps

ROUTERS: list[APIRouter] = [apps.routes]
"""In the order of the OpenAPI document."""
